/** The links of a segment, and the stages, hosts of a chain or descriptors at their ends. Pure. */
import { UsageError } from '../model/errors.ts';
import { byPosition, inputsOf, okStatuses, positionOf, type Stage } from '../model/pipeline.ts';
import type { ChainLink, SessionId } from '../model/plan.ts';
import type { LinkSink, LinkSource } from '../model/protocol.ts';
import { widthOf } from './absent-parts.ts';
import { LOCAL } from './facts.ts';
import type { SegmentShape } from './segments.ts';

/** One end of a link: a stage, one of the user's descriptors, or nothing. */
interface End<Role> {
  readonly role: Role;
  readonly session: SessionId;
  /** If the stage has a process, this end is an ordinary descriptor, and a pipe can join it. */
  readonly process: boolean;
}

export interface LinkEnds {
  readonly number: number;
  readonly source: End<LinkSource>;
  readonly sink: End<LinkSink>;
  readonly chain?: ChainLink;
  /** The numbers of the stages at the ends, if there are stages. */
  readonly from?: number;
  readonly to?: number;
}

/** The sessions of stages, and their order in a chain. */
export interface Layout {
  sessionOf(stage: Stage): SessionId;
  /** Returns the parts of a stage that get their stream from `sender`, in the order in which they forward it. */
  inChain(parts: readonly Stage[], sender: SessionId): readonly Stage[];
}

type Parts = readonly [Stage, ...Stage[]];

/**
 * Returns the links of a segment, from those before its first stage to those after its last one. A stage on several
 * hosts gets its input from the same number of hosts, or through a chain from one.
 * @throws UsageError if two neighbouring stages have different numbers of hosts, and neither number is one.
 */
export function endsOf({ stages, before, after }: SegmentShape, layout: Layout): readonly LinkEnds[] {
  const positions = byPosition(stages);
  const [first, last] = [positions[0], positions.at(-1)];
  const inner = positions.slice(1).map((parts, index) => between(positions[index] ?? parts, parts, layout));
  return [
    ...(before === undefined || first === undefined ? [] : linksBefore(before, first, layout)),
    ...inner.flat(),
    ...(after === undefined || last === undefined ? [] : linksAfter(last, after, layout)),
  ];
}

function between(from: Parts, to: Parts, layout: Layout): readonly LinkEnds[] {
  const [reader] = to;
  const isOfOneWidth = widthOf(from) === widthOf(to);
  if (!isOfOneWidth && widthOf(from) === 1 && to.length > 1)
    return chain(stageEnd(from[0], layout), to, layout, from[0]);
  if (!isOfOneWidth && widthOf(from) > 1 && inputsOf(reader) === undefined) throw misfit(from, to);
  return from.map((writer, rank) => {
    const stage = to[rank] ?? reader;
    const ends = { source: stageEnd(writer, layout), sink: stageEnd(stage, layout) };
    return { number: writer.number, ...ends, from: writer.number, to: stage.number };
  });
}

/** The user's descriptors are on this machine; a null end is on the host of the other end. */
function linksBefore(before: 'stdin' | 'null', to: Parts, layout: Layout): readonly LinkEnds[] {
  if (before === 'stdin' && to.length > 1) {
    return chain({ role: before, session: LOCAL, process: false }, to, layout);
  }
  return to.map((stage) => {
    const sink = stageEnd(stage, layout);
    return { number: stage.number - 1, source: outerEnd(before, sink), sink, to: stage.number };
  });
}

function linksAfter(from: Parts, after: 'stdout' | 'null', layout: Layout): readonly LinkEnds[] {
  return from.map((stage) => {
    const source = stageEnd(stage, layout);
    return { number: stage.number, source, sink: outerEnd(after, source), from: stage.number };
  });
}

/** Each host forwards what it receives to the next one. */
function chain(source: End<LinkSource>, to: Parts, layout: Layout, from?: Stage): readonly LinkEnds[] {
  const stages = layout.inChain(to, source.session);
  const head = (stages[0] ?? to[0]).number - 1;
  return stages.map((stage, index): LinkEnds => {
    const previous = stages[index - 1];
    const number = stage.number - 1;
    const sink = stageEnd(stage, layout);
    const link = { head, relay: previous && previous.number - 1, receivers: to.length - index, isSigned: false };
    if (previous === undefined) {
      return { number, source, sink, chain: link, ...(from && { from: from.number }), to: stage.number };
    }
    const relay = { role: 'relay', session: layout.sessionOf(previous), process: false } as const;
    return { number, source: relay, sink, chain: link, to: stage.number };
  });
}

function stageEnd(stage: Stage, layout: Layout): End<'stage'> {
  return { role: 'stage', session: layout.sessionOf(stage), process: okStatuses(stage) !== undefined };
}

function outerEnd<Role extends 'stdin' | 'stdout' | 'null'>(role: Role, neighbour: End<'stage'>): End<Role> {
  return { role, session: role === 'null' ? neighbour.session : LOCAL, process: false };
}

function misfit(from: Parts, to: Parts): UsageError {
  const [first, second] = [from, to].map((parts) => `stage ${positionOf(parts[0])} runs on ${hostsInWords(parts)}`);
  return new UsageError(`${first} and ${second} (use the same number of hosts, or one host before many)`);
}

function hostsInWords(parts: Parts): string {
  return widthOf(parts) === 1 ? 'one host' : `${widthOf(parts)} hosts`;
}
