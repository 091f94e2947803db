/** The places of a copy as the user wrote them. */
import type { HostRef } from './pipeline.ts';

/** Paths of one host, binary strings, as they were written: a `/` at the end has a meaning. */
export interface HostPaths {
  readonly kind: 'paths';
  readonly host: HostRef;
  /** Of a target on several hosts: those behind the first. */
  readonly others?: readonly HostRef[];
  readonly paths: readonly [string, ...string[]];
}

/** `-`: standard input as source, standard output as target. */
export interface StandardStream {
  readonly kind: 'stream';
}

/** `rd://host[:port]/path`: paths of a serving receiver. */
export interface ServedPaths {
  readonly kind: 'served';
  /** A host name or an address, as it was written; IPv6 without its brackets. */
  readonly server: string;
  /** The name that the server gave the client's key; undefined: its only one. */
  readonly client: string | undefined;
  readonly port: number;
  /** Below the directory that is served, without a `/` at the beginning; binary strings. */
  readonly paths: readonly [string, ...string[]];
}

/** All sources, which are in one place; or the target, which has one path. */
export type CopySide = HostPaths | StandardStream | ServedPaths;

export interface CopyPaths {
  readonly source: CopySide;
  readonly target: CopySide;
}

/** All hosts of a side, in order. */
export function hostsOf({ host, others = [] }: HostPaths): readonly [HostRef, ...HostRef[]] {
  return [host, ...others];
}

/** Where a serving receiver listens unless it was given another port. */
export const SERVED_PORT = 10470;
