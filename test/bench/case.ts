// SPDX-License-Identifier: Apache-2.0
// A case of the benchmark, as data: command lines, and how their output is read.
import type { Figure, Figures } from './figures.ts';

/** A virtual host of the lab; `here` is this machine, in the lab's network where there is one. */
export type Host = 'h1' | 'h2' | 'h3';
export const HOSTS: readonly Host[] = ['h1', 'h2', 'h3'];

/** A command line of bash. */
export interface Part {
  readonly on: Host | 'here';
  readonly command: string;
  /** The next part starts once this one listens there; otherwise at once. */
  readonly listens?: Listening;
}

export interface Listening {
  readonly transport: 'rdma' | 'tcp';
  /** `PORT` is the free port that each run on loopback gets in its environment. */
  readonly port: number | 'PORT';
  /** On loopback: words that run a command where it listens, if not here. */
  readonly through?: string;
}

export interface Case {
  readonly name: string;
  readonly parts: readonly Part[];
  /** Throws when a part did other than asked. `beganS`: on loopback, the last part's start by the monotonic clock. */
  readonly read: (said: Said, beganS?: number) => Figures;
  /** How many bytes a run moves; unnamed where that means nothing. */
  readonly bytes?: number;
  /** Not measured: a command line that comes before each run, and one that comes after it. */
  readonly before?: string;
  readonly after?: string;
  /** In the lab: when the hosts' processors are watched: between moments that its commands note, or the whole run. */
  readonly watched?: 'as noted' | 'all along';
  readonly goals?: readonly Goal[];
}

/** For a case that tells nothing beside what is measured of it. */
export function nothing(): Figures {
  return {};
}

/** The output of each part, of both descriptors, in their order. */
export type Said = readonly string[];

/** For a figure itself, or for its ratio to that of the case `base` in the same round. */
export interface Goal {
  readonly figure: Figure;
  readonly base?: Case;
  readonly bound: 'at least' | 'at most';
  readonly value: number;
  /** Where the goal is out of reach. */
  readonly limit?: Limit;
}

/** The best that was measured without what the goal's case must do; docs/notes has the measurement. */
export interface Limit {
  readonly value: number;
  /** The program or the resource that set it. */
  readonly by: string;
}

export const MIB = 1024 * 1024;
export const GIB = 1024 * MIB;
