/** Creates the plan from pipeline, settings and facts. Pure: the same input gives the same plan. */
import { HopError } from '../model/errors.ts';
import { fieldsOf, type HopOptions } from '../model/option-fields.ts';
import type { Stage } from '../model/pipeline.ts';
import type {
  Candidate,
  HopLink,
  Plan,
  PlannedLink,
  PlannedSession,
  PlannedStage,
  Segment,
  SessionId,
} from '../model/plan.ts';
import type { LinkSink, LinkSource, LocalOptions } from '../model/protocol.ts';
import { factsOf, type PlanInput, type SessionFacts } from './facts.ts';
import { endsOf, type LinkEnds } from './link-ends.ts';
import { inNearOrder } from './near-order.ts';
import { areRelayable } from './relay-stages.ts';
import { missingForRdma, routeHop } from './route.ts';
import { type SegmentShape, splitSegments } from './segments.ts';

/** The input, with what is the same for all links. */
interface Planning extends PlanInput {
  readonly options: HopOptions;
  readonly localOptions: LocalOptions;
}

/** @throws HopError if two neighbours have no route to each other, or none over the requested transport. */
export function makePlan(input: PlanInput): Plan {
  const planning = planningOf(input);
  const segments = splitSegments(input.pipeline, input).map((shape, index) => planSegment(shape, index + 1, planning));
  return { run: input.run, sessions: sessionsOf(segments, input), segments };
}

/**
 * Returns the hop that joins two hosts of a chain when those between them are lost.
 * @throws HopError as makePlan
 */
export function planRepair(sender: HopLink, receiver: HopLink, input: PlanInput): HopLink {
  const from = { role: sender.source, session: sender.from, process: false };
  const to = { role: receiver.sink, session: receiver.to, process: false };
  const { number, chain } = receiver;
  const hop = planHop({ number, source: from, sink: to }, planningOf(input));
  return { ...hop, ...(chain && { chain }), sendNumber: sender.number };
}

function planningOf(input: PlanInput): Planning {
  const options = fieldsOf('hop', input.settings);
  const { buffer, connect_timeout_ms, stall_timeout_ms } = options;
  return { ...input, options, localOptions: { buffer, connect_timeout_ms, stall_timeout_ms } };
}

function planSegment(shape: SegmentShape, number: number, input: Planning): Segment {
  const sessions = new Map(input.pipeline.stages.map((stage, index) => [stage.number, input.stageSessions[index]]));
  const sessionOf = (stage: Stage): SessionId => {
    const session = sessions.get(stage.number);
    if (session === undefined) throw new Error(`stage ${stage.number} has no session`);
    return session;
  };
  const isNear = input.settings.order === 'near';
  const ends = endsOf(shape, {
    sessionOf,
    inChain: (parts, sender) => (isNear ? inNearOrder(parts, sender, sessionOf, input) : parts),
  });
  const links = signedChains(ends.map((each) => planLink(each, input)));
  const ins = new Map(ends.map((link) => [link.to, link.number]));
  const outs = new Map(ends.map((link) => [link.from, link.number]));
  const stages = shape.stages.map((stage): PlannedStage => {
    return { stage, session: sessionOf(stage), in: ins.get(stage.number), out: outs.get(stage.number) };
  });
  return { number, stages, links };
}

function planLink(ends: LinkEnds, input: Planning): PlannedLink {
  const { number, source, sink, chain } = ends;
  if (source.session !== sink.session) return planHop(ends, input);
  const { session } = source;
  const open = input.localOptions;
  const local = { number, kind: 'local', session, source: source.role, sink: sink.role, open } as const;
  if (chain !== undefined) return { ...local, chain };
  if (source.process && sink.process) return { number, kind: 'pipe', session };
  if (sink.process && isUsers(source.role)) return { number, kind: source.role, session };
  if (source.process && sink.role !== 'stage') return { number, kind: sink.role, session };
  return local;
}

function isUsers(role: LinkSource): role is 'stdin' | 'null' {
  return role === 'stdin' || role === 'null';
}

/** The first sender of a chain signs if any hop of the chain is protected. */
function signedChains(links: readonly PlannedLink[]): readonly PlannedLink[] {
  const isProtected = (link: PlannedLink) => link.kind === 'hop' && link.open.encrypt !== 'never';
  const signed = new Set(links.filter(isProtected).map(({ chain }) => chain?.head));
  return links.map((link) =>
    link.chain === undefined ? link : { ...link, chain: { ...link.chain, isSigned: signed.has(link.chain.head) } },
  );
}

function planHop(linkEnds: LinkEnds, input: Planning): HopLink {
  const { number, source, sink, chain } = linkEnds;
  const from = factsOf(source.session, input);
  const to = factsOf(sink.session, input);
  const route = routeHop(from, to, input);
  if (route.candidates.length === 0) {
    throw input.settings.transport === 'rdma' ? noRdma(linkEnds, input) : noRoute(from, to);
  }
  // One literal, because spreading several objects takes most of the time to plan a thousand hops.
  return {
    number,
    kind: 'hop',
    from: from.id,
    to: to.id,
    source: source.role,
    sink: sink.role,
    transport: route.transport,
    candidates: route.candidates,
    bind: route.bind,
    why: route.why,
    open: {
      ...input.options,
      streams: streamsFor(route.candidates, input.options.streams),
      encrypt: route.encrypt,
      ports: input.settings.ports,
    },
    ...(chain && { chain }),
    ...relayOf(linkEnds, input),
  };
}

/** With several addresses of an end, `auto` (0) is a connection for each. */
function streamsFor(candidates: readonly Candidate[], streams: number): number {
  return streams > 0 ? streams : Math.max(0, ...candidates.map(({ others }) => (others ? others.length + 1 : 0)));
}

function relayOf({ source, sink }: LinkEnds, { settings, relaySession }: PlanInput): Pick<HopLink, 'relay'> {
  const { relay } = settings;
  if (typeof relay === 'string' || relaySession === undefined) return {};
  return areRelayable(source.session, sink.session, relaySession) ? { relay: relay.label } : {};
}

function noRoute(from: SessionFacts, to: SessionFacts): HopError {
  const pair = `${from.label} and ${to.label}`;
  return new HopError(
    'no_route',
    `no address is known for a connection between ${pair} (give one with --data ${to.label}=ADDR)`,
  );
}

function noRdma({ source, sink }: LinkEnds, input: PlanInput): HopError {
  const [from, to] = [factsOf(source.session, input), factsOf(sink.session, input)];
  const lacks = missingForRdma(from, to, input).join('; ');
  const advice = `${avoidance(source.role, sink.role)}use --transport auto to allow TCP`;
  return new HopError('no_route', `cannot use RDMA from ${from.label} to ${to.label}: ${lacks} (${advice})`);
}

/** RDMA is often not meant for a hop that carries the user's own input or output. */
function avoidance(source: LinkSource, sink: LinkSink): string {
  if (source === 'stdin') return 'use --stdin none to send nothing from here; ';
  return sink === 'stdout' ? 'use > /dev/null to discard the output on its host; ' : '';
}

/** In the order in which the plan first uses them. */
function sessionsOf(segments: readonly Segment[], input: PlanInput): readonly PlannedSession[] {
  const ids = segments.flatMap(({ links, stages }) => [
    ...links.flatMap((link) => (link.kind === 'hop' ? [link.from, link.to] : [link.session])),
    ...stages.map(({ session }) => session),
  ]);
  return [...new Set(ids)].map((id) => ({ id, label: factsOf(id, input).label }));
}
