// SPDX-License-Identifier: Apache-2.0
// Forwards in a lab: both ends of rdforward with rdpipe between them, and the servers and clients that they join.
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
  /** The ports of -R 0:… in order. */
  readonly ports: readonly string[];
  end(signal: NodeJS.Signals): Promise<Result>;
}

export interface Forwards {
  readonly lab: Lab;
  /** Starts one with these options; resolves when all listen: a further -R, for a free port, tells that. */
  forward(options: string, carrier?: string, through?: string): Promise<Forward>;
  /** A server on a free port, or on a path: returns which. */
  server(place: string): Promise<string>;
  /** Starts another program, which ends with the test. */
  start(script: string): Promise<void>;
  /** A command line of clients: `echo 500`. */
  clients(place: string, words: string): string;
}

export function useForwards(): Forwards {
  const running: Running[] = [];
  let lab: Lab;
  // Before the lab looks for what was left.
  afterEach(async () => {
    const ended = running.splice(0).map(({ kill, result }) => {
      kill('SIGKILL');
      return result;
    });
    await Promise.all(ended);
  });
  lab = useLab();
  let files = 0;
  /** Starts it with its standard error, or output, in a file of its own. */
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
