/** Finds the examined hosts that can relay between two hosts without a direct path. */
import type { Finding } from '../model/examination.ts';
import type { HostRef } from '../model/pipeline.ts';
import { forMeasuring } from '../model/settings.ts';
import { joinPipeline, joinSettings } from '../run/relay-host.ts';
import { attempt, runTrial } from '../run/trial.ts';
import { ok, warn } from './finding.ts';
import type { GatherContext } from './gather.ts';

/**
 * Joins each of `others` with both hosts, without relays. Returns no finding if there are no others.
 * @throws only the signal's reason
 */
export async function checkRelays(
  pair: { readonly from: HostRef; readonly to: HostRef },
  others: readonly HostRef[],
  context: GatherContext,
): Promise<readonly Finding[]> {
  if (others.length === 0) return [];
  const answers = await Promise.all(
    others.map(async (other) => {
      const joins = await Promise.all([canJoin(pair.from, other, context), canJoin(other, pair.to, context)]);
      return joins.every((isJoined) => isJoined) ? [other.label] : [];
    }),
  );
  const relays = answers.flat();
  const ends = `${pair.from.label} and ${pair.to.label}`;
  if (relays.length > 0) return [ok('relay', `${relays.join(', ')} can relay between ${ends} (--relay ${relays[0]})`)];
  const names = others.map(({ label }) => label).join(', ');
  const fix = 'name more hosts, or the addresses at which others reach them: --data HOST=ADDRESS';
  return [warn('relay', `no direct path from ${names} to both ${ends}`, fix)];
}

async function canJoin(from: HostRef, to: HostRef, context: GatherContext): Promise<boolean> {
  const settings = joinSettings(forMeasuring(context.settings));
  const report = await attempt(context, () => runTrial(joinPipeline(from, to), settings, context, () => {}));
  return !(report instanceof Error) && report.status === 0;
}
