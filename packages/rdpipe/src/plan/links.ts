/** A segment of the plan in the form of the request to one agent. */
import type { Stage } from '../model/pipeline.ts';
import type { HopLink, LocalLink, PlannedLink, PlannedStage, Segment, SessionId } from '../model/plan.ts';
import type { AgentLink, AgentPart, AgentStage, HopEnd, HopOpen } from '../model/protocol.ts';

/** The keys of hops and local links by link number, 64 hexadecimal digits each. */
export interface LinkKeys {
  readonly links: ReadonlyMap<number, string>;
  /** The keys of signed chains, by the number of the first link. */
  readonly chains: ReadonlyMap<number, ChainKeys>;
}

/** Ed25519: the seed signs, the public key verifies. 64 hexadecimal digits each. */
export interface ChainKeys {
  readonly seed: string;
  readonly publicKey: string;
}

/**
 * Returns the links of a segment that have an end on the session's host.
 * @throws Error if a hop or local link has no key.
 */
export function agentLinks(segment: Segment, session: SessionId, keys: LinkKeys, run: string): readonly AgentLink[] {
  return segment.links.flatMap((link) => {
    const links = agentLink(link, session, keys, run);
    return mayUseRdma(link, segment) ? links.map((end) => (end.kind === 'hop' ? { ...end, rdma: true } : end)) : links;
  });
}

/** Returns true if RDMA is tried for the link, or for another hop of its chain: a repair may join hosts of both. */
export function mayUseRdma(link: PlannedLink, { links }: Segment): boolean {
  const streamOf = ({ chain, number }: PlannedLink) => chain?.head ?? number;
  const hops = links.filter((other) => other.kind === 'hop' && streamOf(other) === streamOf(link));
  return hops.some((hop) => hop.kind === 'hop' && hop.candidates.some(({ transport }) => transport === 'rdma'));
}

/** Returns the stages of a segment on the session's host. */
export function agentStages(segment: Segment, session: SessionId): readonly AgentStage[] {
  return segment.stages.filter((planned) => planned.session === session).map(agentStage);
}

/** Returns the numbers of the first links of signed chains. */
export function signedChains({ links }: Segment): readonly number[] {
  return [...new Set(links.flatMap(({ chain }) => (chain?.isSigned === true ? [chain.head] : [])))];
}

/** Returns the numbers of the links that need a key. */
export function keyedLinks(segment: Segment): readonly number[] {
  return segment.links.filter(({ kind }) => kind === 'hop' || kind === 'local').map(({ number }) => number);
}

function agentLink(link: PlannedLink, session: SessionId, keys: LinkKeys, run: string): readonly AgentLink[] {
  if (link.kind === 'hop') return hopEnd(link, session, keys, run);
  if (link.session !== session) return [];
  const { number, kind } = link;
  if (kind !== 'local') return [{ link: number, kind }];
  const { source, sink } = link;
  const key = keyOf(number, keys);
  const chain = { ...chainOpen(link, 'send', keys), ...chainOpen(link, 'recv', keys) };
  const open = { ...link.open, run, key, hop: number, encrypt: 'never', ...chain } as const;
  return [{ link: number, kind, source, ...relayOf(link), sink, open }];
}

function hopEnd(link: HopLink, session: SessionId, keys: LinkKeys, run: string): readonly AgentLink[] {
  const { number } = link;
  const base = { link: number, kind: 'hop' } as const;
  if (session === link.from) {
    return [{ ...base, end: 'send', source: link.source, ...relayOf(link), open: hopOpen(link, 'send', keys, run) }];
  }
  if (session !== link.to) return [];
  return [{ ...base, end: 'recv', sink: link.sink, open: hopOpen(link, 'recv', keys, run) }];
}

/**
 * Returns the settings of one end of a hop.
 * @throws Error if the hop has no key.
 */
export function hopOpen(link: HopLink, end: HopEnd, keys: LinkKeys, run: string): HopOpen {
  const { number, bind } = link;
  const own = { bind: end === 'send' ? bind.sender : bind.receiver, ...chainOpen(link, end, keys) };
  return { ...link.open, run, key: keyOf(number, keys), hop: number, ...own };
}

/** Only the first sender gets the seed. */
function chainOpen({ chain, open }: HopLink | LocalLink, end: HopEnd, { chains }: LinkKeys): Partial<HopOpen> {
  if (chain === undefined) return {};
  const behind = end === 'send' ? chain.receivers : chain.receivers - 1;
  const common = { chain: true, behind, stall_timeout_ms: chainStallMs(open.stall_timeout_ms) } as const;
  const keys = chains.get(chain.head);
  if (keys === undefined) return common;
  if (end === 'recv') return { ...common, verify: keys.publicKey };
  return chain.relay === undefined ? { ...common, sign: keys.seed } : common;
}

/** Shorter than for other hops, 4 s for the default of 60 s: a silent host delays all others, and can be replaced. */
function chainStallMs(stallMs: number): number {
  return Math.min(stallMs, Math.max(4000, Math.floor(stallMs / 15)));
}

function relayOf({ chain }: PlannedLink): { readonly relay?: number } {
  return chain?.relay === undefined ? {} : { relay: chain.relay };
}

function agentStage({ stage, in: input, out }: PlannedStage): AgentStage {
  const { number } = stage;
  switch (stage.kind) {
    case 'command': {
      const { shell, ok, lenient } = stage;
      const how = { shell, ok, ...(lenient && { lenient }), in: wanted(input), out: wanted(out) };
      return { stage: number, kind: 'command', command: hex(stage.command), ...how, ...partOf(stage) };
    }
    case 'source':
      return { stage: number, kind: 'source', word: hex(stage.word), out: wanted(out), ...partOf(stage) };
    case 'sink': {
      const { append } = stage;
      return { stage: number, kind: 'sink', word: hex(stage.word), append, in: wanted(input), ...partOf(stage) };
    }
    case 'tree':
      return {
        stage: number,
        kind: 'tree',
        settings: stage.settings,
        ...(stage.ins === undefined ? { in: wanted(input) } : { ins: stage.ins }),
        out: wanted(out),
      };
    case 'gather': {
      const { mode, ins, labels } = stage;
      return { stage: number, kind: 'gather', mode, ins, ...(labels && { labels }), out: wanted(out) };
    }
    case 'forward':
      return { stage: number, kind: 'forward', in: wanted(input), out: wanted(out) };
  }
}

function partOf({ host, part }: Stage): { readonly part?: AgentPart } {
  return part === undefined ? {} : { part: { host: host.name, rank: part.rank, width: part.width } };
}

function keyOf(link: number, { links }: LinkKeys): string {
  const key = links.get(link);
  if (key === undefined) throw new Error(`link ${link} has no key`);
  return key;
}

function wanted(link: number | undefined): number {
  if (link === undefined) throw new Error('a stage lacks a link');
  return link;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
