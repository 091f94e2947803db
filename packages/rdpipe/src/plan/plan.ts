/** Makes the plan from pipeline, settings and facts. Pure: the same input gives the same plan. */
import { HopError } from '../model/errors.ts';
import { okStatuses, type Stage } from '../model/pipeline.ts';
import type { Plan, PlannedLink, PlannedSession, PlannedStage, Segment, SessionId } from '../model/plan.ts';
import type { LinkSink, LinkSource } from '../model/protocol.ts';
import { LOCAL, type PlanInput, type SessionFacts } from './facts.ts';
import { missingForRdma, routeHop } from './route.ts';
import { type SegmentShape, splitSegments } from './segments.ts';

/** @throws HopError when two neighbours have no route to each other, or none over the transport that was asked for. */
export function makePlan(input: PlanInput): Plan {
  const segments = splitSegments(input.pipeline, input).map((shape, index) => planSegment(shape, index + 1, input));
  return { run: input.run, sessions: sessionsOf(segments, input), segments };
}

function planSegment(shape: SegmentShape, number: number, input: PlanInput): Segment {
  const links = endsOf(shape, input).map((ends) => planLink(ends, input));
  const numbers = new Set(links.map((link) => link.number));
  const stages = shape.stages.map((stage): PlannedStage => {
    const has = (link: number) => (numbers.has(link) ? link : undefined);
    return { stage, session: sessionOf(stage, input), in: has(stage.number - 1), out: has(stage.number) };
  });
  return { number, stages, links };
}

/** One end of a link: a stage, one of the user's descriptors, or nothing. */
interface End<Role> {
  readonly role: Role;
  readonly session: SessionId;
  /** The end of a stage with a process is an ordinary descriptor, which a pipe can join. */
  readonly process: boolean;
}

interface LinkEnds {
  readonly number: number;
  readonly source: End<LinkSource>;
  readonly sink: End<LinkSink>;
}

/** The links of a segment, from the one before its first stage to the one after its last. */
function endsOf({ stages, before, after }: SegmentShape, input: PlanInput): readonly LinkEnds[] {
  const ends = stages.map((stage) => stageEnd(stage, input));
  const numbers = stages.map(({ number }) => number);
  const inner = ends
    .slice(1)
    .map((sink, index) => ({ number: numbers[index] ?? 0, source: ends[index] ?? sink, sink }));
  const [first, last] = [ends[0], ends.at(-1)];
  return [
    ...(before === undefined || first === undefined
      ? []
      : [{ number: (numbers[0] ?? 1) - 1, source: outerEnd(before, first), sink: first }]),
    ...inner,
    ...(after === undefined || last === undefined
      ? []
      : [{ number: numbers.at(-1) ?? 0, source: last, sink: outerEnd(after, last) }]),
  ];
}

function stageEnd(stage: Stage, input: PlanInput): End<'stage'> {
  return { role: 'stage', session: sessionOf(stage, input), process: okStatuses(stage) !== undefined };
}

/** The user's descriptors are on this machine; nothing is wherever it is wanted. */
function outerEnd<Role extends 'stdin' | 'stdout' | 'null'>(role: Role, neighbour: End<'stage'>): End<Role> {
  return { role, session: role === 'null' ? neighbour.session : LOCAL, process: false };
}

function planLink(ends: LinkEnds, input: PlanInput): PlannedLink {
  const { number, source, sink } = ends;
  if (source.session !== sink.session) return planHop(ends, input);
  const { session } = source;
  if (source.process && sink.process) return { number, kind: 'pipe', session };
  if (sink.process && source.role !== 'stage') return { number, kind: source.role, session };
  if (source.process && sink.role !== 'stage') return { number, kind: sink.role, session };
  return { number, kind: 'local', session, source: source.role, sink: sink.role, buffer: input.settings.bufferBytes };
}

function planHop(linkEnds: LinkEnds, input: PlanInput): PlannedLink {
  const { number, source, sink } = linkEnds;
  const from = factsOf(source.session, input);
  const to = factsOf(sink.session, input);
  const route = routeHop(from, to, input);
  if (route.candidates.length === 0) {
    throw input.settings.transport === 'rdma' ? noRdma(linkEnds, input) : noRoute(from, to);
  }
  const { ports, compressLevel, jobs, limitBytesPerS, numa, bufferBytes, poll } = input.settings;
  const ends = { from: from.id, to: to.id, source: source.role, sink: sink.role };
  const stream = { compress: compressLevel, jobs, limit: limitBytesPerS, numa: numa === 'auto' };
  return { number, kind: 'hop', ...ends, ...route, ports, poll, ...stream, buffer: bufferBytes };
}

function noRoute(from: SessionFacts, to: SessionFacts): HopError {
  const pair = `${from.label} and ${to.label}`;
  return new HopError('no_route', `no address is known for a hop between ${pair} (give one: --data ${to.label}=ADDR)`);
}

function noRdma({ source, sink }: LinkEnds, input: PlanInput): HopError {
  const [from, to] = [factsOf(source.session, input), factsOf(sink.session, input)];
  const lacks = missingForRdma(from, to, input).join('; ');
  const advice = `${avoidance(source.role, sink.role)}--transport auto uses TCP there`;
  return new HopError('no_route', `cannot use RDMA from ${from.label} to ${to.label}: ${lacks} (${advice})`);
}

/** A hop that carries the user's own input or output is often not the one that RDMA was asked for. */
function avoidance(source: LinkSource, sink: LinkSink): string {
  if (source === 'stdin') return '--stdin none sends nothing from here; ';
  return sink === 'stdout' ? '> /dev/null drops the output on its host; ' : '';
}

/** In the order in which the plan first meets them. */
function sessionsOf(segments: readonly Segment[], input: PlanInput): readonly PlannedSession[] {
  const ids = segments.flatMap(({ links, stages }) => [
    ...links.flatMap((link) => (link.kind === 'hop' ? [link.from, link.to] : [link.session])),
    ...stages.map(({ session }) => session),
  ]);
  return [...new Set(ids)].map((id) => ({ id, label: factsOf(id, input).label }));
}

function sessionOf(stage: Stage, { stageSessions }: PlanInput): SessionId {
  const session = stageSessions[stage.number - 1];
  if (session === undefined) throw new Error(`stage ${stage.number} has no session`);
  return session;
}

function factsOf(id: SessionId, { sessions }: PlanInput): SessionFacts {
  const facts = sessions.get(id);
  if (facts === undefined) throw new Error(`session ${id} is not open`);
  return facts;
}
