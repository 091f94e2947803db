// SPDX-License-Identifier: Apache-2.0
// Forwards in a lab: both ends of rdforward with rdpipe between them, and their servers and clients.
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from './eventually.ts';
import { type Lab, useLab } from './lab.ts';
import { ROOT } from './root.ts';
import type { Result, Running } from './shell.ts';

const PEERS = `python3 '${join(ROOT, 'test/support/tcp-peers.py')}'`;
export const RDHOP = join(ROOT, 'build/release/rdhop');

export interface Forward {
  readonly pid: number;
  readonly result: Promise<Result>;
  /** Its standard error. */
  complaints(): Promise<string>;
  /** The ports allocated for -R 0:…, in order. */
  readonly ports: readonly string[];
  end(signal: NodeJS.Signals): Promise<Result>;
}

export interface Forwards {
  readonly lab: Lab;
  /** Starts a forward and resolves when all its ports listen, which the message of an additional -R 0:… shows. */
  forward(options: string, carrier?: string, through?: string): Promise<Forward>;
  /** Starts a server on a port (0: a free one) or a socket's path; returns the port or path. */
  server(place: string): Promise<string>;
  /** Starts another program, which ends with the test. */
  start(script: string): Promise<void>;
  /** Returns the command line of clients; `words` are, for example, `echo 500`. */
  clients(place: string, words: string): string;
}

export function useForwards(): Forwards {
  const running: Running[] = [];
  let lab: Lab;
  // Runs before the lab checks for processes that are left.
  afterEach(async () => {
    const ended = running.splice(0).map(({ kill, result }) => {
      kill('SIGKILL');
      return result;
    });
    await Promise.all(ended);
  });
  lab = useLab();
  let files = 0;
  /** Starts the script with its standard output (1) or error (2) in a new file, whose name is returned. */
  const start = (script: string, descriptor: 1 | 2): readonly [Running, string] => {
    files += 1;
    const name = `output-${files}`;
    const run = lab.start(`exec ${script} ${descriptor}>${name}`);
    running.push(run);
    return [run, name];
  };
  return {
    lab,
    async forward(options, carrier, through = '') {
      const all = `${options} -R 0:127.0.0.1:9`;
      const command = carrier === undefined ? `rdssh -N ${all} h1` : `${RDHOP} rdforward ${all} -- ${carrier}`;
      const [run, name] = start(`${through} ${command}`, 2);
      const read = async () => {
        const text = (await lab.read(name)).toString();
        const lines = [...text.matchAll(/Allocated port (\d+) for remote forward to (.*)\n/g)];
        expect(lines.at(-1)?.[2], text).to.equal('127.0.0.1:9');
        return lines.map(([, port = '']) => port).slice(0, -1);
      };
      const ports = await Promise.race([eventually(read), run.result.then(read)]);
      const end = (signal: NodeJS.Signals) => {
        run.kill(signal);
        return run.result;
      };
      return { pid: run.pid, result: run.result, ports, end, complaints: async () => `${await lab.read(name)}` };
    },
    async server(place) {
      const [, name] = start(`${PEERS} server ${place}`, 1);
      return eventually(async () => {
        const text = (await lab.read(name)).toString();
        expect(text).to.match(/\n$/);
        return text.trimEnd();
      });
    },
    async start(script) {
      running.push(lab.start(`exec ${script}`));
    },
    clients: (place, words) => `${PEERS} clients ${place} ${words}`,
  };
}
