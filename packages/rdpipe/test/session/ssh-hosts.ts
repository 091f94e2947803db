/** Real sshd's for the tests of sessions, and the settings to open sessions. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EVENT_MS } from '../../../../test/support/patience.ts';
import { type HostSpec, type SshHosts, startSshHosts } from '../../../../test/support/sshd.ts';
import type { HostRef } from '../../src/model/pipeline.ts';
import { locateSsh } from '../../src/session/openssh/program.ts';
import type { SessionSettings } from '../../src/session/settings.ts';

export const DIE_WITH_PARENT = fileURLToPath(new URL('../fixtures/die-with-parent', import.meta.url));

export interface TestHosts extends SshHosts {
  readonly directory: string;
}

/** `environment` is set in every session. */
export async function startTestHosts(
  specs: readonly HostSpec[],
  environment: Readonly<Record<string, string>> = {},
): Promise<TestHosts> {
  const directory = mkdtempSync(join(tmpdir(), 'rdpipe-unit-'));
  const hosts = await startSshHosts(directory, specs, environment);
  return {
    ...hosts,
    directory,
    async close() {
      await hosts.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export function settingsFor(hosts: SshHosts, changes: Partial<SessionSettings> = {}): SessionSettings {
  return {
    client: 'openssh',
    ssh: locateSsh(),
    configFile: hosts.configFile,
    persistS: 0,
    connects: 8,
    options: [],
    connectTimeoutMs: EVENT_MS,
    silenceMs: 60_000,
    dieWithParent: [DIE_WITH_PARENT],
    dieAfterParent: () => [],
    askpass: '/bin/false',
    emit: () => {},
    signal: new AbortController().signal,
    ...changes,
  };
}

export function hostRef(name: string, user?: string): HostRef {
  return { name, user, label: user === undefined ? name : `${user}@${name}` };
}
