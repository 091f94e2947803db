// SPDX-License-Identifier: Apache-2.0
// Network namespaces: networks that the tests make for themselves, apart from the machine's own.
import { lines, output, succeeds } from './shell-out.ts';

/** Words before a command line that run it inside. */
export function inside(namespace: string): readonly string[] {
  return ['ip', 'netns', 'exec', namespace];
}

export function makeNamespace(name: string): void {
  output('ip', ['netns', 'add', name]);
  configure(name, ['link set lo up']);
}

/** Ends whatever runs inside, and removes it; nothing to do if there is none of that name, or somebody else removes it too. */
export function removeNamespace(name: string): void {
  if (!namespaces().includes(name)) return;
  endProcessesInside(name);
  if (!succeeds('ip', ['netns', 'delete', name]) && namespaces().includes(name))
    throw new Error(`the network namespace ${name} cannot be removed`);
}

export function endProcessesInside(namespace: string): void {
  for (const pid of processesInside(namespace)) succeeds('kill', ['-KILL', String(pid)]);
}

/** Those that ip(8) knows, by name. */
export function namespaces(): string[] {
  return lines('ip', ['netns', 'list']).map((line) => line.replace(/ .*/, ''));
}

export function processesInside(namespace: string): number[] {
  return lines('ip', ['netns', 'pids', namespace]).map(Number);
}

/** Words of ip(8), a command each. */
export function configure(namespace: string, commands: readonly string[]): void {
  output('ip', ['-n', namespace, '-batch', '-'], `${commands.join('\n')}\n`);
}
