// SPDX-License-Identifier: Apache-2.0
// Runs command lines with bash, as users type them.
import { expect } from 'chai';
import { eventually } from './eventually.ts';
import { COMMAND_MS } from './patience.ts';
import { type Ended, startProgram } from './start-program.ts';

export interface Result extends Ended {
  /** stdout as UTF-8. */
  readonly text: string;
}

export interface ShellOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Prefix of the `bash` command, such as `ip netns exec NAME`; it must exec its command. */
  readonly through?: readonly string[];
  /** `empty`: /dev/null; `open`: a pipe that stays open until closeInput(). */
  readonly stdin?: 'empty' | 'open';
  /** Time in milliseconds after which the shell and its process group are killed; default COMMAND_MS. */
  readonly longestMs?: number;
}

export interface Running {
  /** Pid of bash, or of the program that the script starts with `exec`. */
  readonly pid: number;
  readonly result: Promise<Result>;
  write(text: string): void;
  closeInput(): void;
  /** Waits until standard output begins with this text; fails if the script ends before. */
  printed(text: string): Promise<void>;
  kill(signal: NodeJS.Signals): void;
}

export function startShell(script: string, options: ShellOptions): Running {
  const started = startProgram([...(options.through ?? []), 'bash', '-c', script], {
    cwd: options.cwd,
    env: options.env,
    extendEnv: false,
    detached: true,
    stdin: options.stdin === 'open' ? 'pipe' : 'ignore',
  });
  const { child, pid } = started;
  const timer = setTimeout(() => process.kill(-pid, 'SIGKILL'), options.longestMs ?? COMMAND_MS);
  const result = started.ended.then((ended) => {
    clearTimeout(timer);
    return { ...ended, text: ended.stdout.toString() };
  });
  const expectPrinted = (text: string) => {
    expect(started.stdout().toString().slice(0, text.length), started.stderr()).to.equal(text);
  };
  return {
    pid,
    result,
    write: (text) => void child.stdin?.write(text),
    closeInput: () => void child.stdin?.end(),
    printed: (text) => Promise.race([eventually(() => expectPrinted(text)), result.then(() => expectPrinted(text))]),
    kill: (signal) => void child.kill(signal),
  };
}

/** Expects status 0, this output, and an empty standard error. */
export function succeeded(result: Result, text: string): void {
  const { status, signal, stderr } = result;
  expect({ status, signal, text: result.text, stderr }).to.deep.equal({ status: 0, signal: null, text, stderr: '' });
}

/** Expects this status, and one line of rdpipe on standard error that matches `why`. */
export function failed(result: Result, status: number, why: RegExp): void {
  expect(result.stderr).to.match(why);
  expect(result.stderr.trimEnd().split('\n'), result.stderr).to.have.length(1);
  expect(result.stderr).to.match(/^rdpipe: /);
  expect({ status: result.status, signal: result.signal }).to.deep.equal({ status, signal: null });
}
