/** Settings and events of a copy's programs: docs/protocol/trees.md, section 5. Paths are hexadecimal. */
import * as v from 'valibot';
import type { Fields } from './option-fields.ts';
import { printable, shorten } from './text.ts';

/**
 * The programs of a copy, in the order of C's enum. `sources`: a program at the target gets only names, and checks the
 * entries against them. `rights`: the rights that the program uses in a directory; a server grants them to its client.
 */
export const TREE_ROLES = {
  /** Reads directories and metadata of the source. */
  scan: { sources: 'paths', target: false, rights: 'read' },
  /** Keeps what the target lacks, and adds what is to be removed there. */
  compare: { sources: 'names', target: true, rights: 'write' },
  /** Adds the contents of files. */
  read: { sources: 'paths', target: false, rights: 'read' },
  /** Writes to the target. */
  write: { sources: 'names', target: true, rights: 'write' },
  /** Reads and writes in one program, where source and target are on one host. */
  copy: { sources: 'paths', target: true, rights: 'both' },
  /** Removes files of the source that are permanent at the target. */
  clean: { sources: 'paths', target: false, rights: 'both' },
  /** Of rdsend: scans and reads in one program, without a comparison. */
  send: { sources: 'paths', target: false, rights: 'read' },
  /** Makes one stream of the decisions of several targets. */
  unite: { sources: 'none', target: false, rights: 'none' },
} as const;

export type TreeRole = Exclude<keyof typeof TREE_ROLES, 'send'>;

/** The settings that rdtree gets through its agent, which does not read them. Absent: false, none or 0. */
export interface TreeSettings extends Partial<Fields<'tree'>> {
  readonly role: TreeRole;
  /** Names temporary files: hexadecimal digits and '-', at most 63. */
  readonly run: string;
  readonly sources?: readonly string[];
  readonly target?: string;
  /** Of programs with a target: directories of `--link-dest`, in order; relative ones begin in the target. */
  readonly link_dests?: readonly string[];
  /** Only the paths of a list, below the only source; the value is how each path ends. */
  readonly list?: 'none' | 'lines' | 'nul';
  /** The list, in hexadecimal; scan: what of it comes before standard input. */
  readonly list_text?: string;
  /** Patterns in gitignore syntax; the last match decides. */
  readonly patterns?: readonly { readonly include: boolean; readonly pattern: string }[];
  /** Report an event for every path. */
  readonly paths?: boolean;
  /** Compare: print a plan on standard output instead of records. */
  readonly plan?: 'none' | 'text' | 'json';
  /** The number of target hosts, if several; write: the rank of its host, which `run` also contains. */
  readonly width?: number;
  readonly rank?: number;
  /** Of compare and write: 128 random bits that only these know, for the digests of their decisions. */
  readonly key?: string;
  /** Compare: the host of the target, for a plan in JSON. */
  readonly host?: string;
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
  /** The first bytes of a file that the next copy does not need again. */
  v.object({ event: v.literal('kept'), path: Path, bytes: Count }),
  v.object({ event: v.literal('warning'), message: Message }),
  v.object({
    event: v.literal('slowest'),
    of: v.picklist(['files', 'directories']),
    paths: v.array(v.object({ path: Path, bytes: Count, ms: Count })),
  }),
  /**
   * Of compare and write: what is to be done, the paths that the source's host says it could not give, and the special
   * files that were skipped.
   */
  v.object({
    event: v.literal('decisions'),
    digest: v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/)),
    dropped: Count,
    skipped: Count,
  }),
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
