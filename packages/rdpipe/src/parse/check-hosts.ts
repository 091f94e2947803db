/** Checks the hosts of a command line against the settings. */
import { UsageError } from '../model/errors.ts';
import { checkLaunchedHost } from '../model/launcher.ts';
import type { HostRef } from '../model/pipeline.ts';
import { forHost, type Settings } from '../model/settings.ts';
import { hostKey } from './host-ref.ts';

/**
 * @throws UsageError if a flag names a host that is not in `hosts`, or if a host's launcher cannot have such a host.
 * `missing` begins the message about a flag: `no stage has the host`.
 */
export function checkHosts(
  { namedHosts, launcher }: Pick<Settings, 'namedHosts' | 'launcher'>,
  hosts: readonly HostRef[],
  missing: string,
): void {
  const known = new Set(hosts.flatMap((host) => [host.name, hostKey(host)]));
  const unknown = namedHosts.find(({ host }) => !known.has(host));
  if (unknown !== undefined) throw new UsageError(`${unknown.flag}: ${missing} '${unknown.host}'`);
  for (const host of hosts) {
    if (host.name !== '' && host.served === undefined) checkLaunchedHost(forHost(launcher, host), host);
  }
}
