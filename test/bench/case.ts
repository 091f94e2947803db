// SPDX-License-Identifier: Apache-2.0
// What is measured, as data: command lines on hosts, and how their output is read.
import type { Figure, Figures } from './figures.ts';

export type Host = 'h1' | 'h2' | 'h3';
export const HOSTS: readonly Host[] = ['h1', 'h2', 'h3'];

/** A command line of bash on a host; `here` is this machine, inside the lab's network. */
export interface Part {
  readonly on: Host | 'here';
  readonly command: string;
  /** The next part starts once this one listens there; otherwise at once. */
  readonly listens?: Listening;
}

export interface Listening {
  readonly transport: 'rdma' | 'tcp';
  readonly port: number;
}

export interface Case {
  readonly name: string;
  readonly parts: readonly Part[];
  /** From what the last part printed on both outputs. Throws when it did other than asked. */
  readonly read: (said: string) => Figures;
  /** Between which moments the hosts' processors are watched: its commands note them, or it is the whole run. */
  readonly watched: 'as noted' | 'all along';
  readonly goal?: Goal;
}

/** For the ratio of a figure to that of another case. */
export interface Goal {
  readonly figure: Figure;
  readonly base: string;
  readonly bound: 'at least' | 'at most';
  readonly ratio: number;
}

export interface Setup {
  /** How much a run moves, and how often a small message goes there and back in one. */
  readonly mib: number;
  readonly trips: number;
  /** For rdpipe -F. */
  readonly sshConfig: string;
}

export const MIB = 1024 * 1024;
/** On every host; the first two on h1. */
export const SOURCE = '/dev/shm/source';
export const SSH_KEY = '/dev/shm/ssh-key';
export const TARGET = '/dev/shm/target';
export const HOP_KEY = '/dev/shm/hop-key';
