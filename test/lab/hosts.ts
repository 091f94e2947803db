// SPDX-License-Identifier: Apache-2.0
// Starts and stops virtual hosts h1, h2 … with soft-RoCE and sshd, in a separate network.
// They use this machine's / read-only, to run its programs, with their own /tmp and homes.
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { namespaces, removeNamespace } from '../support/namespaces.ts';
import { isRunning } from '../support/processes.ts';
import { makeInitramfs } from './initramfs.ts';
import { type DebianRelease, theKernel } from './kernel.ts';
import { type BootFiles, type MachineOptions, machineIsReady, startMachine } from './machine.ts';
import { makeNetwork } from './network.ts';
import { type Place, placeOf, RUNNING } from './place.ts';
import { makeSshFiles } from './ssh-files.ts';

export type LabOptions = MachineOptions;

export interface RunningLab {
  readonly place: Place;
  /** Pids of h1, h2 …; the pid of a host changes when it is restarted. */
  readonly machines: number[];
  /** The boot files, to restart a host. */
  readonly files: BootFiles;
  readonly options: LabOptions;
}

export const DEFAULT_OPTIONS: LabOptions = { hosts: 3, cpus: 1, nodes: 1, memoryMib: 1024, mtu: 9000, lasting: false };

/** Resolves when all hosts accept ssh connections, after about 7 s. The first run downloads a kernel. */
export async function startLab(
  name: string,
  options: LabOptions,
  say: (line: string) => void,
  debian: DebianRelease = 'own',
): Promise<RunningLab> {
  const place = placeOf(name);
  removeOrphans(name);
  if (namespaces().includes(place.namespace)) throw new Error(`the lab "${name}" is up already`);
  const kernel = theKernel(debian, say);
  rmSync(place.directory, { recursive: true, force: true });
  mkdirSync(place.directory, { recursive: true, mode: 0o700 });
  try {
    makeSshFiles(place.directory, options.hosts);
    const files = { vmlinux: kernel.vmlinux, initramfs: makeInitramfs(kernel, place.directory) };
    makeNetwork(place.namespace, options.hosts, options.mtu);
    const numbers = Array.from({ length: options.hosts }, (_, index) => index + 1);
    const machines = numbers.map((number) => startMachine(place, number, options, files));
    await Promise.all(machines.map((pid, index) => machineIsReady(place, index + 1, pid)));
    return { place, machines, files, options };
  } catch (error) {
    stopLab(name);
    throw error;
  }
}

/** Stops a lab and removes its files; does nothing if there is none. */
export function stopLab(name: string): void {
  const place = placeOf(name);
  removeNamespace(place.namespace);
  rmSync(place.directory, { recursive: true, force: true });
}

/** The names of running labs. */
export function labsThatAreUp(): string[] {
  const known = namespaces();
  if (!existsSync(RUNNING)) return [];
  return readdirSync(RUNNING).filter((name) => known.includes(placeOf(name).namespace));
}

/** The name of this process's lab; it shows other processes whether its owner still runs. */
export function nameOfOwnLab(debian: DebianRelease = 'own'): string {
  return `pid-${process.pid}${debian === 'own' ? '' : `-${debian}`}`;
}

/**
 * Removes what is left of labs whose processes were killed, including a former process with this pid, whose lab has
 * the wanted name.
 */
function removeOrphans(wanted: string): void {
  if (wanted.startsWith(nameOfOwnLab())) stopLab(wanted);
  if (!existsSync(RUNNING)) return;
  for (const name of readdirSync(RUNNING)) {
    const owner = /^pid-(\d+)(?:-|$)/.exec(name)?.[1];
    if (owner !== undefined && !isRunning(Number(owner))) stopLab(name);
  }
}
