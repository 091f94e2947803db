/** The plan as text, for --dry-run. A plan contains no keys, so the text cannot reveal any. */
import { inputsOf, positionOf } from '../model/pipeline.ts';
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
import { mayUseRdma } from './links.ts';

/** Returns one line per stage, link and candidate of a hop, in the order of the data flow. */
export function describePlan(plan: Plan): readonly string[] {
  const labels = new Map(plan.sessions.map(({ id, label }) => [id, label]));
  const describe = (segment: Segment) => describeSegment(segment, labels);
  if (plan.segments.length === 1) return plan.segments.flatMap(describe);
  return plan.segments.flatMap((segment) => [
    `part ${segment.number} of ${plan.segments.length}`,
    ...describe(segment),
  ]);
}

/** Returns a line about the OpenSSL of protected hops, if there are any. `version`: that of the static programs. */
export function describeOpenssl({ segments }: Plan, version: string | undefined): readonly string[] {
  const withRdma = segments.flatMap((segment) =>
    segment.links.flatMap((link) =>
      link.kind === 'hop' && link.open.encrypt !== 'never' ? [mayUseRdma(link, segment)] : [],
    ),
  );
  const own = `OpenSSL ${version ?? 'unknown'}`;
  if (withRdma.length === 0) return [];
  if (!withRdma.includes(true)) return [`hops have ${own}`];
  const others = withRdma.includes(false) ? `, others ${own}` : '';
  return [`hops that may use RDMA have the OpenSSL of their hosts${others}`];
}

/** Returns the user's words for a candidate: `rdma mlx5_0, RoCE v2, 100 Gb/s`, `ssh address`. */
export function candidateWords({ transport, device, why }: Candidate): string {
  return device === null ? why : `${transport} ${device}, ${why}`;
}

type Labels = ReadonlyMap<SessionId, string>;

function describeSegment({ stages, links }: Segment, labels: Labels): readonly string[] {
  const byNumber = new Map<number | undefined, PlannedLink>(links.map((link) => [link.number, link]));
  const lineOf = (number: number | undefined, nothing: string) => {
    const link = byNumber.get(number);
    return link === undefined ? [] : [describeLink(link, nothing, labels), ...describeCandidates(link, labels)];
  };
  const described = new Set<number>();
  const into = (planned: PlannedStage) => {
    const ins = inputsOf(planned.stage);
    if (ins !== undefined) return ins.flatMap((link) => lineOf(link, ''));
    const chain = byNumber.get(planned.in)?.chain;
    if (chain === undefined) return lineOf(planned.in, 'no input (end of file at once)');
    if (described.has(chain.head)) return [];
    described.add(chain.head);
    return describeChain(
      links.filter((link) => link.chain?.head === chain.head),
      labels,
    );
  };
  const isRead = new Set<number | undefined>(
    stages.flatMap<number | undefined>(({ stage, in: input }) => inputsOf(stage) ?? [input]),
  );
  const last = stages.filter(({ out }) => out !== undefined && !isRead.has(out));
  return [
    ...stages.flatMap((planned) => [...into(planned), describeStage(planned)]),
    ...last.flatMap(({ out }) => lineOf(out, 'output is discarded')),
  ];
}

/** Describes the hosts in order, then each kind of hop between them once. */
function describeChain(links: readonly PlannedLink[], labels: Labels): readonly string[] {
  const [first] = links;
  const from = first === undefined ? [] : [ends(first, labels)[0]];
  const path = [...from, ...links.map((link) => ends(link, labels)[1])].join('→');
  const kinds = new Map<string, number>();
  for (const link of links) {
    const kind = link.kind === 'hop' ? [link.why, ...streamWords(link)].join(', ') : 'within the host';
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  const counted = [...kinds].map(
    ([kind, count]) => `  ${kinds.size === 1 ? 'each hop' : `${count} of the hops`}: ${kind}`,
  );
  const signed = first?.chain?.isSigned === true ? ', signed by its first sender' : '';
  return [`${path}: chain, each host forwards the stream${signed}`, ...counted];
}

function ends(link: PlannedLink, labels: Labels): readonly [string, string] {
  if (link.kind === 'hop') return [place(link.source, link.from, labels), place(link.sink, link.to, labels)];
  const name = nameOf(link.session, labels);
  return [link.kind === 'local' ? place(link.source, link.session, labels) : name, name];
}

function describeStage({ stage }: PlannedStage): string {
  if (stage.kind === 'gather') {
    const how = stage.mode === 'lines' ? 'whole lines as they arrive' : 'one host after another';
    return `gathered on ${stage.host.label}: ${how}`;
  }
  return `stage ${positionOf(stage)} ${stage.host.label}: ${stage.text}`;
}

/** @param nothing the description of a `null` link in this place. */
function describeLink(link: PlannedLink, nothing: string, labels: Labels): string {
  switch (link.kind) {
    case 'hop':
      return `${place(link.source, link.from, labels)}→${place(link.sink, link.to, labels)} ${[link.why, ...streamWords(link)].join(', ')}`;
    case 'local':
      return `${describeLocal(link, labels)}, acknowledged to the end`;
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

/** Describes the processing of the stream that the user requested. */
function streamWords({ open: { compress, limit } }: HopLink): readonly string[] {
  return [
    ...(compress === 0 ? [] : [`compressed (zstd, level ${compress})`]),
    ...(limit === 0 ? [] : [`at most ${formatLimit(limit)}`]),
  ];
}

function describeLocal(link: LocalLink, labels: Labels): string {
  const [from, to] = [place(link.source, link.session, labels), place(link.sink, link.session, labels)];
  return from === to ? `within ${from}` : `${from}→${to}`;
}

/** Returns one line per candidate of a hop, in the order in which they are tried. */
function describeCandidates(link: PlannedLink, labels: Labels): readonly string[] {
  if (link.kind !== 'hop') return [];
  const ways = link.candidates.map((candidate) => describeCandidate(candidate, link, labels));
  const relay = link.relay === undefined ? [] : [`relayed by ${link.relay}`];
  return [...ways, ...relay].map((way, index) => `  ${index === 0 ? '' : 'otherwise '}${way}`);
}

function describeCandidate(candidate: Candidate, link: HopLink, labels: Labels): string {
  const dialer = nameOf(candidate.dialer === 'sender' ? link.from : link.to, labels);
  if (candidate.way !== 'address') return `${dialer} ${candidate.why}`;
  const other = candidate.transport === link.transport ? '' : `${candidate.transport}, `;
  const addresses = [candidate, ...(candidate.others ?? [])].map(({ host, from }) =>
    from === null ? host : `${host} from ${from}`,
  );
  return `${dialer} dials ${addresses.join(' and ')} (${other}${candidateWords(candidate)})`;
}

function place(role: HopLink['source'] | HopLink['sink'], session: SessionId, labels: Labels): string {
  if (role === 'stdin') return 'standard input';
  if (role === 'stdout') return 'standard output';
  return role === 'null' ? 'nothing' : nameOf(session, labels);
}

function nameOf(session: SessionId, labels: Labels): string {
  return labels.get(session) ?? session;
}
