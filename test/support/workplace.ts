// SPDX-License-Identifier: Apache-2.0
// A directory and a shell for each test in which `rdpipe` and `rdcp` are the built ones; checks for processes left.
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

  /** Words before a command line make it run elsewhere than this process. */
  protected openDirectories(through: readonly string[] = []): void {
    this.#through = through;
    process.umask(0o022); // a configuration file that a group may write is refused
    this.#base = mkdtempSync(join(tmpdir(), 'rdpipe-test-'));
    for (const name of ['homes', 'bin', 'tmp']) mkdirSync(join(this.#base, name));
  }

  /** `prefix`: where the installed copy is that command lines run, if not the checkout. */
  protected knowHosts(sshConfigFile: string, prefix = ROOT): void {
    for (const name of ['rdpipe', 'rdcp'])
      this.addProgram(name, `exec '${prefix}/bin/${name}' -F '${sshConfigFile}' "$@"`);
    // Connections that it kept would be left behind by a test.
    this.addProgram('rdssh', `exec '${prefix}/bin/rdssh' -F '${sshConfigFile}' \${RDSSH_OPTIONS---persist=0} "$@"`);
  }

  /** An installed copy of its own: its prefix. */
  protected install(): string {
    const staged = ['install', `DESTDIR=${this.#base}/staged`, 'PREFIX=/opt/rd'];
    execaSync('make', ['-s', ...staged], { cwd: ROOT });
    const prefix = join(this.#base, 'installed');
    renameSync(join(this.#base, 'staged/opt/rd'), prefix);
    return prefix;
  }

  /** First in the PATH of command lines. */
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

  /** The working directory of this test, empty at its beginning. */
  get directory(): string {
    return join(this.#base, `test-${this.#tests}`);
  }

  /** Holds the homes of hosts that are on this machine, and this machine's. */
  get homes(): string {
    return join(this.#base, 'homes');
  }

  /** For env(1): what marks a process as one of this workplace. */
  get markSetting(): string {
    return `${MARK_VARIABLE}=${this.mark}`;
  }

  /** Of its command lines. */
  get environment(): NodeJS.ProcessEnv {
    return {
      PATH: `${join(this.#base, 'bin')}:${join(ROOT, 'bin')}:${process.env.PATH}:/usr/sbin:/sbin`,
      HOME: this.homes,
      TMPDIR: join(this.#base, 'tmp'),
      LANG: 'C.UTF-8',
      [MARK_VARIABLE]: this.mark,
      // The node that the program under test runs on, if not this one.
      ...(process.env.RDPIPE_NODE && { RDPIPE_NODE: process.env.RDPIPE_NODE }),
    };
  }

  /** Runs a script of bash to its end, standard input empty. */
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

  /** The processes of this workplace, servers apart; with a name, only these. */
  processes(name?: string): ReturnType<typeof processesWith> {
    return processesWith(this.mark, name);
  }

  /** rdssh keeps its connections for a minute. */
  endKeptConnections(): void {
    for (const { pid, command } of this.processes('ssh')) if (command.includes(' -M ')) signalProcess(pid, 'SIGTERM');
  }

  /** Fails when a process of the test outlives it by more than promised; it is ended then. */
  async expectNothingLeft(): Promise<void> {
    try {
      await eventually(() => expect(this.processes()).to.deep.equal([]));
    } finally {
      for (const { pid } of this.processes()) signalProcess(pid, 'SIGKILL');
    }
  }
}
