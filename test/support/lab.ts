// SPDX-License-Identifier: Apache-2.0
// A fixture for integration tests: ssh hosts h1, h2, h3 and `behind` (through h1) on this machine.
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { putAgent } from './deployed-agent.ts';
import { needsTool } from './needs.ts';
import { COMMAND_MS, EVENT_MS, patience } from './patience.ts';
import { MARK_VARIABLE } from './processes.ts';
import { type HostSpec, type SshHost, type SshHosts, startSshHosts } from './sshd.ts';
import { Workplace } from './workplace.ts';

export interface LabOptions {
  /** Besides h1, h2, h3 and `behind`. */
  readonly hosts?: readonly HostSpec[];
  /** Time limit of one command line, for tests that take long on any machine. */
  readonly longestMs?: number;
  /** The copy of rdpipe to run; default: the checkout. */
  readonly copy?: 'checkout' | 'installed';
  /** rdpipe has never run on the hosts. By default they have its agent. */
  readonly isFirst?: boolean;
}

const HOSTS: readonly HostSpec[] = [{ name: 'h1' }, { name: 'h2' }, { name: 'h3' }, { name: 'behind', jump: 'h1' }];

/** Starts the hosts before the tests of the enclosing describe(), and ends them after. */
export function useLab(options: LabOptions = {}): Lab {
  const lab = new Lab(
    options.longestMs === undefined ? COMMAND_MS : patience(options.longestMs),
    options.copy ?? 'checkout',
  );
  before(async function () {
    needsTool(this, 'sshd', 'ssh', 'ssh-keygen');
    await lab.open([...HOSTS, ...(options.hosts ?? [])]);
    if (!options.isFirst) await lab.putAgents();
  });
  beforeEach(() => lab.beginTest());
  afterEach(() => lab.expectNothingLeft());
  after(() => lab.close());
  return lab;
}

export class Lab extends Workplace {
  readonly #copy: LabOptions['copy'];
  #ssh: SshHosts | undefined;

  /** Command lines are killed after `longestMs`. */
  constructor(longestMs: number, copy: LabOptions['copy'] = 'checkout') {
    super(longestMs);
    this.#copy = copy;
  }

  /** `through`: prefix of command lines that runs them elsewhere, for example in a network namespace. */
  async open(specs: readonly HostSpec[], through: readonly string[] = []): Promise<void> {
    this.openDirectories(through);
    this.#ssh = await startSshHosts(this.homes, specs, { [MARK_VARIABLE]: this.mark });
    this.knowHosts(this.#ssh.configFile, this.#copy === 'installed' ? this.install() : undefined);
    await this.#setPatience();
  }

  async putAgents(): Promise<void> {
    for (const { home } of this.#ssh?.hosts.values() ?? []) await putAgent(home);
  }

  /** Raises the default --connect-timeout, which is too short for slow test machines. */
  async #setPatience(): Promise<void> {
    const directory = join(this.homes, '.config/rdpipe');
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, 'config.toml'), `[defaults]\nconnect-timeout = ${EVENT_MS / 1000}\n`);
  }

  host(name: string): SshHost {
    const host = this.#ssh?.hosts.get(name);
    if (host === undefined) throw new Error(`no host ${name} in this lab`);
    return host;
  }

  /** Allows logins with this key on every host. */
  async authorize(publicKeyFile: string): Promise<void> {
    await appendFile(join(this.homes, 'authorized_keys'), await readFile(publicKeyFile));
  }

  async close(): Promise<void> {
    await this.#ssh?.close();
    this.removeDirectories();
  }
}
