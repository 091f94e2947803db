/** Reads the sources and the target of rdcp. */
import type { CopyPaths, CopySide, HostPaths, ServedPaths } from '../model/copy.ts';
import { hostsOf, SERVED_PORT } from '../model/copy.ts';
import { UsageError } from '../model/errors.ts';
import { hasSlashes } from '../model/launcher.ts';
import { type HostRef, THIS_MACHINE } from '../model/pipeline.ts';
import { forHost, type Settings } from '../model/settings.ts';
import { shorten } from '../model/text.ts';
import { forMessage } from './binary-string.ts';
import { caretLines } from './caret.ts';
import { checkHosts } from './check-hosts.ts';
import { expandHostList } from './host-list.ts';
import { endOfHost, hostKey, parseHostRef } from './host-ref.ts';

export interface CopyPathOptions {
  /** The whole command line, for messages that show it. */
  readonly words: readonly string[];
  readonly settings: Pick<Settings, 'namedHosts' | 'groups' | 'launcher'>;
}

/**
 * Reads `SRC... DST`, binary strings.
 * @throws UsageError with carets under the wrong word.
 */
export function parseCopyPaths(pathWords: readonly string[], options: CopyPathOptions): CopyPaths {
  const last = pathWords.at(-1);
  if (last === undefined) throw new UsageError('no SRC and DST given (rdcp SRC... DST; rdcp --help shows more)');
  const sides = pathWords.map((word) => at(word, options, () => readSide(word, options.settings)));
  const [first, ...more] = sides.slice(0, -1);
  const target = sides.at(-1);
  if (first === undefined || target === undefined) throw missingTarget(last, options);
  for (const [index, side] of sides.slice(0, -1).entries()) {
    at(pathWords[index] ?? '', options, () => checkSource(side));
  }
  for (const [index, side] of more.entries())
    at(pathWords[index + 1] ?? '', options, () => checkTogether(first, side, target));
  const source = first.kind === 'stream' ? first : { ...first, paths: joined(first, more) };
  at(last, options, () => checkPair(source, target));
  const hosts = [source, target].flatMap((side) => (side.kind === 'paths' ? hostsOf(side) : []));
  checkHosts(options.settings, hosts, 'no path has the host');
  return { source, target };
}

/** An error in one word, before its position in the command line is known. */
class PathProblem extends Error {
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

function at<Result>(word: string, options: CopyPathOptions, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw error instanceof PathProblem ? usageError(error.message, word, error.hint, options) : error;
  }
}

function usageError(message: string, word: string, hint: string, { words }: CopyPathOptions): UsageError {
  return new UsageError(message, caretLines(words, words.lastIndexOf(word), hint, 'rdcp'));
}

function missingTarget(word: string, options: CopyPathOptions): UsageError {
  const hint = 'add a destination: rdcp SRC... DST (. is the current directory)';
  return usageError(`missing DST after ${shown(word)}`, word, hint, options);
}

const HINT_PATH = 'write host:path, or path for this machine';

type PathSettings = CopyPathOptions['settings'];

function readSide(word: string, settings: PathSettings): CopySide {
  if (word === '') throw new PathProblem('a path is empty', HINT_PATH);
  if (word === '-') return { kind: 'stream' };
  const [, scheme] = /^([A-Za-z][A-Za-z0-9+.]*):\/\//.exec(word) ?? [];
  if (scheme?.toLowerCase() === 'rd') return readServed(word);
  if (scheme !== undefined && OTHER_SCHEMES.has(scheme.toLowerCase())) {
    const message = `${shown(word)} is a URL of another protocol`;
    throw new PathProblem(message, "write host:path; for ssh's port use -o Port=NUMBER");
  }
  return readPath(word, settings);
}

const OTHER_SCHEMES = new Set(['rsync', 'ssh', 'scp', 'sftp', 'http', 'https', 'ftp', 'file', 's3']);

/** A `:` outside brackets ends a host; without a path it means the home directory there. */
function readPath(word: string, settings: PathSettings): HostPaths {
  const colon = endOfHost(word);
  const hosts = colon < 0 ? [] : readHosts(word.slice(0, colon), word, settings);
  if (hosts.length === 0) return paths([THIS_MACHINE], checkedPath(word, word));
  const path = word.slice(colon + 1);
  if (path.startsWith(':')) {
    const [message, rest] = [`${shown(word)} names a module of an rsync daemon`, path.slice(1)];
    throw new PathProblem(message, `write host:path, which uses ssh; for a name with a colon host:./:${shown(rest)}`);
  }
  return paths(hosts, checkedPath(path === '' && colon > 0 ? '~/' : path, word));
}

function paths([host = THIS_MACHINE, ...others]: readonly HostRef[], path: string): HostPaths {
  return { kind: 'paths', host, ...(others.length === 0 ? {} : { others }), paths: [path] };
}

/** Returns no hosts if the text is the begin of a path: it has a `/`, which only the hosts of some launchers have. */
function readHosts(text: string, word: string, { groups, launcher }: PathSettings): readonly HostRef[] {
  const launchers = [launcher.all, ...launcher.hosts.values()];
  const hasSlash = text.includes('/');
  if (hasSlash && (/^(?:\.{0,2}\/|~)/.test(text) || !launchers.some(hasSlashes))) return [];
  const hosts = expandHosts(text, word, groups);
  return hasSlash && !hosts.some((host) => hasSlashes(forHost(launcher, host))) ? [] : hosts;
}

function expandHosts(text: string, word: string, groups: PathSettings['groups']): readonly HostRef[] {
  try {
    return expandHostList(text, groups).map(parseHostRef);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const hint = error.detail ?? 'write host:path; for a name with a colon ./name';
    throw new PathProblem(`${shown(word)}: ${error.message}`, hint);
  }
}

/** `~/` is the home directory; only shells know the homes of other users. */
function checkedPath(path: string, word: string): string {
  if (path === '') throw new PathProblem(`${shown(word)} has no path`, HINT_PATH);
  if (!/^~[^/]/.test(path)) return path;
  const message = `${shown(word)}: ~ only works for the home directory of the user who logs in`;
  throw new PathProblem(message, 'write the full path; for a name that begins with ~ write ./~name');
}

/** `rd://[client@]host[:port]/path`. */
function readServed(word: string): ServedPaths {
  const rest = word.slice('rd://'.length);
  const slash = rest.indexOf('/');
  const place = slash < 0 ? rest : rest.slice(0, slash);
  const [, client, bracketed, plain, digits] =
    /^(?:([\w-]{1,64})@)?(?:\[([0-9A-Fa-f:.%\w-]+)\]|([\w.-]+))(?::(\d{1,5}))?$/.exec(place) ?? [];
  const server = bracketed ?? plain ?? '';
  const port = Number(digits ?? SERVED_PORT);
  if (server === '' || server.startsWith('-') || slash < 0 || port < 1 || port > 65535)
    throw new PathProblem(`${shown(word)} is not rd://HOST[:PORT]/PATH`, 'write rd://host/path or rd://host:port/path');
  return { kind: 'served', server, client, port, paths: [rest.slice(slash).replace(/^\/+/, '')] };
}

function checkSource(side: CopySide): void {
  if (side.kind !== 'paths' || side.others === undefined) return;
  throw new PathProblem(
    `a source is on one host, not ${side.others.length + 1}`,
    'run rdcp once for each host, to a directory of its own',
  );
}

/** One program reads all sources, so they must be on one host or server. */
function checkTogether(first: CopySide, side: CopySide, target: CopySide): void {
  if (first.kind === 'paths' && side.kind === 'paths' && hostKey(first.host) === hostKey(side.host)) return;
  if (first.kind === 'served' && side.kind === 'served' && placeOf(first) === placeOf(side)) return;
  if (first.kind === 'stream' || side.kind === 'stream')
    throw new PathProblem('- cannot be combined with other sources', 'run rdcp separately for -');
  const message = `sources are on two hosts, ${placeOf(first)} and ${placeOf(side)}`;
  throw new PathProblem(message, hintApart(side, target));
}

/** A source with the target's path, on another host, was probably meant as a second target. */
function hintApart(side: CopySide, target: CopySide): string {
  const isTarget = side.kind === 'paths' && target.kind === 'paths' && side.paths[0] === target.paths[0];
  if (!isTarget) return 'run rdcp once for each host';
  return `write one DST on several hosts: ${placeOf(side)},${placeOf(target)}:${shown(target.paths[0])}`;
}

/** All paths in one array, in linear time: a shell's `*` may give a hundred thousand. */
function joined(first: HostPaths | ServedPaths, more: readonly CopySide[]): HostPaths['paths'] {
  return [
    first.paths[0],
    ...first.paths.slice(1),
    ...more.flatMap((side) => (side.kind === 'stream' ? [] : side.paths)),
  ];
}

function placeOf(side: CopySide): string {
  if (side.kind === 'paths') return side.host.label;
  if (side.kind === 'stream') return '-';
  return `rd://${side.client === undefined ? '' : `${side.client}@`}${side.server}:${side.port}`;
}

function checkPair(source: CopySide, target: CopySide): void {
  if (source.kind === 'stream' && target.kind === 'stream')
    throw new PathProblem('both SRC and DST are -', 'write a path in place of one of them');
  if (source.kind === 'served' && target.kind === 'served')
    throw new PathProblem(
      'SRC and DST cannot both be rd:// paths',
      'run rdcp on one of the two hosts, with its local path',
    );
  if (source.kind === 'served' && target.kind === 'paths' && target.others !== undefined)
    throw new PathProblem('an rd:// path can be copied to only one host at a time', 'run rdcp once for each host');
  if (target.kind === 'stream' && source.kind !== 'stream' && source.paths.length > 1)
    throw new PathProblem(`- takes one file, not ${source.paths.length}`, 'run rdcp once for each file');
  if (source.kind === 'stream' && target.kind === 'paths' && /(?:^|\/)\.{0,2}$|^~$/.test(target.paths[0]))
    throw new PathProblem('DST is a directory, and standard input has no name', 'add a file name to DST');
}

/** The longest text of a word in messages, in characters. */
const TEXT_LIMIT = 200;

function shown(word: string): string {
  return shorten(forMessage(word), TEXT_LIMIT);
}
