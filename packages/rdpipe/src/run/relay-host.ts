/** Finds neighbours that have no path to each other, and lets a relay host (--relay HOST) join them. */
import type { Emit } from '../model/events.ts';
import { commandStage, type HostRef, type Pipeline } from '../model/pipeline.ts';
import type { Settings } from '../model/settings.ts';
import { type Neighbours, relayable, relayHost, withRelays } from '../plan/relay-stages.ts';
import type { Sessions } from '../session/open.ts';

/** Resolves with whether the two stages of a pipeline can be joined directly. */
export type CanJoin = (pair: Pipeline, settings: Settings) => Promise<boolean>;

/**
 * Adds a stage on the relay host between neighbours that cannot be joined, with a warning for each pair of hosts.
 * Returns the same pipeline if there is no relay host.
 * @throws the errors of `canJoin`.
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
  const trial = joinSettings(settings);
  const answers = new Map<string, Promise<boolean>>();
  const isApart = async ({ from, to }: Neighbours) => {
    const key = `${sessions.idOf(from.host)} ${sessions.idOf(to.host)}`;
    const answer = answers.get(key) ?? canJoin(joinPipeline(from.host, to.host), trial);
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

/**
 * Fraction of the connect timeout, 3 s by default: a firewall that drops packets silently costs this time once. The
 * hops to the relay host then have the full timeout again.
 */
const TRIAL_SHARE = 0.3;

/** The settings of a run that shows whether two hosts have a path to each other. */
export function joinSettings(settings: Settings): Settings {
  return {
    ...settings,
    relay: 'never',
    timeoutMs: undefined,
    connectTimeoutMs: settings.connectTimeoutMs * TRIAL_SHARE,
  };
}

/** The pipeline of that run: no command of the user, no data. */
export function joinPipeline(from: HostRef, to: HostRef): Pipeline {
  return { stages: [commandStage(1, from, ':'), commandStage(2, to, ':')] };
}
