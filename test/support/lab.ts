// SPDX-License-Identifier: Apache-2.0
// What an integration test stands on: a workplace that knows real ssh hosts h1, h2, h3 and `behind` (through h1), which are
// servers on this machine.
import { needsTool } from './needs.ts';
import { MARK_VARIABLE } from './processes.ts';
import { type HostSpec, type SshHost, type SshHosts, startSshHosts } from './sshd.ts';
import { Workplace } from './workplace.ts';

export interface LabOptions {
  /** Beside h1, h2, h3 and behind. */
  readonly hosts?: readonly HostSpec[];
  /** For one command line, default a minute. */
  readonly longestMs?: number;
}

const HOSTS: readonly HostSpec[] = [{ name: 'h1' }, { name: 'h2' }, { name: 'h3' }, { name: 'behind', jump: 'h1' }];

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

export class Lab extends Workplace {
  #ssh: SshHosts | undefined;

  /** Words before a command line make it run elsewhere than this process. */
  async open(specs: readonly HostSpec[], through: readonly string[] = []): Promise<void> {
    this.openFolders(through);
    this.#ssh = await startSshHosts(this.homes, specs, { [MARK_VARIABLE]: this.mark });
    this.knowHosts(this.#ssh.configFile);
  }

  host(name: string): SshHost {
    const host = this.#ssh?.hosts.get(name);
    if (host === undefined) throw new Error(`no host ${name} in this lab`);
    return host;
  }

  async close(): Promise<void> {
    await this.#ssh?.close();
    this.removeFolders();
  }
}
