/** Creates the pipeline of a copy: its programs in order, on the hosts of source and target. */
import { createHmac } from 'node:crypto';
import {
  type CopyPaths,
  type CopySide,
  type HostPaths,
  hostsOf,
  SERVED_PORT,
  type ServedPaths,
} from '../model/copy.ts';
import { UsageError } from '../model/errors.ts';
import {
  type HostRef,
  type Pipeline,
  type SinkStage,
  type Stage,
  type StagePart,
  THIS_MACHINE,
} from '../model/pipeline.ts';
import { pathForSh } from '../model/shell-quote.ts';
import { printableBytes, shorten } from '../model/text.ts';
import { TREE_ROLES, type TreeRole, type TreeSettings } from '../model/tree.ts';
import { type CopyWants, treeSettings } from './settings.ts';

export interface CopyPipeline {
  readonly pipeline: Pipeline;
  /** The user's standard input goes to the first stage. */
  readonly readsInput: boolean;
  /** The last stage's output is the user's standard output. */
  readonly writesOutput: boolean;
}

/** The pipeline of a copy. @throws UsageError for a copy between `-` and an rd:// path. */
export function copyPipeline({ source, target }: CopyPaths, wants: CopyWants): CopyPipeline {
  if (source.kind === 'stream') return fromInput(target);
  if (target.kind === 'stream') return toOutput(source);
  const isListKnown = wants.list?.isWhole === true;
  const list = isListKnown ? [] : listStages(wants.filesFrom);
  const stages = numbered([...list, ...treeStages(placed(source, './'), placed(target, '.'), wants)]);
  return { pipeline: { stages }, readsInput: wants.filesFrom === '-' && !isListKnown, writesOutput: wants.dryRun };
}

/** A stage without its number. */
type Unnumbered = Stage extends infer One ? (One extends Stage ? Omit<One, 'number'> : never) : never;
/** A stage: one, or its parts on several hosts. */
type Parts = readonly Unnumbered[];

/** If both sides are on one host, one program reads and writes. */
function treeStages(source: HostPaths, target: HostPaths, wants: CopyWants): readonly Parts[] {
  const hosts = hostsOf(target);
  const stage = (role: TreeRole, side: HostPaths): Parts => {
    const text = shorten(`${role} ${side.paths.map(shown).join(' ')}`, TEXT_LIMIT);
    const settings = settingsOf(role, source, target, wants);
    return hostsOf(side).map((host, rank) => {
      const own = { ...partSettings(role, hosts, rank, wants), ...keySettings(role, rank, wants) };
      return { kind: 'tree', host, text, settings: { ...settings, ...own } };
    });
  };
  const begin = [stage('scan', source), stage('compare', target)];
  if (wants.dryRun) return begin;
  const unite = hosts.length > 1 ? [stage('unite', source)] : [];
  const copy =
    hosts.length === 1 && isSame(source.host, target.host)
      ? [stage('copy', target)]
      : [...unite, stage('read', source), stage('write', target)];
  return [...begin, ...copy, ...(wants.removeSourceFiles ? [stage('clean', source)] : [])];
}

function settingsOf(role: TreeRole, source: HostPaths, target: HostPaths, wants: CopyWants): TreeSettings {
  const uses = TREE_ROLES[role];
  const named = source.paths.map((path) => sourceOf(path, wants));
  // The rest of the path is none of the target's business.
  const sources = named.map((path) => hexOf(uses.sources === 'names' ? fromLastSlash(path) : path));
  return {
    ...treeSettings(role, wants),
    ...(uses.sources === 'none' ? {} : { sources }),
    ...(role === 'scan' && isOnHost(target, source.host) ? { target: hexOf(target.paths[0]) } : {}),
    ...(uses.target ? { target: hexOf(target.paths[0]), link_dests: wants.linkDests.map(hexOfText) } : {}),
  };
}

/** Settings per host in a copy to several. Hosts may share a file system, so `run` gives temporary files own names. */
function partSettings(
  role: TreeRole,
  hosts: readonly HostRef[],
  rank: number,
  { dryRun, json, run }: CopyWants,
): Partial<Pick<TreeSettings, 'width' | 'rank' | 'host' | 'run'>> {
  if (hosts.length === 1) return {};
  const label = hosts[rank]?.label;
  const host = role === 'compare' && dryRun && json && label !== undefined ? { host: label } : {};
  return { width: hosts.length, ...(role === 'write' ? { rank, run: `${run}-${rank}` } : {}), ...host };
}

/** Each target has a key of its own: one of them may be the host of the source. */
function keySettings(role: TreeRole, rank: number, { key }: CopyWants): Pick<TreeSettings, 'key'> {
  if (role !== 'compare' && role !== 'write') return {};
  return { key: createHmac('sha256', key).update(`${rank}`).digest('hex').slice(0, KEY_DIGITS) };
}

const KEY_DIGITS = 32;

/** Paths of a list keep their place below the source, whose own name is not part of them. */
function sourceOf(path: string, { filesFrom }: CopyWants): string {
  return filesFrom === undefined || path.endsWith('/') ? path : `${path}/`;
}

function fromLastSlash(path: string): string {
  return path.slice(Math.max(0, path.lastIndexOf('/')));
}

function isOnHost(side: HostPaths, host: HostRef): boolean {
  return hostsOf(side).some((one) => isSame(one, host));
}

function isSame(one: HostRef, other: HostRef): boolean {
  return one.name === other.name && one.user === other.user && one.served?.port === other.served?.port;
}

function hexOf(path: string): string {
  return Buffer.from(path, 'latin1').toString('hex');
}

function hexOfText(path: string): string {
  return Buffer.from(path).toString('hex');
}

/** A stage sends the paths of a long `--files-from` from a file on this machine; standard input needs no stage. */
function listStages(file: string | undefined): readonly Parts[] {
  if (file === undefined || file === '-') return [];
  const word = Buffer.from(pathForSh(Buffer.from(file).toString('latin1')), 'latin1');
  return [[{ kind: 'source', host: THIS_MACHINE, text: `< ${shorten(file, TEXT_LIMIT)}`, word }]];
}

/** The side with its server as a host. The served directory itself has no name: `whole` is its path. */
function placed(side: HostPaths | ServedPaths, whole: string): HostPaths {
  if (side.kind === 'paths') return side;
  const { server, port, client } = side;
  const name = server.includes(':') ? `[${server}]` : server;
  const label = `rd://${client === undefined ? '' : `${client}@`}${name}${port === SERVED_PORT ? '' : `:${port}`}`;
  const [first, ...more] = side.paths.map((path) => (path === '' ? whole : path));
  return {
    kind: 'paths',
    host: { name: server, user: client, label, served: { port } },
    paths: [first ?? whole, ...more],
  };
}

/** A copy of standard input to one file. */
function fromInput(target: CopySide): CopyPipeline {
  if (target.kind !== 'paths') throw servedStreamError();
  const file = fileOf('>', target.paths[0]);
  const sinks = hostsOf(target).map(
    (host): Omit<SinkStage, 'number'> => ({
      kind: 'sink',
      host,
      append: false,
      ...file,
    }),
  );
  return { pipeline: { stages: numbered([sinks]) }, readsInput: true, writesOutput: false };
}

/** A copy of one file to standard output. */
function toOutput(source: HostPaths | ServedPaths): CopyPipeline {
  if (source.kind !== 'paths') throw servedStreamError();
  const { host, paths } = source;
  const stages = numbered([[{ kind: 'source', host, ...fileOf('<', paths[0]) }]]);
  return { pipeline: { stages }, readsInput: false, writesOutput: true };
}

function fileOf(operator: string, path: string): Pick<SinkStage, 'text' | 'word'> {
  const text = shorten(`${operator} ${shown(path)}`, TEXT_LIMIT);
  return { text, word: Buffer.from(pathForSh(path), 'latin1') };
}

/** Numbers stages as the parser does. The stage `unite` reads from all parts of the stage before it. */
function numbered(positions: readonly Parts[]): Pipeline['stages'] {
  const numberOf = (index: number, rank: number) => index + 1 + rank * (positions.length + 1);
  const [first, ...rest] = positions.flatMap((parts, index) =>
    parts.map((stage, rank): Stage => {
      const base = { ...stage, number: numberOf(index, rank), ...partOf(index, rank, parts.length) };
      if (base.kind !== 'tree' || base.settings.role !== 'unite') return base;
      return { ...base, ins: (positions[index - 1] ?? []).map((_, input) => numberOf(index - 1, input)) };
    }),
  );
  if (first === undefined) throw new Error('a pipeline without a stage');
  return [first, ...rest];
}

function partOf(index: number, rank: number, width: number): { readonly part?: StagePart } {
  return width === 1 ? {} : { part: { position: index + 1, rank, width } };
}

function servedStreamError(): UsageError {
  return new UsageError('cannot copy between - and an rd:// path (use a file name instead of -)');
}

const TEXT_LIMIT = 200;

function shown(path: string): string {
  return printableBytes(Buffer.from(path, 'latin1'));
}
