// SPDX-License-Identifier: Apache-2.0
// Reads figures from the output of programs.
import type { Report } from '../../packages/rdpipe/src/model/report.ts';
import { type Case, GIB, MIB } from './case.ts';
import type { Figures } from './figures.ts';

export type Transport = 'rdma' | 'tcp';

type CopyReport = Report & { readonly copy?: { readonly failed: number } };

/** For a case whose last part prints all figures. */
export function ofLast(read: (said: string) => Figures): Case['read'] {
  return (said) => read(said.at(-1) ?? '');
}

/** The rate that `drain` measured; with `beganS`, also the time from then to the first byte. */
export function ofDrain(text: string, bytes: number, beganS?: number): Figures {
  const { seconds, firstS } = drainIn(text, bytes);
  return { mb_per_s: bytes / seconds / 1e6, ...(beganS !== undefined && { first_byte_s: firstS - beganS }) };
}

/** The total rate of several `drain` at once, from the first byte of any to the end of the last. */
export function ofDrains(text: string, count: number, bytes: number): Figures {
  const drains = text.split('\n').filter((line) => line.startsWith('drain: '));
  if (drains.length !== count) throw new Error(`${drains.length} ended, not ${count}: ${text.trim()}`);
  const times = drains.map((line) => drainIn(line, bytes));
  const seconds =
    Math.max(...times.map((one) => one.firstS + one.seconds)) - Math.min(...times.map(({ firstS }) => firstS));
  return { mb_per_s: (count * bytes) / seconds / 1e6 };
}

/** The rate from the start of `writes` to the end of `drain`, because bytes that only fill buffers do not count. */
export function ofWrites(text: string, bytes: number): Figures {
  const [beganS] = numbersIn(text, /^writes: from ([\d.]+) s$/m, 'writes');
  const { seconds, firstS } = drainIn(text, bytes);
  return { mb_per_s: bytes / (firstS + seconds - beganS) / 1e6 };
}

function drainIn(text: string, bytes: number): { readonly seconds: number; readonly firstS: number } {
  const words = /^drain: (\d+) bytes in ([\d.]+) s from ([\d.]+) s$/m;
  const [read, seconds, firstS] = numbersIn(text, words, 'drain');
  if (read !== bytes) throw new Error(`${read} bytes arrived, not ${bytes}`);
  return { seconds, firstS };
}

/** The mean time of `count` runs of a command, from the times that bash printed. */
export function ofRuns(text: string, count: number): Figures {
  const [beganS, endedS] = numbersIn(text, /^runs: from ([\d.]+) to ([\d.]+) s$/m, 'the runs');
  return { run_ms: ((endedS - beganS) * 1000) / count };
}

/** The output of `lines read`. */
export function ofLines(text: string, count: number): Figures {
  const words = /^lines: (\d+) lines, median ([\d.]+) us, 99 of 100 within ([\d.]+) us$/m;
  const [read, median_us, most_us] = numbersIn(text, words, 'lines');
  if (read !== count) throw new Error(`${read} lines arrived, not ${count}`);
  return { median_us, most_us };
}

/** `rdpipe --json`: the largest memory of an rdsend or rdrecv. */
export function ofNativePrograms(text: string): Figures {
  const ends = reportIn(text, 'tcp').hops.flatMap(({ sender, receiver }) => [sender, receiver]);
  return { native_rss_mib: Math.max(...ends.map((usage) => usage?.maxRssKib ?? Number.NaN)) / 1024 };
}

/**
 * `rdpipe --json` to one host or a chain: GiB over all hops, divided by the time of all cores. For one hop, divided by
 * the processor time that was used, which gives the upper limit for a chain.
 */
export function ofChain(text: string, bytes: number, cores: number): Figures {
  const { hops } = reportIn(text, 'tcp');
  expectBytes(hops, bytes);
  const usages = hops.flatMap(({ sender, receiver }) => [sender, receiver]);
  const neededS = usages.reduce((sum, usage) => sum + (usage?.userMs ?? Number.NaN) + (usage?.systemMs ?? 0), 0) / 1000;
  const longestS = Math.max(...hops.map(({ seconds }) => seconds));
  const coreS = hops.length === 1 ? neededS : cores * longestS;
  return { gib_per_core_s: (hops.length * bytes) / GIB / coreS };
}

/** `rdcp --json`: the largest memory of a native program; throws if a path was not copied. */
export function ofCopy(text: string): Figures {
  const { stages, hops, copy } = reportIn(text) as CopyReport;
  if (copy?.failed !== 0) throw new Error(`${copy?.failed} paths were not copied`);
  const ends = hops.flatMap(({ sender, receiver }) => [sender, receiver]);
  return { native_rss_mib: Math.max(...[...stages, ...ends].map((usage) => usage?.maxRssKib ?? 0)) / 1024 };
}

/** A MB of ib_send_bw is 2^20 bytes. */
export function ofSendBandwidth(text: string): Figures {
  const [mib] = numbersIn(text, /^ *\d+ +\d+ +[\d.]+ +([\d.]+)/m, 'ib_send_bw');
  return { mb_per_s: (mib * MIB) / 1e6 };
}

/** ib_send_lat prints half a round trip. */
export function ofSendLatency(text: string): Figures {
  const [median, mean] = numbersIn(text, /^ *\d+ +\d+ +[\d.]+ +[\d.]+ +([\d.]+)[ \t]+([\d.]+)/m, 'ib_send_lat');
  return { half_trip_us: mean, median_us: median, trips_per_s: 1e6 / (2 * mean) };
}

/** rstream's last column: the time of a message in one direction. */
export function ofRstreamBandwidth(text: string): Figures {
  return { mb_per_s: MIB / microsecondsIn(text) };
}

export function ofRstreamLatency(text: string): Figures {
  const mean = microsecondsIn(text);
  return { half_trip_us: mean, trips_per_s: 1e6 / (2 * mean) };
}

/** The rate that the receiver measured. */
export function ofIperf(text: string): Figures {
  return { mb_per_s: JSON.parse(text).end.sum_received.bits_per_second / 8e6 };
}

/** `rdsend -v`: from the connection to the receiver's confirmation that all bytes are written. */
export function ofRdsend(text: string, transport: Transport, bytes: number): Figures {
  const [sent, seconds] = numbersIn(text, sentOver(transport), 'rdsend');
  if (sent !== bytes) throw new Error(`rdsend sent ${sent} bytes, not ${bytes}`);
  return { mb_per_s: sent / seconds / 1e6 };
}

/** `rdpipe --json`: the bytes of the first stage, divided by the time of the slowest hop. */
export function ofRdpipe(text: string, transport: Transport, bytes: number): Figures {
  const { hops } = reportIn(text, transport);
  expectBytes(hops, bytes);
  return { mb_per_s: bytes / Math.max(...hops.map((hop) => hop.seconds)) / 1e6 };
}

function expectBytes(hops: Report['hops'], bytes: number): void {
  const different = hops.find((hop) => hop.bytes !== bytes);
  if (different !== undefined) throw new Error(`rdpipe moved ${different.bytes} bytes, not ${bytes}`);
}

/** The report at the end of the events; throws if a hop did not use `transport`. */
export function reportIn(text: string, transport?: Transport): Report {
  const report: Report = JSON.parse(text.split('\n').findLast((line) => line.startsWith('{')) ?? '');
  const ways = report.hops.map((hop) => hop.transport);
  if (transport !== undefined && ways.some((way) => way !== transport))
    throw new Error(`not over ${transport} but ${ways.join(', ')}`);
  return report;
}

/** The output of ping-pong over an rdsend; throws if it did not use this transport. */
export function ofPingPong(text: string, transport: Transport): Figures {
  numbersIn(text, sentOver(transport), 'rdsend');
  const { median_us, mean_us, trips_per_s } = tripsIn(text);
  return { half_trip_us: mean_us / 2, median_us: median_us / 2, trips_per_s };
}

/** The output of ping-pong without rdsend: complete round trips. */
export function ofTrips(text: string): Figures {
  const { median_us, trips_per_s } = tripsIn(text);
  return { median_us, trips_per_s };
}

function tripsIn(text: string): { readonly mean_us: number; readonly median_us: number; readonly trips_per_s: number } {
  const words = /^ping-pong: ([\d.]+) round trips\/s, mean ([\d.]+) us, median ([\d.]+) us$/m;
  const [trips_per_s, mean_us, median_us] = numbersIn(text, words, 'ping-pong');
  return { mean_us, median_us, trips_per_s };
}

/** The output of bash's `time` with TIMEFORMAT=%R. */
export function ofTime(text: string): Figures {
  const [wall] = numbersIn(text, /^([\d.]+)$/m, 'time');
  return { wall_s: wall };
}

function microsecondsIn(text: string): number {
  return numbersIn(text, /^custom .* ([\d.]+)$/m, 'rstream')[0];
}

/** The older version of --against may print all of it in one line. */
function sentOver(transport: Transport): RegExp {
  const sent = String.raw`^rdsend: sent (\d+) bytes (?:\([\w. ]+ on the wire\) )?(?:to \S+ )?in ([\d.]+) s`;
  return new RegExp(String.raw`${sent}(?:\nrdsend: to \S+)? over ${transport}\b`, 'm');
}

/** The numbers in the groups of `pattern`; throws if the text does not match. */
function numbersIn(text: string, pattern: RegExp, program: string): [number, number, number] {
  const found = pattern.exec(text);
  if (found === null) throw new Error(`${program} did not say ${pattern}: ${text.trim()}`);
  const [first, second, third] = found.slice(1).map(Number);
  return [first ?? Number.NaN, second ?? Number.NaN, third ?? Number.NaN];
}
