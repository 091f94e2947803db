// SPDX-License-Identifier: Apache-2.0
// Network namespaces that tests make, separate from the machine's network.
import { execaSync } from 'execa';
import { isRunning, signalProcess } from './processes.ts';

/** In its name is the process that removes it at its end. */
const OWNED = /^rdpipe-[a-z]+-pid-(\d+)(?:-|$)/;

/** Words before a command line that run it inside. */
export function inside(namespace: string): readonly string[] {
  return ['ip', 'netns', 'exec', namespace];
}

/** How the names of this process's namespaces of a kind begin: others can tell whether their owner still lives. */
export function ownNamespaces(kind: string): string {
  return `rdpipe-${kind}-pid-${process.pid}`;
}

/** Also removes what processes that were killed have left, a process that had this one's number among them. */
export function makeNamespace(name: string): void {
  for (const other of namespaces().filter((other) => isStale(other, name))) removeNamespace(other);
  execaSync('ip', ['netns', 'add', name]);
  configure(name, ['link set lo up']);
}

/**
 * Ends all that runs inside, and removes it; there is nothing to do if there is none of that name, or if another
 * process removes it too.
 */
export function removeNamespace(name: string): void {
  if (!namespaces().includes(name)) return;
  try {
    endProcessesInside(name);
    execaSync('ip', ['netns', 'delete', name]);
  } catch (error) {
    if (namespaces().includes(name)) throw error;
  }
}

export function endProcessesInside(namespace: string): void {
  for (const pid of processesInside(namespace)) signalProcess(pid, 'SIGKILL');
}

/** Those that ip(8) knows, by name. */
export function namespaces(): string[] {
  return execaSync('ip', ['netns', 'list'], { lines: true }).stdout.map((line) => line.replace(/ .*/, ''));
}

export function processesInside(namespace: string): number[] {
  return execaSync('ip', ['netns', 'pids', namespace], { lines: true }).stdout.map(Number);
}

/** Words of ip(8), a command each. */
export function configure(namespace: string, commands: readonly string[]): void {
  execaSync('ip', ['-n', namespace, '-batch', '-'], { input: `${commands.join('\n')}\n` });
}

function isStale(name: string, wanted: string): boolean {
  const owner = OWNED.exec(name)?.[1];
  if (owner === undefined) return false;
  return Number(owner) === process.pid ? name === wanted : !isRunning(Number(owner));
}
