// SPDX-License-Identifier: Apache-2.0
// Finds the processes of a test by a mark in their environment, whatever their names.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export const MARK_VARIABLE = 'RDPIPE_TEST_MARK';

export interface MarkedProcess {
  readonly pid: number;
  readonly parent: number;
  /** The program's file name, without its directory: `rdsend`. */
  readonly program: string;
  /** The whole command line, separated by blanks. */
  readonly command: string;
  /** R, S, D, T … of proc(5). */
  readonly state: string;
  /** $HOME: tells the hosts of a test apart. */
  readonly home: string;
}

/**
 * Every living process that carries the mark, of those whose environment this user may read; with a name, those that
 * the kernel calls so, which is found out much faster.
 */
export function processesWith(mark: string, name?: string): MarkedProcess[] {
  const wanted = `${MARK_VARIABLE}=${mark}`;
  return pids()
    .filter((pid) => name === undefined || readProc(pid, 'comm').trimEnd() === name)
    .filter((pid) => readProc(pid, 'environ').split('\0').includes(wanted))
    .map(describeProcess);
}

/** Whether there is such a process, of any user. */
export function isRunning(pid: number): boolean {
  // A process that ended is a zombie until its parent has taken its status.
  return /^\d+ \(.*\) [^ZX] /s.test(readProc(pid, 'stat'));
}

/** Living children of a process, marked or not: the sessions of a server. */
export function childrenOf(parent: number): number[] {
  return pids().filter((pid) => {
    const [state, its] = statusFields(pid);
    return state !== 'Z' && Number(its) === parent;
  });
}

/** It may have ended meanwhile. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Command line and environment of every process that may be read: where a secret would be seen. */
export function visibleTexts(): string[] {
  return pids().flatMap((pid) => [readProc(pid, 'cmdline'), readProc(pid, 'environ')]);
}

function pids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** Empty for a process that has gone meanwhile, is a zombie, or is not ours to read. */
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

/** State, parent, … of proc(5). */
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
