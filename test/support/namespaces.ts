// SPDX-License-Identifier: Apache-2.0
// Creates network namespaces for tests, separate from the machine's network.
import { execaSync } from 'execa';
import { isRunning, signalProcess } from './processes.ts';

/** The name contains the pid of the process that removes the namespace at its end. */
const OWNED = /^rdpipe-[a-z]+-pid-(\d+)(?:-|$)/;

/** Prefix of a command line that runs it in the namespace. */
export function inside(namespace: string): readonly string[] {
  return ['ip', 'netns', 'exec', namespace];
}

/** The prefix of this process's namespaces of a kind: other processes can see whether their owner still lives. */
export function ownNamespaces(kind: string): string {
  return `rdpipe-${kind}-pid-${process.pid}`;
}

/** Also removes namespaces left by killed processes, including a former process with this pid. */
export function makeNamespace(name: string): void {
  for (const other of namespaces().filter((other) => isStale(other, name))) removeNamespace(other);
  execaSync('ip', ['netns', 'add', name]);
  configure(name, ['link set lo up']);
}

/**
 * Kills all processes in the namespace and removes it. Does nothing if it does not exist; ignores failures if another
 * process has removed it meanwhile.
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

/** Names of the namespaces that ip(8) knows. */
export function namespaces(): string[] {
  return execaSync('ip', ['netns', 'list'], { lines: true }).stdout.map((line) => line.replace(/ .*/, ''));
}

export function processesInside(namespace: string): number[] {
  return execaSync('ip', ['netns', 'pids', namespace], { lines: true }).stdout.map(Number);
}

/** Runs commands of ip(8) in the namespace. */
export function configure(namespace: string, commands: readonly string[]): void {
  execaSync('ip', ['-n', namespace, '-batch', '-'], { input: `${commands.join('\n')}\n` });
}

function isStale(name: string, wanted: string): boolean {
  const owner = OWNED.exec(name)?.[1];
  if (owner === undefined) return false;
  return Number(owner) === process.pid ? name === wanted : !isRunning(Number(owner));
}
