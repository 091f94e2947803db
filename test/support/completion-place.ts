// SPDX-License-Identifier: Apache-2.0
// For tests of completion: a home with host names, and hosts with files, one of them connected.
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execaSync } from 'execa';
import { EVENT_MS } from './patience.ts';
import { ROOT } from './root.ts';
import { type SshHost, type SshHosts, startSshHosts } from './sshd.ts';

export class CompletionPlace {
  readonly directory = mkdtempSync(join(tmpdir(), 'rdpipe-test-completion-'));
  readonly home = join(this.directory, 'home');
  /** Contains the ssh configuration `c`, for -F. */
  readonly work = join(this.directory, 'work');
  readonly env: NodeJS.ProcessEnv;
  #hosts: SshHosts | undefined;

  constructor() {
    for (const path of [join(this.home, '.ssh'), join(this.directory, 'tmp'), this.work])
      mkdirSync(path, { recursive: true });
    this.env = {
      PATH: `${join(ROOT, 'bin')}:${process.env.PATH}:/usr/sbin:/sbin`,
      HOME: this.home,
      TMPDIR: join(this.directory, 'tmp'),
      LANG: 'C.UTF-8',
      RDPIPE_TAB_SECONDS: `${EVENT_MS / 1000}`,
    };
  }

  /** Connects to h1. A connection to h2 would run a program that creates the file `connected`. */
  async startHosts(): Promise<void> {
    const client = [`ControlPath ${this.socket('%n')}`];
    const counted = [...client, `ProxyCommand sh -c 'touch ${this.directory}/connected; exec nc %h %p'`];
    this.#hosts = await startSshHosts(this.directory, [
      { name: 'h1', client, server: ['LogLevel VERBOSE'] },
      { name: 'h2', client: counted },
    ]);
    copyFileSync(this.#hosts.configFile, join(this.work, 'c'));
    this.connect();
  }

  connect(): void {
    execaSync('ssh', ['-F', join(this.work, 'c'), '-MNf', 'h1'], { stdio: 'ignore' });
  }

  disconnect(): void {
    execaSync('ssh', ['-F', join(this.work, 'c'), '-O', 'exit', 'h1'], { stdio: 'ignore', reject: false });
  }

  host(name: string): SshHost {
    const host = this.#hosts?.hosts.get(name);
    if (host === undefined) throw new Error(`no host ${name}`);
    return host;
  }

  socket(name: string): string {
    return join(this.directory, `master-${name}`);
  }

  /** Creates files; a name that ends in / is a directory. */
  write(directory: string, ...names: readonly string[]): void {
    for (const name of names) {
      if (name.endsWith('/')) mkdirSync(join(directory, name), { recursive: true });
      else writeFileSync(join(directory, name), '');
    }
  }

  async close(): Promise<void> {
    if (this.#hosts !== undefined) this.disconnect();
    await this.#hosts?.close();
    rmSync(this.directory, { recursive: true });
  }
}
