/** Settings and events of the programs of a copy: docs/protocol.md, section 5. Paths are hexadecimal. */
import * as v from 'valibot';
import { printable, shorten } from './text.ts';

export type TreeRole = 'scan' | 'compare' | 'unite' | 'read' | 'write' | 'copy' | 'clean';

/** The settings that rdtree gets from its agent, which does not read them. Absent: false, none, 0. */
export interface TreeSettings {
  readonly role: TreeRole;
  /** Names temporary files: hexadecimal digits and '-', at most 63. */
  readonly run: string;
  /** Of scan, read, copy, clean. */
  readonly sources?: readonly string[];
  /** Of compare, write, copy. */
  readonly target?: string;
  /** Of scan: only the paths on its standard input, below the only source; how each ends. */
  readonly list?: 'none' | 'lines' | 'nul';
  /** In gitignore's syntax; the last one that matches decides. */
  readonly patterns?: readonly { readonly include: boolean; readonly pattern: string }[];
  readonly recursive?: boolean;
  readonly archive?: boolean;
  readonly acls?: boolean;
  readonly xattrs?: boolean;
  readonly one_file_system?: boolean;
  readonly checksum?: boolean;
  readonly remove?: boolean;
  readonly remove_most?: number;
  readonly make_parents?: boolean;
  readonly partial?: boolean;
  readonly in_place?: boolean;
  readonly verify?: boolean;
  readonly clean?: boolean;
  /** An event for every path. */
  readonly paths?: boolean;
  /** Of compare: a plan on its standard output in place of records. */
  readonly plan?: 'none' | 'text' | 'json';
  /** The hosts of the target, where they are several; of write: its place among them, which its `run` has too. */
  readonly width?: number;
  readonly rank?: number;
  /** Of compare: the host of the target, in a plan of JSON. */
  readonly host?: string;
  /** Threads; 0: 8 to read, else as many as there are processors, at most 8. */
  readonly jobs?: number;
}

const PATH_MAX_CHARACTERS = 16384;

const Count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
/** A path for people: its bytes as UTF-8, made harmless. */
const Path = v.pipe(
  v.string(),
  v.regex(/^(?:[0-9a-f]{2})*$/),
  v.transform((hex) => printable(shorten(Buffer.from(hex, 'hex').toString('utf8'), PATH_MAX_CHARACTERS))),
);
const Message = v.pipe(
  v.string(),
  v.transform((text) => printable(shorten(text, PATH_MAX_CHARACTERS))),
);

const Totals = {
  entries: Count,
  files: Count,
  bytes: Count,
  same: Count,
  same_files: Count,
  same_bytes: Count,
  sent_bytes: Count,
  removed: Count,
  failed: Count,
  links: Count,
  directories: Count,
  resumed_bytes: Count,
  owners_refused: Count,
};

/** A line of the standard error of a tree stage. */
export const TreeEventSchema = v.variant('event', [
  /** `done`: the program has done all that it will do. */
  v.object({ event: v.literal('progress'), ...Totals, path: v.nullable(Path), done: v.boolean() }),
  /** `code`: of a system call, `EACCES`; empty: none. */
  v.object({ event: v.literal('failed'), path: Path, code: Message, message: Message }),
  v.object({
    event: v.literal('path'),
    action: v.picklist(['new', 'changed', 'metadata', 'link', 'removed']),
    path: Path,
    bytes: Count,
  }),
  v.object({ event: v.literal('warning'), message: Message }),
  v.object({
    event: v.literal('slowest'),
    of: v.picklist(['files', 'directories']),
    paths: v.array(v.object({ path: Path, bytes: Count, ms: Count })),
  }),
  v.object({ event: v.literal('fatal'), code: Message, message: Message }),
]);

export type TreeEvent = v.InferOutput<typeof TreeEventSchema>;
/** The sums of a program so far. */
export type TreeTotals = Extract<TreeEvent, { event: 'progress' }>;

const TOTALS = Object.keys(Totals) as readonly (keyof typeof Totals)[];

/** Of the same program on several hosts; undefined: none has reported. The path at hand is that of the last one. */
export function sumOfTotals(all: readonly TreeTotals[]): TreeTotals | undefined {
  return all.reduce<TreeTotals | undefined>((sum, one) => (sum === undefined ? one : added(sum, one)), undefined);
}

function added(sum: TreeTotals, one: TreeTotals): TreeTotals {
  const counts = Object.fromEntries(TOTALS.map((name) => [name, sum[name] + one[name]])) as Record<
    (typeof TOTALS)[number],
    number
  >;
  return { event: 'progress', ...counts, path: one.path ?? sum.path, done: sum.done && one.done };
}
