/** Derives the settings of a copy's programs from those of the command. */

import { COPY_OPTIONS } from '../model/copy-options.ts';
import { UsageError } from '../model/errors.ts';
import { type FieldSettings, fieldsOf } from '../model/option-fields.ts';
import { flagName, type PatternRule } from '../model/option-row.ts';
import { OPTION_ROWS, OPTIONS } from '../model/options.ts';
import type { Options, Settings } from '../model/settings.ts';
import { printableBytes } from '../model/text.ts';
import type { TreeRole, TreeSettings } from '../model/tree.ts';

/** A pattern for the programs, a binary string; files of patterns have been read. */
export interface CopyPattern {
  readonly include: boolean;
  readonly pattern: string;
}

export interface CopyWants
  extends FieldSettings<'tree'>,
    Pick<Settings, 'verbosity' | 'dryRun' | 'json' | 'linkDests' | 'filesFrom' | 'fromNul'> {
  /** Names temporary files: hexadecimal digits. */
  readonly run: string;
  readonly patterns: readonly CopyPattern[];
  /** With `filesFrom`. */
  readonly list?: CopyList | undefined;
  /** 128 random bits in hexadecimal, for the digests of compare and write. */
  readonly key: string;
}

/** The paths of --files-from, in the form of the file. */
export interface CopyList {
  /** If it is not whole: of standard input, what was read of it; of a file, nothing. */
  readonly text: Buffer;
  readonly isWhole: boolean;
}

/** About 20,000 paths. A host gets the list up to three times, in hexadecimal, and its request has a limit. */
export const LIST_MAX_BYTES = 1 << 20;

/** The settings of one program, except the paths. */
export function treeSettings(role: TreeRole, wants: CopyWants): TreeSettings {
  return {
    role,
    run: wants.run,
    ...fieldsOf('tree', wants),
    // The list decides what is copied from its directory.
    recursive: wants.recursive || wants.archive || wants.filesFrom !== undefined,
    paths: !wants.dryRun && (wants.verbosity > 0 || wants.json),
    patterns: wants.patterns.map(({ include, pattern }) => ({ include, pattern: hexOf(pattern) })),
    ...listSettings(role, wants),
    ...(role === 'compare' && wants.dryRun ? { plan: wants.json ? 'json' : 'text' } : {}),
  };
}

/** If the list is whole, every program checks the paths of the others against it. */
function listSettings(
  role: TreeRole,
  { filesFrom, fromNul, list }: CopyWants,
): Partial<Pick<TreeSettings, 'list' | 'list_text'>> {
  const isKnown = list?.isWhole === true && role !== 'unite';
  if (filesFrom === undefined || (role !== 'scan' && !isKnown)) return {};
  return { list: fromNul ? 'nul' : 'lines', ...(list === undefined ? {} : { list_text: list.text.toString('hex') }) };
}

function hexOf(pattern: string): string {
  return Buffer.from(pattern, 'latin1').toString('hex');
}

/** @throws UsageError for options that contradict each other. */
export function checkTogether(options: Options, sources: number): void {
  const isDeep = options.recursive === true || options.archive === true;
  if (options.remove === true && !isDeep) throw new UsageError('--delete needs -r or -a');
  if (options.removeMost !== undefined && options.remove !== true) throw new UsageError('--max-delete needs --delete');
  if (options.fromNul === true && options.filesFrom === undefined) throw new UsageError('--from0 needs --files-from');
  checkLinkDests(options);
  checkSync(options);
  checkOrder(options.patterns ?? []);
  if (options.filesFrom === undefined) return;
  if (options.remove === true) {
    throw new UsageError('--delete cannot be combined with --files-from');
  }
  if (sources > 1) throw new UsageError(`--files-from lists paths below one SRC, not ${sources}`);
}

/** Links share their files with earlier copies, which must stay as they are. */
function checkLinkDests({ linkDests = [], inPlace, removeSourceFiles }: Options): void {
  if (linkDests.length === 0) return;
  if (linkDests.length > LINK_DESTS_MAX)
    throw new UsageError(`--link-dest can be given ${LINK_DESTS_MAX} times at most`);
  if (inPlace === true)
    throw new UsageError('--inplace cannot be combined with --link-dest: it would change files in DIR');
  if (removeSourceFiles !== true) return;
  throw new UsageError('--remove-source-files cannot be combined with --link-dest: linked files are not read at SRC');
}

/** The source must stay until its copy is permanent, and only that can be read back from the disk. */
function checkSync({ sync, removeSourceFiles, verify }: Options): void {
  if (sync !== false) return;
  const [flag] = [
    ...(removeSourceFiles === true ? ['--remove-source-files'] : []),
    ...(verify === true ? ['--verify'] : []),
  ];
  if (flag !== undefined) throw new UsageError(`${flag} needs the copy on disk: it cannot be combined with --no-sync`);
}

const LINK_DESTS_MAX = 20;

/** In rsync the first match decides, so a pattern that excludes everything comes last there. */
function checkOrder(patterns: readonly PatternRule[]): void {
  const flags = patterns.flatMap((rule) => (rule.kind === 'file' ? [] : [flagOf(rule)]));
  const last = flags.map((flag) => EVERYTHING.test(flag)).lastIndexOf(true);
  const included = flags.slice(0, Math.max(last, 0)).filter((flag) => flag.startsWith('--include'));
  if (included.length === 0) return;
  const right = [flags[last], ...included].join(' ');
  throw new UsageError(`nothing is included before ${flags[last]}: the last match decides (write: ${right})`);
}

const EVERYTHING = /^--exclude '\/?(\*{1,2}\/)*\*{1,2}'$/;

function flagOf({ kind, pattern }: { readonly kind: string; readonly pattern: string }): string {
  return `--${kind} '${printableBytes(Buffer.from(pattern, 'latin1'))}'`;
}

/** @throws UsageError for options that cannot be used in a copy to several hosts. */
export function checkForMany(options: Options): void {
  if ((options.linkDests ?? []).length > 0)
    throw new UsageError('--link-dest needs a DST on one host (run rdcp for each host)');
  if (options.removeSourceFiles !== true) return;
  const advice = 'copy first, then remove them yourself';
  throw new UsageError(`--remove-source-files needs a DST on one host (${advice})`);
}

/**
 * Checks the options of a copy from standard input or to standard output, which is a single stream.
 * @throws UsageError for options that apply only to trees.
 */
export function checkForStream(options: Options): void {
  const name = TREES_ONLY.find((option) => options[option] !== undefined);
  if (name === undefined) return;
  throw new UsageError(`${flagName(OPTIONS[name])} cannot be used with -, which is a single stream`);
}

const TREES_ONLY = OPTION_ROWS.filter(([name, { setting }]) => name in COPY_OPTIONS && setting !== false).map(
  ([name]) => name,
);
