/** The user's message about a failure: what failed, where, and the next step. Pure. */
import { constants } from 'node:os';
import { foldHosts } from '../model/fold-hosts.ts';
import { positionOf } from '../model/pipeline.ts';
import { shorten } from '../model/text.ts';
import type { TreeRole } from '../model/tree.ts';
import { formatBytes } from '../model/units.ts';
import { completedParts } from './completed-parts.ts';
import { copyReport } from './copy-report.ts';
import { copyStages, MAY_BE_TAMPERED } from './copy-stages.ts';
import { stageOutcome } from './outcomes.ts';
import type { Failure, LinkState, RunState, StageState } from './state.ts';

type Of<Kind extends Failure['kind']> = Extract<Failure, { kind: Kind }>;

/** Returns one line: what failed, where, what was stopped because of it, and what to do. */
export function describeFailure(state: RunState, failure: Failure): string {
  const left = state.leftBehind.length === 0 ? [] : [describeLeftBehind(state)];
  return [describeAlone(state, failure), ...failedBeside(state, failure), ...completedParts(state), ...left].join('; ');
}

/** Returns the message about processes that could not be killed; there must be at least one. */
export function describeLeftBehind(state: RunState): string {
  const named = state.leftBehind.map(({ host, pid, command }) => `${pid} (${command}) on ${host}`);
  return `could not kill process ${inWords(named)} (kill ${state.leftBehind.length === 1 ? 'it' : 'them'} by hand)`;
}

function inWords(named: readonly string[]): string {
  const more = named.length > NAMED_MAX ? [`${named.length - NAMED_MAX} more`] : [];
  return [...named.slice(0, NAMED_MAX), ...more].join(' and ');
}

/** Returns undefined if no path of a copy failed, or the run is not a copy. */
export function describeFailedPaths(state: RunState): string | undefined {
  const { failed = 0, found = 0, hosts = [] } = copyReport(state) ?? {};
  if (failed === 0) return undefined;
  // A path that cannot be read counts once for all hosts, one that cannot be written for each.
  const total = hosts.length > 1 || found < failed ? undefined : found;
  const of = total === undefined ? '' : ` of ${grouped(total)}`;
  return `${grouped(failed)}${of} ${(total ?? failed) === 1 ? 'path' : 'paths'} failed`;
}

function grouped(number: number): string {
  return number.toLocaleString('en-US');
}

/** Describes only the failure, without its consequences for other parts, and without parts that are complete anyway. */
export function describeAlone(state: RunState, failure: Failure): string {
  switch (failure.kind) {
    case 'stage':
      return describeStage(state, failure);
    case 'tree':
      return describeTree(state, failure);
    case 'setup':
      return `${failure.stage === null ? failure.host : stageName(state, failure.stage)}: ${failure.message}`;
    case 'link':
      return describeLink(state, failure);
    case 'error':
      return failure.error.message;
  }
}

/** Names the other hosts on which the same stage failed in another way, if it may fail on each host separately. */
function failedBeside(state: RunState, failure: Failure): readonly string[] {
  if (failure.kind !== 'stage') return [];
  const others = hostsBeside(state, failure, (other) => !endedAlike(other, failure));
  return others.length === 0 ? [] : [`it also failed on ${foldHosts(others)}`];
}

/** The other hosts on which the same stage failed as `isMeant` says; none if it may not fail on each separately. */
function hostsBeside(
  state: RunState,
  { stage: number }: Of<'stage'>,
  isMeant: (other: Of<'stage'>) => boolean,
): readonly string[] {
  const stage = state.stages.get(number)?.planned.stage;
  if (stage?.kind !== 'command' || stage.lenient !== true) return [];
  const failed = new Set(state.failures.flatMap((other) => (isOfStage(other) && isMeant(other) ? [other.stage] : [])));
  return state.stages.values().flatMap(({ planned, host }) => {
    const isBeside = planned.stage !== stage && positionOf(planned.stage) === positionOf(stage);
    return isBeside && failed.has(planned.stage.number) ? [host] : [];
  });
}

function isOfStage(failure: Failure): failure is Of<'stage'> {
  return failure.kind === 'stage';
}

function endedAlike(one: Of<'stage'>, other: Of<'stage'>): boolean {
  return one.code === other.code && one.signal === other.signal;
}

/** The program's last event has the reason; a program that was killed sent none. */
function describeTree(state: RunState, { stage: number, code, signal }: Of<'tree'>): string {
  const fatal = state.stages.get(number)?.program.fatal;
  if (fatal?.code === 'usage') return fatal.message;
  if (fatal?.code === 'not_requested') return `cannot continue: ${describeNotRequested(state, number, fatal.message)}`;
  if (fatal !== undefined) return `cannot continue: ${programName(state, number, fatal.code)}: ${fatal.message}`;
  const ended =
    code === null ? `was killed by ${signalName(signal)}` : `exited with status ${code} without giving a reason`;
  return `${stageName(state, number)} ${ended}`;
}

/** The host at fault is that of the programs whose records the stage checks. */
function describeNotRequested(state: RunState, number: number, what: string): string {
  const senders = copyStages(state, ...sendersTo(roleOf(state, number)));
  const hosts = [...new Set(senders.map(({ host }) => host))];
  return `${hosts.length > 1 ? 'one of ' : ''}${hosts.join(', ')} sent ${what}; ${MAY_BE_TAMPERED}`;
}

function roleOf(state: RunState, number: number): TreeRole | undefined {
  const stage = state.stages.get(number)?.planned.stage;
  return stage?.kind === 'tree' ? stage.settings.role : undefined;
}

/** compare and write take what the source's host sends; read and clean, what the target's hosts send. */
function sendersTo(role: TreeRole | undefined): readonly TreeRole[] {
  return role === 'read' || role === 'clean' ? ['compare'] : ['scan'];
}

/** If a path is the reason, the host is enough; otherwise the message names the program. */
function programName(state: RunState, number: number, code: string): string {
  const isOfPath = code === 'source_unreadable' || code === 'sink_unwritable';
  return (isOfPath ? state.stages.get(number)?.host : undefined) ?? stageName(state, number);
}

function describeStage(state: RunState, failure: Of<'stage'>): string {
  const { stage: number, code, signal } = failure;
  const ended =
    code === null
      ? `was killed by ${signalName(signal)}`
      : `exited with status ${code}${notStarted(state, number, code)}`;
  const stopped = stoppedStages(state);
  const alike = hostsBeside(state, failure, (other) => endedAlike(other, failure));
  const bytes = alike.length === 0 ? afterBytes(state, number) : '';
  return `${stageName(state, number, alike)} ${ended}${bytes}${consequence(positionIn(state, number), code, stopped)}`;
}

/** Explains the statuses 126 and 127 of a shell. */
function notStarted(state: RunState, number: number, code: number): string {
  if (code !== NOT_FOUND && code !== NOT_EXECUTABLE) return '';
  return ` (${code === NOT_FOUND ? 'command not found' : 'not executable'}${fileHint(state, number)})`;
}

const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

/** Suggests the syntax for files to users who write them as for scp: `h1:one.txt h2:copy.txt`. */
function fileHint(state: RunState, number: number): string {
  const stage = state.stages.get(number)?.planned.stage;
  if (stage === undefined || !PLAIN_WORD.test(stage.text)) return '';
  const { host, text } = stage;
  const at = host.name === '' ? '' : host.label;
  const isFirst = positionOf(stage) === 1;
  const isLast = writtenStages(state).every((other) => positionOf(other.planned.stage) <= positionOf(stage));
  const reads = isLast && !isFirst ? [] : [`${at}:'< ${text}' to read it`];
  const writes = isFirst && !isLast ? [] : [`${at}:'> ${text}' to write it`];
  return `; if it is a file, use ${[...reads, ...writes].join(' or ')}`;
}

/** A single word without characters that are special to a shell. */
const PLAIN_WORD = /^[^\s'"`$\\;&|<>(){}*?[\]#!]+$/;

function positionIn(state: RunState, number: number): number {
  const stage = state.stages.get(number)?.planned.stage;
  return stage === undefined ? number : positionOf(stage);
}

function afterBytes(state: RunState, number: number): string {
  const planned = state.stages.get(number)?.planned;
  const read = state.links.get(planned?.in ?? -1)?.ends.recv.counters.bytes ?? 0;
  const written = state.links.get(planned?.out ?? -1)?.ends.send.counters.bytes ?? 0;
  const bytes = read > 0 ? read : written;
  return bytes === 0 ? '' : ` after ${formatBytes(bytes)}`;
}

function consequence(failed: number, code: number | null, stopped: readonly number[]): string {
  if (stopped.length === 0) return '';
  const were = `${stagesInWords(stopped)} ${stopped.length === 1 ? 'was' : 'were'} stopped`;
  const onlyReaders = stopped.every((stage) => stage > failed);
  if (!onlyReaders) return `; ${were}`;
  const saw = `${stopped.length === 1 ? 'it' : 'they'} saw end of file`;
  const mayBeExpected = code !== null && code !== NOT_FOUND && code !== NOT_EXECUTABLE;
  const hint = !mayBeExpected ? '' : ` (if status ${code} is expected, use --ok ${failed}=${code})`;
  return `; ${were} before ${saw}${hint}`;
}

function stoppedStages(state: RunState): number[] {
  const stopped = writtenStages(state).filter((stage) => stageOutcome(state, stage) === 'stopped');
  return [...new Set(stopped.map((stage) => positionOf(stage.planned.stage)))].sort((a, b) => a - b);
}

/** Returns all stages except those that gather outputs. */
function writtenStages(state: RunState): readonly StageState[] {
  return state.stages.values().filter(({ planned }) => planned.stage.kind !== 'gather');
}

function stagesInWords(numbers: readonly number[]): string {
  if (numbers.length === 1) return `stage ${numbers[0]}`;
  return `stages ${numbers.slice(0, -1).join(', ')} and ${numbers.at(-1)}`;
}

function describeLink(state: RunState, failure: Of<'link'>): string {
  const link = state.links.get(failure.link);
  const place = link === undefined ? `link ${failure.link}` : linkPlace(state, link, failure);
  const lost = link === undefined || link.from === link.to ? '' : lostPeer(link, failure);
  const bytes = link?.ends[failure.end].counters.bytes ?? 0;
  return `${place}: ${lost}${failure.message || failure.code}${bytes === 0 ? '' : ` after ${formatBytes(bytes)}`}`;
}

/** Names the side that is at fault; if both ends received nothing, the network between them is. */
function lostPeer({ from, to, ends }: LinkState, { end, code }: Of<'link'>): string {
  const [here, there] = end === 'send' ? [from, to] : [to, from];
  if (code === 'peer_lost') return `${here} lost ${there}: `;
  if (code !== 'peer_stalled') return '';
  const neitherReceived = Object.values(ends).every(({ ended }) => ended?.code === 'peer_stalled');
  return neitherReceived ? `${here} and ${there} received nothing from each other: ` : `${there} went silent: `;
}

function linkPlace(state: RunState, link: LinkState, { code, end }: Of<'link'>): string {
  if (code === 'source_unreadable') return readFrom(state, link);
  if (code === 'sink_unwritable') return writtenTo(state, link);
  if (code === 'internal') return `${end === 'send' ? `rdsend on ${link.from}` : `rdrecv on ${link.to}`}`;
  return link.from === link.to ? `data within ${link.from}` : `data from ${link.from} to ${link.to}`;
}

function readFrom(state: RunState, { link }: LinkState): string {
  return link.source === 'stdin' ? 'standard input' : stageName(state, link.number);
}

function writtenTo(state: RunState, { link }: LinkState): string {
  return link.sink === 'stdout' ? 'standard output' : stageName(state, readerOf(state, link.number));
}

/** Returns the number of the stage that reads from a link. */
function readerOf(state: RunState, link: number): number {
  const reader = state.stages.values().find(({ planned }) => planned.in === link);
  return reader?.planned.stage.number ?? link + 1;
}

const TEXT_MAX = 60;
const NAMED_MAX = 10;

/** `alike`: other hosts of the stage, which are named with its own. */
function stageName(state: RunState, number: number, alike: readonly string[] = []): string {
  const stage = state.stages.get(number);
  const position = positionIn(state, number);
  if (stage?.planned.stage.kind === 'gather') return `collecting output on ${stage.host}`;
  if (stage?.planned.stage.kind === 'tree') return `${stage.host} (${stage.planned.stage.settings.role})`;
  return stage === undefined
    ? `stage ${position}`
    : `stage ${position} (${foldHosts([stage.host, ...alike])}: ${shorten(stage.planned.stage.text, TEXT_MAX)})`;
}

function signalName(number: number | null): string {
  const name = Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
  return name ?? `signal ${number}`;
}
