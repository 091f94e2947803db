/** Settings and events of a copy's programs: docs/protocol/trees.md, section 5. Paths are hexadecimal. */
import * as v from 'valibot';
import { printable, shorten } from './text.ts';

export type TreeRole = 'scan' | 'compare' | 'unite' | 'read' | 'write' | 'copy' | 'clean';

/** The settings that rdtree gets through its agent, which does not read them. Absent: false, none or 0. */
export interface TreeSettings {
  readonly role: TreeRole;
  /** Names temporary files: hexadecimal digits and '-', at most 63. */
  readonly run: string;
  /** Used by all but unite; compare and write get them from their last slash on, for the names that scan sends. */
  readonly sources?: readonly string[];
  /** Used by compare, write and copy. */
  readonly target?: string;
  /** Scan: take only the paths on standard input, below the only source; the value is how each path ends. */
  readonly list?: 'none' | 'lines' | 'nul';
  /** Patterns in gitignore syntax; the last match decides. */
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
  /** Report an event for every path. */
  readonly paths?: boolean;
  /** Compare: print a plan on standard output instead of records. */
  readonly plan?: 'none' | 'text' | 'json';
  /** The number of target hosts, if several; write: the rank of its host, which `run` also contains. */
  readonly width?: number;
  readonly rank?: number;
  /** Compare: the host of the target, for a plan in JSON. */
  readonly host?: string;
  /** Threads; 0: 8 to read, otherwise one per processor, at most 8. */
  readonly jobs?: number;
}

const PATH_MAX_CHARACTERS = 16384;

const Count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
/** A path for people: bytes decoded as UTF-8 and made safe. */
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

/** A line on the standard error of a tree stage. */
export const TreeEventSchema = v.variant('event', [
  /** `done`: the program has finished its work. */
  v.object({ event: v.literal('progress'), ...Totals, path: v.nullable(Path), done: v.boolean() }),
  /** `code`: the errno of a system call, `EACCES`; empty: none. */
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
  /** Of compare and write: what is to be done, and the files that the source could not give. */
  v.object({ event: v.literal('decisions'), digest: v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/)), dropped: Count }),
  v.object({ event: v.literal('fatal'), code: Message, message: Message }),
]);

export type TreeEvent = v.InferOutput<typeof TreeEventSchema>;
/** The sums of a program so far. */
export type TreeTotals = Extract<TreeEvent, { event: 'progress' }>;

const TOTALS = Object.keys(Totals) as readonly (keyof typeof Totals)[];

/** Sums over the same program on several hosts; undefined: none has reported. `path` is that of the last with one. */
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
