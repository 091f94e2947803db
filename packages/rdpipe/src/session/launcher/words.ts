/** The command lines that start a shell on a host, by launcher. */
import { SessionError } from '../../model/errors.ts';
import {
  type ContainerProgram,
  checkLaunchedHost,
  choosesUser,
  fillTemplate,
  type Launcher,
  launcherName,
  podOf,
} from '../../model/launcher.ts';
import type { HostRef } from '../../model/pipeline.ts';

/** A launcher that starts one program per shell. */
export type ProgramLauncher = Extract<Launcher, { readonly kind: ContainerProgram | 'command' }>;

/**
 * Returns the command line that becomes `sh` on the host.
 * @throws SessionError for a user that the launcher cannot choose; UsageError for a name that is not one of its hosts.
 */
export function shellWords(launcher: ProgramLauncher, host: HostRef): readonly string[] {
  checkLaunchedHost(launcher, host);
  refuseUser(launcher, host);
  switch (launcher.kind) {
    case 'podman':
    case 'docker':
      return [launcher.kind, 'exec', '-i', ...(host.user === undefined ? [] : ['--user', host.user]), host.name, 'sh'];
    case 'kubectl':
      return ['kubectl', 'exec', '-i', ...podWords(host), '--', 'sh'];
    case 'lxc':
      return ['lxc', 'exec', '-T', host.name, '--', 'sh'];
    case 'command':
      return fillTemplate(launcher.words, host);
  }
}

/** @throws SessionError if the host names a user that the launcher cannot choose. */
export function refuseUser(launcher: Launcher, { user, name, label }: HostRef): void {
  if (user === undefined || choosesUser(launcher)) return;
  const reason = `${launcherName(launcher)} cannot choose the user (write ${name}, or --sudo ${name} for root)`;
  throw new SessionError('authentication', label, `cannot reach ${label}: ${reason}`);
}

function podWords(host: HostRef): readonly string[] {
  const { namespace, pod, container } = podOf(host);
  return [
    ...(namespace === undefined ? [] : ['--namespace', namespace]),
    pod,
    ...(container === undefined ? [] : ['--container', container]),
  ];
}
