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
 * The host that may have to join some neighbours; undefined: none is named, or there are none that it could join.
 * @throws UsageError where a stage stands on several hosts.
 */
export function relayHost(pipeline: Pipeline, relay: Relay): HostRef | undefined {
  if (typeof relay === 'string') return undefined;
  if (pipeline.stages.some(({ part }) => part !== undefined)) {
    throw new UsageError('--relay HOST cannot be used with a stage on several hosts');
  }
  const byName = ({ name, label }: HostRef) => (name === '' ? LOCAL : `host ${label}`);
  return relayable(pipeline, relay, byName).length === 0 ? undefined : relay;
}

/** The neighbours on two hosts that a third one can join. This machine reaches every host by ssh anyway. */
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

export function areRelayable(from: SessionId, to: SessionId, relay: SessionId): boolean {
  return new Set([from, to, relay, LOCAL]).size === 4;
}

/** Every byte passes a `cat` on the relay host between these neighbours; later stages are numbered on. */
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
