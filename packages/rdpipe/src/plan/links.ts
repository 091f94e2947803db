/** A segment of the plan as the request to one agent describes it. */
import type { HopLink, PlannedLink, PlannedStage, Segment, SessionId } from '../model/plan.ts';
import type { AgentLink, AgentStage, HopOpen } from '../model/protocol.ts';

/** The keys of hops and local links by link number, 64 hexadecimal digits each. */
export type LinkKeys = ReadonlyMap<number, string>;

/** Settings that are the same for all hops and local links of a run. */
export type OpenSettings = Pick<HopOpen, 'run' | 'connect_timeout_ms' | 'stall_timeout_ms'>;

export function agentLinks(
  segment: Segment,
  session: SessionId,
  keys: LinkKeys,
  settings: OpenSettings,
): readonly AgentLink[] {
  return segment.links.flatMap((link) => agentLink(link, session, keys, settings));
}

export function agentStages(segment: Segment, session: SessionId): readonly AgentStage[] {
  return segment.stages.filter((planned) => planned.session === session).map(agentStage);
}

/** The links that need a key. */
export function keyedLinks(segment: Segment): readonly number[] {
  return segment.links.filter(({ kind }) => kind === 'hop' || kind === 'local').map(({ number }) => number);
}

function agentLink(
  link: PlannedLink,
  session: SessionId,
  keys: LinkKeys,
  settings: OpenSettings,
): readonly AgentLink[] {
  if (link.kind === 'hop') return hopEnd(link, session, keys, settings);
  if (link.session !== session) return [];
  const { number, kind } = link;
  if (kind !== 'local') return [{ link: number, kind }];
  const { source, sink, buffer } = link;
  const open = { ...settings, key: keyOf(number, keys), hop: number, encrypt: 'never', buffer } as const;
  return [{ link: number, kind, source, sink, open }];
}

function hopEnd(link: HopLink, session: SessionId, keys: LinkKeys, settings: OpenSettings): readonly AgentLink[] {
  if (session !== link.from && session !== link.to) return [];
  const { number, encrypt, compress, jobs, limit, numa, buffer, ports, poll, bind } = link;
  const stream = { encrypt, compress, jobs, limit, numa, buffer };
  const both = { ...settings, key: keyOf(number, keys), hop: number, ...stream, ports, poll };
  const base = { link: number, kind: 'hop' } as const;
  return session === link.from
    ? [{ ...base, end: 'send', source: link.source, open: { ...both, bind: bind.sender } }]
    : [{ ...base, end: 'recv', sink: link.sink, open: { ...both, bind: bind.receiver } }];
}

function agentStage({ stage, in: input, out }: PlannedStage): AgentStage {
  const { number } = stage;
  switch (stage.kind) {
    case 'command': {
      const { shell, ok } = stage;
      const ends = { in: wanted(input), out: wanted(out) };
      return { stage: number, kind: 'command', command: hex(stage.command), shell, ok, ...ends };
    }
    case 'source':
      return { stage: number, kind: 'source', word: hex(stage.word), out: wanted(out) };
    case 'sink':
      return { stage: number, kind: 'sink', word: hex(stage.word), append: stage.append, in: wanted(input) };
    case 'tree':
      return { stage: number, kind: 'tree', settings: stage.settings, in: wanted(input), out: wanted(out) };
  }
}

function keyOf(link: number, keys: LinkKeys): string {
  const key = keys.get(link);
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
