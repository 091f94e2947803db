// SPDX-License-Identifier: Apache-2.0
// Starts the built rdsend and rdrecv (of $RD_BIN if set), and kills remaining ones after each test.
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Options } from 'execa';
import { eventually } from './eventually.ts';
import { ROOT } from './root.ts';
import { type Ended, type Started, startProgram } from './start-program.ts';

export type { Ended };

export const BIN = process.env.RD_BIN ?? join(ROOT, 'build/release');
export const KEY = 'ab'.repeat(32);

/** Option for ends that a test starts: the other end may be slow to start. */
export const PATIENT = '--connect-timeout 60';

export type Stdio = NonNullable<Options['stdio']>;

export interface Program extends Started {
  /** The port that `rdrecv 0` chose. */
  port(): Promise<number>;
}

/** A scratch directory and the processes of a suite's tests; kills remaining processes after each test. */
export class Bench {
  readonly directory = mkdtempSync(join(tmpdir(), 'rdpipe-native-'));
  readonly #running = new Set<Started>();
  readonly #options: readonly string[];
  #programs = BIN;

  /** `options`: first arguments of every rdsend and rdrecv. */
  constructor(options = '') {
    this.#options = options.split(' ').filter(Boolean);
  }

  path(name: string): string {
    return join(this.directory, name);
  }

  program(name: string): string {
    return join(this.#programs, name);
  }

  /** Lets other users enter the directory and run copies of the programs, as the checkout may be closed to them. */
  letOthersIn(): void {
    chmodSync(this.directory, 0o755);
    if (this.#programs !== BIN) return;
    this.#programs = this.path('programs');
    for (const name of ['rdhop', 'rdsend', 'rdrecv'])
      cpSync(join(BIN, name), this.program(name), { verbatimSymlinks: true });
  }

  rdsend(words: readonly string[], stdio: Stdio = ['ignore', 'ignore', 'pipe']): Program {
    return this.start(this.program('rdsend'), [...this.#options, ...words], stdio);
  }

  rdrecv(words: readonly string[], stdio: Stdio = ['ignore', 'pipe', 'pipe']): Program {
    return this.start(this.program('rdrecv'), [...this.#options, ...words], stdio);
  }

  /** Runs a script with `words` as $1, $2 … and the programs in its PATH. */
  bash(script: string, ...words: readonly string[]): Program {
    return this.start('bash', ['-c', script, 'bash', ...words], ['ignore', 'pipe', 'pipe']);
  }

  /** Copies a file. `mode`: options of rdsend; `through`: prefix of rdrecv's command line. */
  async transfer(
    source: string,
    sink: string,
    mode: readonly string[] = [],
    through: readonly string[] = [],
  ): Promise<{ readonly sent: Ended; readonly received: Ended }> {
    const [program = '', ...words] = [...through, this.program('rdrecv'), ...this.#options, '0', KEY, sink];
    const receiver = this.start(program, words, ['ignore', 'pipe', 'pipe']);
    const port = await Promise.race([receiver.port(), receiver.ended.then(() => 1)]);
    const sender = this.rdsend([...mode, '127.0.0.1', `${port}`, KEY, source]);
    const [sent, received] = await Promise.all([sender.ended, receiver.ended]);
    return { sent, received };
  }

  start(file: string, words: readonly string[], stdio: Stdio): Program {
    const env = { PATH: `${BIN}:${process.env.PATH}` };
    const started = startProgram([file, ...words], { cwd: this.directory, stdio, env });
    this.#running.add(started);
    void started.ended.then(() => this.#running.delete(started));
    return { ...started, port: () => eventually(() => portIn(started.stderr())) };
  }

  /** Kills remaining processes after each test. */
  async killRest(): Promise<void> {
    const rest = [...this.#running];
    for (const { child } of rest) child.kill('SIGKILL');
    await Promise.all(rest.map(({ ended }) => ended));
  }

  /** Removes the directory after all tests. */
  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

export function useBench(options = ''): Bench {
  const bench = new Bench(options);
  afterEach(() => bench.killRest());
  after(() => bench.remove());
  return bench;
}

export async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

function portIn(text: string): number {
  const port = /listening on port (\d+)/.exec(text)?.[1];
  if (port === undefined) throw new Error(`no port in: ${text}`);
  return Number(port);
}
