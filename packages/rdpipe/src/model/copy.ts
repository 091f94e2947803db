/** The sources and the target of a copy as the user wrote them. */
import type { HostRef } from './pipeline.ts';

/** Paths on one host: binary strings, as written, because a trailing `/` has a meaning. */
export interface HostPaths {
  readonly kind: 'paths';
  readonly host: HostRef;
  /** The hosts after the first, if a target is on several. */
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
  /** A host name or an address, as written; IPv6 without brackets. */
  readonly server: string;
  /** The client's name on the server; undefined: the server's client without a name, `default`. */
  readonly client: string | undefined;
  readonly port: number;
  /** Binary strings relative to the served directory, without a leading `/`. */
  readonly paths: readonly [string, ...string[]];
}

/** All sources, which are on one host or server; or the target, which has one path. */
export type CopySide = HostPaths | StandardStream | ServedPaths;

export interface CopyPaths {
  readonly source: CopySide;
  readonly target: CopySide;
}

/** All hosts of a side, in order. */
export function hostsOf({ host, others = [] }: HostPaths): readonly [HostRef, ...HostRef[]] {
  return [host, ...others];
}

/** The default port of a serving receiver. */
export const SERVED_PORT = 10470;
