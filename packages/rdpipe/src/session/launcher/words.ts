/** The command lines that start a shell on a host, by launcher. */
import { SessionError } from '../../model/errors.ts';
import { type ContainerProgram, fillTemplate, type Launcher, launcherName } from '../../model/launcher.ts';
import type { HostRef } from '../../model/pipeline.ts';

/** A launcher that starts one program per shell. */
export type ProgramLauncher = Extract<Launcher, { readonly kind: ContainerProgram | 'command' }>;

/**
 * Returns the command line that becomes `sh` on the host.
 * @throws SessionError for a user or a name that the launcher does not support.
 */
export function shellWords(launcher: ProgramLauncher, host: HostRef): readonly string[] {
  switch (launcher.kind) {
    case 'podman':
    case 'docker':
      return [launcher.kind, 'exec', '-i', ...(host.user === undefined ? [] : ['--user', host.user]), host.name, 'sh'];
    case 'kubectl':
      refuseUser(launcher, host);
      return ['kubectl', 'exec', '-i', ...podWords(host), '--', 'sh'];
    case 'lxc':
      refuseUser(launcher, host);
      return ['lxc', 'exec', '-T', host.name, '--', 'sh'];
    case 'command':
      refuseUser(launcher, host);
      return fillTemplate(launcher.words, host.name);
  }
}

/** @throws SessionError if the host names a user: the launcher chooses the user. */
export function refuseUser(launcher: Launcher, { user, name, label }: HostRef): void {
  if (user === undefined) return;
  const reason = `${launcherName(launcher)} cannot choose the user (write ${name}, or --sudo ${name} for root)`;
  throw new SessionError('authentication', label, `cannot reach ${label}: ${reason}`);
}

/** `POD`, `NAMESPACE/POD` or `NAMESPACE/POD/CONTAINER`. */
function podWords({ name, label }: HostRef): readonly string[] {
  const parts = name.split('/');
  if (parts.length > 3 || parts.includes('')) {
    const reason = 'it is not one of: POD, NAMESPACE/POD, NAMESPACE/POD/CONTAINER';
    throw new SessionError('unknown_host', label, `cannot reach ${label}: ${reason}`);
  }
  const [first = '', second, container] = parts;
  if (second === undefined) return [first];
  return ['--namespace', first, second, ...(container === undefined ? [] : ['--container', container])];
}
