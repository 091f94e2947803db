/** Launchers: ssh, and the programs that start a shell on a host instead of ssh. */

import { UsageError } from './errors.ts';
import type { HostRef } from './host-ref.ts';

export type Launcher =
  | { readonly kind: 'ssh' }
  | { readonly kind: 'slurm' }
  | { readonly kind: ContainerProgram }
  /** A template: the words of a command that starts a shell on the host. `%h`: host, `%u`: user, `%%`: percent sign. */
  | { readonly kind: 'command'; readonly words: readonly string[] };

export type ContainerProgram = 'podman' | 'docker' | 'kubectl' | 'lxc';

export const COMMAND = 'command:';

/** For people: the program's name; for a template its first word. */
export function launcherName(launcher: Launcher): string {
  return launcher.kind === 'command' ? (launcher.words[0] ?? '') : launcher.kind;
}

/** Returns true if a host of the launcher may have a `/` in its name: a pod, or whatever a template makes of it. */
export function hasSlashes({ kind }: Launcher): boolean {
  return kind === 'kubectl' || kind === 'command';
}

/** @throws UsageError if the launcher has no such host, or needs its user. */
export function checkLaunchedHost(launcher: Launcher, host: HostRef): void {
  if (launcher.kind === 'kubectl') podOf(host);
  if (launcher.kind === 'command' && host.user === undefined && choosesUser(launcher))
    throw new UsageError(`host ${host.label}: the launcher's %u needs a user (write USER@${host.label})`);
}

export interface Pod {
  readonly namespace?: string;
  readonly pod: string;
  readonly container?: string;
}

/**
 * Reads `POD`, `NAMESPACE/POD` or `NAMESPACE/POD/CONTAINER`.
 * @throws UsageError for any other name, and for a part that kubectl would take as an option.
 */
export function podOf({ name, label }: HostRef): Pod {
  const parts = name.split('/');
  const option = parts.find((part) => part.startsWith('-'));
  if (option !== undefined) throw new UsageError(`host ${label}: '${option}' begins with '-'`);
  const [first = '', second, container] = parts;
  if (parts.length > 3 || parts.includes(''))
    throw new UsageError(`host ${label} is not one of: POD, NAMESPACE/POD, NAMESPACE/POD/CONTAINER`);
  if (second === undefined) return { pod: first };
  return { namespace: first, pod: second, ...(container === undefined ? {} : { container }) };
}

/** Returns true if the host's user is part of the launcher's command. */
export function choosesUser(launcher: Launcher): boolean {
  if (launcher.kind === 'command') return launcher.words.some((word) => word.replaceAll('%%', '').includes('%u'));
  return launcher.kind === 'podman' || launcher.kind === 'docker';
}

/** The words of a template, filled in for the host; `%u` is empty without a user. */
export function fillTemplate(words: readonly string[], { name, user = '' }: Pick<HostRef, 'name' | 'user'>): string[] {
  const values: Readonly<Record<string, string>> = { '%h': name, '%u': user, '%%': '%' };
  return words.map((word) => word.replace(/%[%hu]/g, (mark) => values[mark] ?? ''));
}
