/** Derives the settings of a copy's programs from those of the command. */
import { UsageError } from '../model/errors.ts';
import { flagName, type PatternRule } from '../model/option-row.ts';
import { OPTIONS } from '../model/options.ts';
import type { Options, Settings } from '../model/settings.ts';
import { printableBytes } from '../model/text.ts';
import type { TreeRole, TreeSettings } from '../model/tree.ts';

/** A pattern for the programs, a binary string; files of patterns have been read. */
export interface CopyPattern {
  readonly include: boolean;
  readonly pattern: string;
}

export interface CopyWants
  extends Pick<
    Settings,
    | 'verbosity'
    | 'dryRun'
    | 'json'
    | 'jobs'
    | 'recursive'
    | 'archive'
    | 'acls'
    | 'xattrs'
    | 'oneFileSystem'
    | 'remove'
    | 'removeMost'
    | 'checksum'
    | 'verify'
    | 'partial'
    | 'inPlace'
    | 'makeParents'
    | 'removeSourceFiles'
    | 'filesFrom'
    | 'fromNul'
  > {
  /** Names temporary files: hexadecimal digits. */
  readonly run: string;
  readonly patterns: readonly CopyPattern[];
}

/** The settings of one program, except the paths. */
export function treeSettings(role: TreeRole, wants: CopyWants): TreeSettings {
  return {
    role,
    run: wants.run,
    // The list decides what is copied from its directory.
    recursive: wants.recursive || wants.archive || wants.filesFrom !== undefined,
    archive: wants.archive,
    acls: wants.acls,
    xattrs: wants.xattrs,
    one_file_system: wants.oneFileSystem,
    checksum: wants.checksum,
    remove: wants.remove,
    ...(wants.removeMost === undefined ? {} : { remove_most: wants.removeMost }),
    make_parents: wants.makeParents,
    partial: wants.partial,
    in_place: wants.inPlace,
    verify: wants.verify,
    clean: wants.removeSourceFiles,
    paths: !wants.dryRun && (wants.verbosity > 0 || wants.json),
    jobs: wants.jobs,
    patterns: wants.patterns.map(({ include, pattern }) => ({ include, pattern: hexOf(pattern) })),
    ...(role === 'scan' && wants.filesFrom !== undefined ? { list: wants.fromNul ? 'nul' : 'lines' } : {}),
    ...(role === 'compare' && wants.dryRun ? { plan: wants.json ? 'json' : 'text' } : {}),
  };
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
  checkOrder(options.patterns ?? []);
  if (options.filesFrom === undefined) return;
  if (options.remove === true) {
    throw new UsageError('--delete cannot be combined with --files-from');
  }
  if (sources > 1) throw new UsageError(`--files-from lists paths below one SRC, not ${sources}`);
}

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

const TREES_ONLY = [
  'recursive',
  'archive',
  'acls',
  'xattrs',
  'oneFileSystem',
  'remove',
  'removeMost',
  'patterns',
  'checksum',
  'verify',
  'partial',
  'inPlace',
  'makeParents',
  'removeSourceFiles',
  'filesFrom',
  'fromNul',
] as const;
