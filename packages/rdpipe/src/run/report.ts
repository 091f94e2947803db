/** Creates the report from the final state of a run. Pure. */
import { chainWaits, hopWaits, type Limits, longestWait, NO_WAITS, type Waits } from '../model/counters.ts';
import { positionOf } from '../model/pipeline.ts';
import { linkGroups, type Places, placesOf } from '../model/places.ts';
import type { Plan } from '../model/plan.ts';
import type { HopReport, LostHost, ProgramUsage, Report, StageReport } from '../model/report.ts';
import { copyReport } from './copy-report.ts';
import { describeAlone } from './failure-messages.ts';
import { firstCause, type Verdict } from './first-cause.ts';
import { sessionOf } from './losses.ts';
import { linkOutcome, stageOutcome } from './outcomes.ts';
import type { LinkEnded, LinkState, RunState, StageState } from './state.ts';

/** Returns everything that happened, and the first cause of a failure. Pure. */
export function makeReport(
  plan: Plan,
  state: RunState,
  lenient: boolean,
  seconds: number,
  absent: readonly LostHost[] = [],
): Report {
  const copy = copyReport(state);
  const places = placesOf(plan);
  const waits = waitsByLink(plan, state);
  const lost = [...absent, ...lostHosts(plan, state)];
  return {
    v: 1,
    run: plan.run,
    ...placedVerdict(firstCause(state, lenient), places),
    seconds,
    stages: state.stages
      .values()
      .filter(({ planned }) => planned.stage.kind !== 'gather')
      .map((stage) => reportStage(state, stage)),
    hops: state.links.values().map((hop) => reportHop(hop, places, waits.get(hop.link.number) ?? NO_WAITS)),
    ...(lost.length === 0 ? {} : { lost }),
    ...(copy === undefined ? {} : { copy }),
    leftBehind: state.leftBehind,
  };
}

/** The verdict with the position of the written stage, as in `stages`, and the rank if its host is one of several. */
function placedVerdict(verdict: Verdict, { stages }: Places): Verdict & Pick<Report, 'causeRank'> {
  const place = verdict.causeStage === null ? undefined : stages.get(verdict.causeStage);
  if (place === undefined) return verdict;
  return { ...verdict, causeStage: place.stage, ...(place.rank !== undefined && { causeRank: place.rank }) };
}

/** Returns the first reason for each lost host. */
function lostHosts({ sessions }: Plan, state: RunState): readonly LostHost[] {
  const byLabel = new Map(sessions.map(({ id, label }) => [label, id]));
  const reasons = new Map<string, string>();
  for (const failure of state.losses) {
    const session = sessionOf(failure, state, byLabel);
    const host = session === undefined ? undefined : state.labels.get(session);
    if (host !== undefined && !reasons.has(host)) reasons.set(host, describeAlone(state, failure));
  }
  return [...reasons].map(([host, message]) => ({ host, message }));
}

function reportStage(state: RunState, stage: StageState): StageReport {
  const { planned, host, exit } = stage;
  return {
    stage: positionOf(planned.stage),
    ...(planned.stage.part && { rank: planned.stage.part.rank }),
    host,
    command: planned.stage.text,
    state: stageOutcome(state, stage),
    code: exit?.code ?? null,
    signal: exit?.signal ?? null,
    userMs: exit?.user_ms ?? 0,
    systemMs: exit?.system_ms ?? 0,
    maxRssKib: exit?.max_rss_kib ?? 0,
  };
}

/** In a chain, a host may wait for the hosts after it. */
function waitsByLink(plan: Plan, { links }: RunState): ReadonlyMap<number, Waits> {
  const groups = plan.segments.flatMap(linkGroups);
  return new Map(
    groups.flatMap((group) => {
      const carried = group.flatMap(({ number }) => links.get(number) ?? []);
      const waits = carried.map(({ ends }) => hopWaits(ends.send.counters, ends.recv.counters));
      const own = group[0]?.chain === undefined ? waits : chainWaits(waits);
      return carried.map(({ link }, index) => [link.number, own[index] ?? NO_WAITS] as const);
    }),
  );
}

function reportHop(hop: LinkState, places: Places, waits: Waits): HopReport {
  const { link, from, to, transport, cipher, ends, notes } = hop;
  const { bytes, wireBytes } = (ends.recv.ended === undefined ? ends.send : ends.recv).counters;
  const seconds = secondsOf(hop);
  const rank = places.links.get(link.number)?.rank;
  return {
    link: link.number,
    ...(rank !== undefined && { rank }),
    ...(link.chain && { chain: link.chain.head }),
    from,
    to,
    transport,
    cipher,
    openssl: opensslOf(hop),
    why: link.kind === 'hop' ? link.why : null,
    devices: devicesOf(hop),
    numa: [ends.send.connected?.numa ?? null, ends.recv.connected?.numa ?? null],
    ...addressesOf(hop),
    rttUs: rttOf(hop),
    // Both ends report each reconnect, but the report of the last one may be missing from either.
    reconnects: Math.max(ends.send.reconnects, ends.recv.reconnects),
    result: linkOutcome(hop),
    bytes,
    compress: link.kind === 'hop' ? link.open.compress : 0,
    wireBytes,
    seconds,
    bytesPerSecond: seconds > 0 ? bytes / seconds : 0,
    bottleneck: longestWait(waits, 1) ?? 'none',
    ...waits,
    ...limitsOf(hop),
    streams: Math.max(ends.send.counters.streams, ends.recv.counters.streams),
    sender: usageOf(ends.send.ended),
    receiver: usageOf(ends.recv.ended),
    notes,
    warnings: warningsOf(hop),
  };
}

function opensslOf({ ends: { send, recv } }: LinkState): readonly string[] {
  return [...new Set([send, recv].flatMap(({ connected }) => connected?.openssl ?? []))];
}

function devicesOf({ ends: { send, recv } }: LinkState): readonly string[] {
  return [send.connected?.device, recv.connected?.device].filter((device) => typeof device === 'string');
}

function addressesOf({ link, ends: { send } }: LinkState): Pick<HopReport, 'local' | 'peer'> {
  if (link.kind === 'local' || send.connected === undefined) return { local: null, peer: null };
  return { local: send.connected.local, peer: send.connected.peer };
}

/** Only the sender's connections carry the stream. */
function limitsOf({ ends: { send } }: LinkState): Limits {
  const { sendBufferMs, receiveWindowMs, sentAgain } = send.counters;
  return { sendBufferMs, receiveWindowMs, sentAgain };
}

function rttOf({ ends: { send, recv } }: LinkState): number | null {
  const measured = [send.counters.rttUs, recv.counters.rttUs].filter((rttUs) => rttUs > 0);
  return measured.length === 0 ? null : Math.min(...measured);
}

function warningsOf({ from, to, ends: { send, recv } }: LinkState): readonly string[] {
  const notes = [
    { host: from, note: send.connected?.note ?? null },
    { host: to, note: recv.connected?.note ?? null },
  ];
  return notes.flatMap(({ host, note }) => (note === null ? [] : [`${host}: ${note}`]));
}

function secondsOf({ connectedAtMs, endedAtMs }: LinkState): number {
  if (connectedAtMs === undefined || endedAtMs === undefined) return 0;
  return (endedAtMs - connectedAtMs) / 1000;
}

function usageOf(ended: LinkEnded | undefined): ProgramUsage | null {
  if (ended === undefined) return null;
  return { userMs: ended.user_ms, systemMs: ended.system_ms, maxRssKib: ended.max_rss_kib };
}
