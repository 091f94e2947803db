// SPDX-License-Identifier: Apache-2.0
// What an integration test stands on: real ssh hosts h1, h2, h3 and `behind` (through h1), a shell in which `rdpipe` is the
// built one and knows them, a fresh working folder a test, and the proof after each test that nothing of it still runs.
import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from './eventually.ts';
import { needsTool } from './needs.ts';
import { MARK_VARIABLE, processesWith, signalProcess } from './processes.ts';
import { type Result, type Running, startShell } from './shell.ts';
import { type HostSpec, type SshHost, type SshHosts, startSshHosts } from './sshd.ts';

export const ROOT = join(import.meta.dirname, '../..');

export interface LabOptions {
  /** Beside h1, h2, h3 and behind. */
  readonly hosts?: readonly HostSpec[];
  /** For one command line, default a minute. */
  readonly longestMs?: number;
}

const HOSTS: readonly HostSpec[] = [{ name: 'h1' }, { name: 'h2' }, { name: 'h3' }, { name: 'behind', jump: 'h1' }];
const NOTHING_LEFT_MS = 10_000;

/** Starts the hosts before the tests of the describe() it stands in, and ends them after. */
export function useLab(options: LabOptions = {}): Lab {
  const lab = new Lab(options.longestMs ?? 60_000);
  before(async function () {
    needsTool(this, 'sshd', 'ssh', 'ssh-keygen');
    await lab.open([...HOSTS, ...(options.hosts ?? [])]);
  });
  beforeEach(() => lab.beginTest());
  afterEach(() => lab.expectNothingLeft());
  after(() => lab.close());
  return lab;
}

export class Lab {
  readonly #mark = randomUUID();
  readonly #longestMs: number;
  #base = '';
  #tests = 0;
  #ssh: SshHosts | undefined;

  constructor(longestMs: number) {
    this.#longestMs = longestMs;
  }

  async open(specs: readonly HostSpec[]): Promise<void> {
    this.#base = mkdtempSync(join(tmpdir(), 'rdpipe-test-'));
    mkdirSync(this.homes);
    mkdirSync(join(this.#base, 'bin'));
    mkdirSync(join(this.#base, 'tmp'));
    this.#ssh = await startSshHosts(this.homes, specs, { [MARK_VARIABLE]: this.#mark });
    const wrapper = join(this.#base, 'bin/rdpipe');
    writeFileSync(wrapper, `#!/bin/sh\nexec '${ROOT}/bin/rdpipe' -F '${this.#ssh.configFile}' "$@"\n`);
    chmodSync(wrapper, 0o755);
  }

  beginTest(): void {
    this.#tests += 1;
    mkdirSync(this.folder);
  }

  /** The working folder of this test, empty at its beginning. */
  get folder(): string {
    return join(this.#base, `test-${this.#tests}`);
  }

  /** Holds the hosts' homes, and this machine's. */
  get homes(): string {
    return join(this.#base, 'homes');
  }

  /** For env(1): what marks a process as one of this lab. */
  get markSetting(): string {
    return `${MARK_VARIABLE}=${this.#mark}`;
  }

  host(name: string): SshHost {
    const host = this.#ssh?.hosts.get(name);
    if (host === undefined) throw new Error(`no host ${name} in this lab`);
    return host;
  }

  /** Runs a script of bash to its end, standard input empty. */
  sh(script: string, env: NodeJS.ProcessEnv = {}): Promise<Result> {
    return this.start(script, { env }).result;
  }

  start(
    script: string,
    options: { readonly stdin?: 'empty' | 'open'; readonly env?: NodeJS.ProcessEnv } = {},
  ): Running {
    const path = `${join(this.#base, 'bin')}:${join(ROOT, 'bin')}:${process.env.PATH}:/usr/sbin:/sbin`;
    const env = {
      PATH: path,
      HOME: this.homes,
      TMPDIR: join(this.#base, 'tmp'),
      LANG: 'C.UTF-8',
      [MARK_VARIABLE]: this.#mark,
      ...options.env,
    };
    return startShell(script, { cwd: this.folder, env, stdin: options.stdin ?? 'empty', longestMs: this.#longestMs });
  }

  read(name: string): Promise<Buffer> {
    return readFile(join(this.folder, name));
  }

  write(name: string, bytes: Uint8Array): Promise<void> {
    return writeFile(join(this.folder, name), bytes);
  }

  list(): Promise<string[]> {
    return readdir(this.folder);
  }

  /** What runs of this lab, the servers themselves apart. */
  processes(): ReturnType<typeof processesWith> {
    return processesWith(this.#mark);
  }

  /** Fails when a process of the test outlives it by more than promised; it is ended then. */
  async expectNothingLeft(): Promise<void> {
    try {
      await eventually(() => expect(this.processes()).to.deep.equal([]), NOTHING_LEFT_MS);
    } finally {
      for (const { pid } of this.processes()) signalProcess(pid, 'SIGKILL');
    }
  }

  async close(): Promise<void> {
    await this.#ssh?.close();
    if (existsSync(this.#base)) rmSync(this.#base, { recursive: true });
  }
}
