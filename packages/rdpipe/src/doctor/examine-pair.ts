/** Examines two neighbouring hosts: their networks, then a second of data in each direction. */
import type { Watcher } from '../model/events.ts';
import type { Finding, Measurement, PairExamination } from '../model/examination.ts';
import type { HostRef } from '../model/pipeline.ts';
import type { Transport } from '../model/protocol.ts';
import { type HopEndAddresses, placeOf } from '../plan/addresses.ts';
import { LOCAL, type PlanInput, type SessionFacts } from '../plan/facts.ts';
import { attempt, runTrial } from '../run/trial.ts';
import { type HostFacts, known } from './facts.ts';
import { fail, ok } from './finding.ts';
import type { GatherContext } from './gather.ts';
import { checkSendBuffer } from './kernel-checks.ts';
import { checkPair, transportsBetween } from './pair-checks.ts';
import { failedProbe, judgeProbe, type ProbeResult, probePipeline, probeSettings } from './probe.ts';
import { checkRelays } from './relay-check.ts';
import type { Pair } from './subjects.ts';

/**
 * Examines the connection of two hosts: the networks that they report, then data sent between them.
 * @throws only the signal's reason
 */
export async function examinePair(
  pair: Pair,
  gathered: readonly HostFacts[],
  context: GatherContext,
  watcher: Watcher,
): Promise<PairExamination> {
  const hosts = [pair.from.label, pair.to.label] as const;
  const from = endOf(pair.from, gathered, context);
  const to = endOf(pair.to, gathered, context);
  if (from === undefined || to === undefined) return { hosts, checks: [unreached(pair, [from, to])], measured: [] };
  if (from.facts.id === to.facts.id) {
    return { hosts, checks: [ok('network', 'same host: connected by a local pipe')], measured: [] };
  }
  const places = placesOf(from, to, gathered, context);
  const results: ProbeResult[] = [];
  for (const transport of transportsBetween(...places, pair.wanted)) {
    results.push(await probe(transport, from, to, context, watcher));
    results.push(await probe(transport, to, from, context, watcher));
  }
  const relays = results.some(({ isApart }) => isApart) ? await findRelays(pair, [from, to], gathered, context) : [];
  const measured: Measurement[] = results.flatMap((result) => result.measured ?? []);
  const checks: Finding[] = [
    ...checkPair(...places, pair.wanted),
    ...results.map(({ finding }) => finding),
    ...measured.flatMap((one) => checkSendBuffer(one, sendBufferOf(one.from, gathered))),
    ...relays,
  ];
  return { hosts, checks, measured };
}

function sendBufferOf(name: string, gathered: readonly HostFacts[]): number | null {
  return known(gathered.find(({ label }) => label === name)?.system)?.sendBufferBytes ?? null;
}

interface End {
  readonly host: HostRef;
  readonly facts: SessionFacts;
}

/** Undefined if no agent answered. */
function endOf(host: HostRef, gathered: readonly HostFacts[], context: GatherContext): End | undefined {
  const found = gathered.find(({ label }) => label === host.label);
  const facts = found && sessionFacts(found, context);
  return facts && { host, facts };
}

function sessionFacts({ session, label, hello }: HostFacts, { sessions }: GatherContext): SessionFacts | undefined {
  const said = known(hello);
  if (session === undefined || said === undefined) return undefined;
  return { id: session, label, hello: said, forwards: sessions.all.get(session)?.forward !== undefined };
}

/** This machine relays over ssh, without an option. */
function findRelays(
  pair: Pair,
  ends: readonly End[],
  gathered: readonly HostFacts[],
  context: GatherContext,
): Promise<readonly Finding[]> {
  const own = new Set([LOCAL, ...ends.map(({ facts }) => facts.id)]);
  const others = gathered.flatMap(({ host }) => {
    const end = endOf(host, gathered, context);
    return end === undefined || own.has(end.facts.id) ? [] : [host];
  });
  return checkRelays(pair, others, context);
}

function unreached({ from, to }: Pair, ends: readonly (End | undefined)[]): Finding {
  const missing = [from, to].filter((_, index) => ends[index] === undefined).map(({ label }) => label);
  const hosts = missing.join(' and ');
  return fail('network', `not checked: no agent on ${hosts}`, `fix ${hosts} first`);
}

/** The addresses of both ends, as in a plan for the probe's pipeline. */
function placesOf(
  from: End,
  to: End,
  gathered: readonly HostFacts[],
  context: GatherContext,
): readonly [HopEndAddresses, HopEndAddresses] {
  const open = gathered.flatMap((host) => sessionFacts(host, context) ?? []);
  const input: PlanInput = {
    run: '',
    pipeline: probePipeline(from.host, to.host),
    settings: context.settings,
    stageSessions: [from.facts.id, to.facts.id],
    sessions: new Map(open.map((facts) => [facts.id, facts])),
    stdin: 'null',
    stdout: 'drop',
  };
  return [placeOf(from.facts, to.facts, input), placeOf(to.facts, from.facts, input)];
}

/** Sends data for a second in an ordinary run. */
async function probe(
  transport: Transport,
  from: End,
  to: End,
  context: GatherContext,
  { doing, emit }: Watcher,
): Promise<ProbeResult> {
  const ends = { from: from.host.label, to: to.host.label, hellos: [from.facts.hello, to.facts.hello] as const };
  doing(`moving data from ${ends.from} to ${ends.to} over ${transport}`);
  const settings = probeSettings(context.settings, transport);
  const report = await attempt(context, () => runTrial(probePipeline(from.host, to.host), settings, context, emit));
  if (report instanceof Error) return failedProbe(transport, ends, report.message);
  return judgeProbe(transport, ends, report);
}
