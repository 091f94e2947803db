// SPDX-License-Identifier: Apache-2.0
// A case of the benchmark as data: its command lines, and functions that read their output.
import type { Figure, Figures } from './figures.ts';
import type { SlowPath } from './loopback/slow-link.ts';

/** A virtual host of the lab. */
export type Host = 'h1' | 'h2' | 'h3';
export const HOSTS: readonly Host[] = ['h1', 'h2', 'h3'];

/** A command line of bash; `here` is this machine, in the lab's network if the case runs in the lab. */
export interface Part {
  readonly on: Host | 'here';
  readonly command: string;
  /** The next part starts when this one listens there; default: immediately. */
  readonly listens?: Listening;
}

export interface Listening {
  readonly transport: 'rdma' | 'tcp';
  /** `PORT`: the free port that each run on loopback gets in its environment. */
  readonly port: number | 'PORT';
  /** On loopback: prefix of a command that runs it in the listener's network, if that is another one. */
  readonly through?: string;
}

export interface Case {
  readonly name: string;
  readonly parts: readonly Part[];
  /** Throws if a part failed to do its work. `beganS`: on loopback, the last part's start (monotonic clock). */
  readonly read: (said: Said, beganS?: number) => Figures;
  /** Bytes that a run moves; undefined if that has no meaning. */
  readonly bytes?: number;
  /** Command lines before and after each run, which are not measured. */
  readonly before?: string;
  readonly after?: string;
  /** In the lab, the hosts' CPU usage is measured between two notes of the command lines, or during the whole run. */
  readonly watched?: 'as noted' | 'all along';
  readonly goals?: readonly Goal[];
  /** On loopback, the congestion control of its connections; default: this machine's. */
  readonly congestion?: string;
  /** On the slow link: its loss; default: none. */
  readonly path?: SlowPath;
  /** The rate of each host's link in each direction, in Mbit/s; default: not limited. */
  readonly linkMbit?: number;
}

/** For a case whose output contains no figures. */
export function nothing(): Figures {
  return {};
}

/** The output and standard error of each part, in the order of the parts. */
export type Said = readonly string[];

/** A goal for a figure, or for its ratio to the figure of `base` in the same round. */
export interface Goal {
  readonly figure: Figure;
  readonly base?: Case;
  readonly bound: 'at least' | 'at most';
  readonly value: number;
  /** Set if the goal cannot be reached. */
  readonly limit?: Limit;
}

/** The best value measured without the work of the goal's case; the measurement is in docs/notes. */
export interface Limit {
  readonly value: number;
  /** The program or resource that sets the limit. */
  readonly by: string;
}

export const MIB = 1024 * 1024;
export const GIB = 1024 * MIB;
