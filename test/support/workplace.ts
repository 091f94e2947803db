// SPDX-License-Identifier: Apache-2.0
// A directory and a shell for each test, with the built `rdpipe` and `rdcp` in PATH.
// Checks after each test that no process is left.
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { eventually } from './eventually.ts';
import { MARK_VARIABLE, processesWith, signalProcess } from './processes.ts';
import { ROOT } from './root.ts';
import { type Result, type Running, startShell } from './shell.ts';

/** Node without arguments: the standby gets its command lines later. */
export function isStandby(command: string): boolean {
  return command.trimEnd().endsWith('/rdpipe.cjs');
}

export class Workplace {
  protected readonly mark = randomUUID();
  readonly #longestMs: number;
  #through: readonly string[] = [];
  #base = '';
  #tests = 0;

  /** Command lines are killed after `longestMs`. */
  constructor(longestMs: number) {
    this.#longestMs = longestMs;
  }

  /** `through`: prefix of command lines that runs them elsewhere, for example in a network namespace. */
  protected openDirectories(through: readonly string[] = []): void {
    this.#through = through;
    process.umask(0o022); // rdpipe rejects a configuration file that the group may write
    this.#base = mkdtempSync(join(tmpdir(), 'rdpipe-test-'));
    for (const name of ['homes', 'bin', 'tmp']) mkdirSync(join(this.#base, name));
  }

  /** `prefix`: the prefix of the installed copy to use; default: the checkout. */
  protected knowHosts(sshConfigFile: string, prefix = ROOT): void {
    for (const name of ['rdpipe', 'rdcp'])
      this.addProgram(name, `exec '${prefix}/bin/${name}' -F '${sshConfigFile}' "$@"`);
    // --persist=0: persistent connections would outlive the test.
    this.addProgram('rdssh', `exec '${prefix}/bin/rdssh' -F '${sshConfigFile}' \${RDSSH_OPTIONS---persist=0} "$@"`);
  }

  /** Installs a copy for this workplace; returns its prefix. */
  protected install(): string {
    const staged = ['install', `DESTDIR=${this.#base}/staged`, 'PREFIX=/opt/rd'];
    execaSync('make', ['-s', ...staged], { cwd: ROOT });
    const prefix = join(this.#base, 'installed');
    renameSync(join(this.#base, 'staged/opt/rd'), prefix);
    return prefix;
  }

  /** Adds a program to the first directory in the PATH of command lines. */
  protected addProgram(name: string, script: string): void {
    writeFileSync(join(this.#base, 'bin', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }

  protected removeDirectories(): void {
    if (this.#base !== '') rmSync(this.#base, { recursive: true, force: true });
  }

  beginTest(): void {
    this.#tests += 1;
    mkdirSync(this.directory);
  }

  /** The working directory of this test, initially empty. */
  get directory(): string {
    return join(this.#base, `test-${this.#tests}`);
  }

  /** Contains the homes of hosts on this machine; it is also this machine's $HOME. */
  get homes(): string {
    return join(this.#base, 'homes');
  }

  /** A word for env(1) that marks a process as belonging to this workplace. */
  get markSetting(): string {
    return `${MARK_VARIABLE}=${this.mark}`;
  }

  /** The environment of command lines. */
  get environment(): NodeJS.ProcessEnv {
    return {
      PATH: `${join(this.#base, 'bin')}:${join(ROOT, 'bin')}:${process.env.PATH}:/usr/sbin:/sbin`,
      HOME: this.homes,
      TMPDIR: join(this.#base, 'tmp'),
      LANG: 'C.UTF-8',
      [MARK_VARIABLE]: this.mark,
      // The node for the program under test, if different from this process's.
      ...(process.env.RDPIPE_NODE && { RDPIPE_NODE: process.env.RDPIPE_NODE }),
    };
  }

  /** Runs a bash script to its end with an empty standard input. */
  sh(script: string, env: NodeJS.ProcessEnv = {}): Promise<Result> {
    return this.start(script, { env }).result;
  }

  start(
    script: string,
    options: { readonly stdin?: 'empty' | 'open'; readonly env?: NodeJS.ProcessEnv } = {},
  ): Running {
    const place = { cwd: this.directory, env: { ...this.environment, ...options.env }, through: this.#through };
    return startShell(script, { ...place, stdin: options.stdin ?? 'empty', longestMs: this.#longestMs });
  }

  read(name: string): Promise<Buffer> {
    return readFile(join(this.directory, name));
  }

  write(name: string, bytes: Uint8Array): Promise<void> {
    return writeFile(join(this.directory, name), bytes);
  }

  list(directory = '.'): Promise<string[]> {
    return readdir(join(this.directory, directory));
  }

  /** The processes of this workplace without servers; with a name, only those with this name. */
  processes(name?: string): ReturnType<typeof processesWith> {
    return processesWith(this.mark, name);
  }

  /** Ends the persistent connections of rdssh, which would last for a minute, and its standby. */
  endKeptConnections(): void {
    for (const { pid, command } of this.processes('node')) if (isStandby(command)) signalProcess(pid, 'SIGTERM');
    for (const { pid, command } of this.processes('ssh')) if (command.includes(' -M ')) signalProcess(pid, 'SIGTERM');
  }

  /** Fails if processes of the test do not end within the promised time; kills them. */
  async expectNothingLeft(): Promise<void> {
    try {
      await eventually(() => expect(this.processes()).to.deep.equal([]));
    } finally {
      for (const { pid } of this.processes()) signalProcess(pid, 'SIGKILL');
    }
  }
}
