/** The plan as text, for --dry-run. Keys are not part of a plan, so none can show. */
import type {
  Candidate,
  HopLink,
  LocalLink,
  Plan,
  PlannedLink,
  PlannedStage,
  Segment,
  SessionId,
} from '../model/plan.ts';
import { formatLimit } from '../model/units.ts';

/** A line for each stage, link and candidate of a hop, in the order in which the data flows. */
export function describePlan(plan: Plan): readonly string[] {
  const labels = new Map(plan.sessions.map(({ id, label }) => [id, label]));
  const describe = (segment: Segment) => describeSegment(segment, labels);
  if (plan.segments.length === 1) return plan.segments.flatMap(describe);
  return plan.segments.flatMap((segment) => [
    `part ${segment.number} of ${plan.segments.length}`,
    ...describe(segment),
  ]);
}

/** A candidate of a hop, for people: `rdma mlx5_0, RoCE v2, 100 Gb/s`, `address of ssh`. */
export function candidateWords({ transport, device, why }: Candidate): string {
  return device === null ? why : `${transport} ${device}, ${why}`;
}

type Labels = ReadonlyMap<SessionId, string>;

function describeSegment({ stages, links }: Segment, labels: Labels): readonly string[] {
  const lineOf = (number: number | undefined, nothing: string) =>
    links
      .filter((link) => link.number === number)
      .flatMap((link) => [describeLink(link, nothing, labels), ...describeCandidates(link, labels)]);
  return [
    ...lineOf(stages[0]?.in, 'no input: end of file at once'),
    ...stages.flatMap((planned) => [describeStage(planned), ...lineOf(planned.out, 'output is dropped')]),
  ];
}

function describeStage({ stage }: PlannedStage): string {
  return `stage ${stage.number} ${stage.host.label}: ${stage.text}`;
}

/** @param nothing what a `null` link means in its place. */
function describeLink(link: PlannedLink, nothing: string, labels: Labels): string {
  switch (link.kind) {
    case 'hop':
      return `${place(link.source, link.from, labels)}→${place(link.sink, link.to, labels)} ${[link.why, ...streamWords(link)].join(', ')}`;
    case 'local':
      return `${describeLocal(link, labels)}, confirmed to its end`;
    case 'pipe':
      return `local pipe on ${nameOf(link.session, labels)}`;
    case 'null':
      return nothing;
    case 'stdin':
      return 'standard input, directly';
    case 'stdout':
      return 'standard output, directly';
  }
}

/** The processing of the stream that the user asked for. */
function streamWords({ compress, limit }: HopLink): readonly string[] {
  return [
    ...(compress === 0 ? [] : [`compressed (zstd, level ${compress})`]),
    ...(limit === 0 ? [] : [`at most ${formatLimit(limit)}`]),
  ];
}

function describeLocal(link: LocalLink, labels: Labels): string {
  const [from, to] = [place(link.source, link.session, labels), place(link.sink, link.session, labels)];
  return from === to ? `within ${from}` : `${from}→${to}`;
}

/** The candidates of a hop, in the order in which they are tried, a line each. */
function describeCandidates(link: PlannedLink, labels: Labels): readonly string[] {
  if (link.kind !== 'hop') return [];
  return link.candidates.map(
    (candidate, index) => `  ${index === 0 ? '' : 'else '}${describeCandidate(candidate, link, labels)}`,
  );
}

function describeCandidate(candidate: Candidate, link: HopLink, labels: Labels): string {
  const dialer = nameOf(candidate.dialler === 'sender' ? link.from : link.to, labels);
  if (candidate.way === 'forward') return `${dialer} ${candidate.why}`;
  const from = candidate.from === null ? '' : ` from ${candidate.from}`;
  const other = candidate.transport === link.transport ? '' : `${candidate.transport}, `;
  return `${dialer} dials ${candidate.host}${from} (${other}${candidateWords(candidate)})`;
}

function place(role: HopLink['source'] | HopLink['sink'], session: SessionId, labels: Labels): string {
  if (role === 'stdin') return 'standard input';
  if (role === 'stdout') return 'standard output';
  return role === 'null' ? 'nothing' : nameOf(session, labels);
}

function nameOf(session: SessionId, labels: Labels): string {
  return labels.get(session) ?? session;
}
