/** The stages of a relay host between neighbours that have no path to each other. Pure. */
import { UsageError } from '../model/errors.ts';
import { commandStage, type HostRef, type Pipeline, type Relay, type Stage } from '../model/pipeline.ts';
import type { SessionId } from '../model/plan.ts';
import { LOCAL } from './facts.ts';

/** Two neighbours, joined by a link. */
export interface Neighbours {
  readonly from: Stage;
  readonly to: Stage;
}

/**
 * Returns the host that may have to join some neighbours; undefined if none is named, or there are no neighbours that
 * it could join.
 * @throws UsageError if a stage runs on several hosts.
 */
export function relayHost(pipeline: Pipeline, relay: Relay): HostRef | undefined {
  if (typeof relay === 'string') return undefined;
  if (pipeline.stages.some(({ part }) => part !== undefined)) {
    throw new UsageError('--relay HOST cannot be used with a stage on several hosts');
  }
  const byName = ({ name, label }: HostRef) => (name === '' ? LOCAL : `host ${label}`);
  return relayable(pipeline, relay, byName).length === 0 ? undefined : relay;
}

/**
 * Returns the neighbours on two hosts that a third host can join. Excludes this machine, which reaches every host over
 * ssh anyway.
 */
export function relayable(
  { stages }: Pipeline,
  relay: HostRef,
  idOf: (host: HostRef) => SessionId,
): readonly Neighbours[] {
  return stages.slice(1).flatMap((to, index) => {
    const from = stages[index] ?? to;
    const isHop = areRelayable(idOf(from.host), idOf(to.host), idOf(relay));
    return isHop && to.kind !== 'source' ? [{ from, to }] : [];
  });
}

/** True if all three are different, and none is this machine. */
export function areRelayable(from: SessionId, to: SessionId, relay: SessionId): boolean {
  return new Set([from, to, relay, LOCAL]).size === 4;
}

/**
 * Adds a stage `cat` on the relay host between these neighbours, through which every byte passes. Renumbers later
 * stages.
 */
export function withRelays({ stages }: Pipeline, apart: readonly Neighbours[], relay: HostRef): Pipeline {
  const [first, ...others] = stages;
  const added = others.flatMap((to): readonly Stage[] => {
    const pair = apart.find((neighbours) => neighbours.to === to);
    return pair === undefined ? [to] : [relayStage(pair, relay), to];
  });
  return { stages: [first, ...added.map((stage, index) => ({ ...stage, number: index + 2 }))] };
}

function relayStage({ from, to }: Neighbours, relay: HostRef): Stage {
  return { ...commandStage(0, relay, 'exec cat'), text: `cat (relays ${from.host.label}→${to.host.label})` };
}
