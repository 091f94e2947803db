// SPDX-License-Identifier: Apache-2.0
// rdsend and rdrecv as they were built (RD_BIN: another build's folder), each process known to its test.
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { eventually } from './eventually.ts';

export const BIN = process.env.RD_BIN ?? join(import.meta.dirname, '../../build/release');
export const KEY = 'ab'.repeat(32);

export interface Ended {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface Program {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly ended: Promise<Ended>;
  /** What it has said on standard error so far. */
  stderr(): string;
  /** The port that `rdrecv 0` chose. */
  port(): Promise<number>;
}

/** A scratch folder and the processes of a suite's tests: what still runs after a test is killed. */
export class Bench {
  readonly folder = mkdtempSync(join(tmpdir(), 'rdpipe-native-'));
  readonly #running = new Set<ChildProcess>();

  path(name: string): string {
    return join(this.folder, name);
  }

  rdsend(words: readonly string[], stdio: StdioOptions = ['ignore', 'ignore', 'pipe']): Program {
    return this.start(join(BIN, 'rdsend'), words, stdio);
  }

  rdrecv(words: readonly string[], stdio: StdioOptions = ['ignore', 'pipe', 'pipe']): Program {
    return this.start(join(BIN, 'rdrecv'), words, stdio);
  }

  /** The words of a script are its $1, $2 …; the programs are in its PATH. */
  bash(script: string, ...words: readonly string[]): Program {
    return this.start('bash', ['-c', script, 'bash', ...words], ['ignore', 'pipe', 'pipe']);
  }

  /** From a file to a file. Words before rdrecv's command line make it run otherwise. */
  async transfer(
    source: string,
    sink: string,
    mode: readonly string[] = [],
    through: readonly string[] = [],
  ): Promise<{ readonly sent: Ended; readonly received: Ended }> {
    const [program = '', ...words] = [...through, join(BIN, 'rdrecv'), '0', KEY, sink];
    const receiver = this.start(program, words, ['ignore', 'pipe', 'pipe']);
    const port = await Promise.race([receiver.port(), receiver.ended.then(() => 1)]);
    const sender = this.rdsend([...mode, '127.0.0.1', `${port}`, KEY, source]);
    const [sent, received] = await Promise.all([sender.ended, receiver.ended]);
    return { sent, received };
  }

  start(file: string, words: readonly string[], stdio: StdioOptions): Program {
    const child = spawn(file, words, {
      cwd: this.folder,
      stdio,
      env: { ...process.env, PATH: `${BIN}:${process.env.PATH}` },
    });
    this.#running.add(child);
    child.once('close', () => this.#running.delete(child));
    return describe(child);
  }

  /** After each test. */
  async killRest(): Promise<void> {
    const rest = [...this.#running];
    for (const child of rest) child.kill('SIGKILL');
    await Promise.all(rest.map((child) => once(child, 'close')));
  }

  /** After all of them. */
  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export function useBench(): Bench {
  const bench = new Bench();
  afterEach(() => bench.killRest());
  after(() => bench.remove());
  return bench;
}

export async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

function describe(child: ChildProcess): Program {
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk));
  child.stdin?.on('error', ignoreClosedReader);
  const said = () => Buffer.concat(stderr).toString();
  return {
    child,
    pid: child.pid ?? 0,
    ended: once(child, 'close').then(([status, signal]) => ({
      status,
      signal,
      stdout: Buffer.concat(stdout),
      stderr: said(),
    })),
    stderr: said,
    port: () => eventually(() => portIn(said())),
  };
}

function portIn(text: string): number {
  const port = /listening on port (\d+)/.exec(text)?.[1];
  if (port === undefined) throw new Error(`no port in: ${text}`);
  return Number(port);
}

/** Who writes to a program that has gone sees it by its status. */
function ignoreClosedReader(): void {}
