/** Finds the neighbours that have no path to each other, and has a relay host (--relay HOST) join them. */
import type { Emit } from '../model/events.ts';
import { commandStage, type HostRef, type Pipeline } from '../model/pipeline.ts';
import type { Settings } from '../model/settings.ts';
import { type Neighbours, relayable, relayHost, withRelays } from '../plan/relay-stages.ts';
import type { Sessions } from '../session/open.ts';

/** Whether the two stages of a pipeline can be joined directly. */
export type CanJoin = (pair: Pipeline, settings: Settings) => Promise<boolean>;

/**
 * The pipeline with a stage of the relay host between neighbours that cannot be joined, a warning for each; the same
 * one where no host is to relay.
 * @throws what `canJoin` throws.
 */
export async function relayByHost(
  pipeline: Pipeline,
  settings: Settings,
  sessions: Pick<Sessions, 'idOf'>,
  canJoin: CanJoin,
  emit: Emit,
): Promise<Pipeline> {
  const relay = relayHost(pipeline, settings.relay);
  if (relay === undefined) return pipeline;
  const trial: Settings = {
    ...settings,
    relay: 'never',
    timeoutMs: undefined,
    connectTimeoutMs: settings.connectTimeoutMs * TRIAL_SHARE,
  };
  const answers = new Map<string, Promise<boolean>>();
  const isApart = async ({ from, to }: Neighbours) => {
    const key = `${sessions.idOf(from.host)} ${sessions.idOf(to.host)}`;
    const answer = answers.get(key) ?? canJoin(pairOf(from.host, to.host), trial);
    answers.set(key, answer);
    return (await answer) ? [] : [{ from, to }];
  };
  const apart = (await Promise.all(relayable(pipeline, relay, sessions.idOf).map(isApart))).flat();
  const names = new Set(apart.map(({ from, to }) => `${from.host.label}→${to.host.label}`));
  for (const name of names) {
    emit({ kind: 'warning', message: `${name} relayed by ${relay.label}: there is no direct path` });
  }
  return withRelays(pipeline, apart, relay);
}

/** Of the time to connect, which the hops to the relay host have for themselves again. */
const TRIAL_SHARE = 0.5;

/** Nothing of the user's runs, and nothing is sent. */
function pairOf(from: HostRef, to: HostRef): Pipeline {
  return { stages: [commandStage(1, from, ':'), commandStage(2, to, ':')] };
}
