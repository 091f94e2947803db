// SPDX-License-Identifier: Apache-2.0
// Finds the processes of a test by a mark in their environment.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export const MARK_VARIABLE = 'RDPIPE_TEST_MARK';

export interface MarkedProcess {
  readonly pid: number;
  readonly parent: number;
  /** The program's file name, without its directory: `rdsend`. */
  readonly program: string;
  /** The command line, words separated by spaces. */
  readonly command: string;
  /** R, S, D, T … as in proc(5). */
  readonly state: string;
  /** $HOME, which differs between the hosts of a test. */
  readonly home: string;
}

/**
 * All living processes with the mark whose environment this user may read. With `name`, only those with this name in
 * the kernel's process table, which is much faster.
 */
export function processesWith(mark: string, name?: string): MarkedProcess[] {
  const wanted = `${MARK_VARIABLE}=${mark}`;
  return pids()
    .filter((pid) => name === undefined || readProc(pid, 'comm').trimEnd() === name)
    .filter((pid) => readProc(pid, 'environ').split('\0').includes(wanted))
    .map(describeProcess);
}

/** Returns true if a process of any user with this pid is running. */
export function isRunning(pid: number): boolean {
  // A process that has ended is a zombie until its parent has waited for it.
  return /^\d+ \(.*\) [^ZX] /s.test(readProc(pid, 'stat'));
}

/** Pids of the living children of a process, marked or not, such as the sessions of a server. */
export function childrenOf(parent: number): number[] {
  return pids().filter((pid) => {
    const [state, its] = statusFields(pid);
    return state !== 'Z' && Number(its) === parent;
  });
}

/** Sends the signal; ignores that the process has ended. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Command lines and environments of all processes that this user may read, to look for exposed secrets. */
export function visibleTexts(): string[] {
  return pids().flatMap((pid) => [readProc(pid, 'cmdline'), readProc(pid, 'environ')]);
}

function pids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** Returns '' if the process has ended or this user may not read the file. */
function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}

function describeProcess(pid: number): MarkedProcess {
  const [state = '', parent] = statusFields(pid);
  return {
    pid,
    parent: Number(parent),
    program: programOf(pid),
    command: readProc(pid, 'cmdline').replaceAll('\0', ' ').trim(),
    home: /(?:^|\0)HOME=([^\0]*)/.exec(readProc(pid, 'environ'))?.[1] ?? '',
    state,
  };
}

/** The fields of /proc/PID/stat from the state on: state, parent, … */
function statusFields(pid: number): string[] {
  return readProc(pid, 'stat')
    .replace(/^.*\) /s, '')
    .split(' ');
}

function programOf(pid: number): string {
  try {
    const file = readlinkSync(`/proc/${pid}/exe`)
      .replace(/ \(deleted\)$/, '')
      .replace(/^.*\//, '');
    return file === 'rdhop' ? readProc(pid, 'comm').trimEnd() : file;
  } catch {
    return '';
  }
}
