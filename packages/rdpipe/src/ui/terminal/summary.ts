/** The summary of -v: rate, hops, stages and the slowest part. Pure. */

import { foldHosts } from '../../model/fold-hosts.ts';
import type { HopReport, Report, StageReport } from '../../model/report.ts';
import { printable, shorten } from '../../model/text.ts';
import { formatBytes, formatRate } from '../../model/units.ts';
import { UNLIMITED, wrap, wrapTable } from '../columns.ts';
import { formatDuration, formatMicroseconds } from '../format.ts';
import { hopBytes, hopCarrier, hopName, hopResult, inSeconds, stageEnd } from '../report-text.ts';

/** The lines of the summary, without newlines, at most `columns` wide. */
export function summaryLines(report: Report, columns = UNLIMITED): readonly string[] {
  const notes = report.hops.flatMap((hop) =>
    [...hop.notes, ...hop.warnings].map((note) => `${hopName(hop)}: ${printable(note)}`),
  );
  const prose = (lines: readonly string[]) => lines.flatMap((line) => wrap(line, columns));
  return [
    ...prose([bandwidthLine(report)]),
    ...wrapTable(report.hops.map(hopCells), columns),
    ...prose(notes),
    ...wrapTable(report.stages.map(stageCells), columns),
    ...mainLines(report, columns),
  ];
}

/** The lines about the slowest part and about lost hosts, at most `columns` wide. */
export function mainLines(report: Report, columns = UNLIMITED): readonly string[] {
  return [...slowestLine(report), ...lostLines(report)].flatMap((line) => wrap(line, columns));
}

/** A line per reason: `Lost n[7-8]: unreachable`. */
function lostLines({ lost = [] }: Report): readonly string[] {
  const reasons = [...new Set(lost.map(({ message }) => message))];
  return reasons.map((reason) => {
    const hosts = lost.flatMap(({ host, message }) => (message === reason ? [printable(host)] : []));
    return `Lost ${foldHosts(hosts)}: ${printable(reason)}`;
  });
}

/** The rate of the hop that carried most bytes, or a copy's contents; without hops, only the time. */
function bandwidthLine({ hops, seconds, copy }: Report): string {
  const main = mainHops(hops, copy).reduce<HopReport | undefined>(
    (best, hop) => (hop.bytes > (best?.bytes ?? -1) ? hop : best),
    undefined,
  );
  const none = hops.length === 0 ? 'there was no data connection' : 'the contents stayed on one host';
  if (main === undefined) return `Bandwidth not measured: ${none}; the run took ${formatDuration(seconds)}`;
  return `Bandwidth ${formatRate(main.bytesPerSecond)} (${hopBytes(main)} in ${formatDuration(main.seconds)})`;
}

/** Excludes the hops of a copy that carry only names and decisions, because their rate means nothing. */
function mainHops(hops: readonly HopReport[], copy: Report['copy']): readonly HopReport[] {
  return copy === undefined ? hops : hops.filter(({ link }) => link === copy.link);
}

function hopCells(hop: HopReport): readonly string[] {
  const limit = hop.limitMs === 0 ? '' : `${inSeconds(hop.limitMs)} for the rate limit, `;
  const workers = hop.workerMs === 0 ? '' : `${inSeconds(hop.workerMs)} for compression and encryption, `;
  const waits = `waited ${inSeconds(hop.inputMs)} for input, ${limit}${workers}${inSeconds(hop.wireMs)} for the network, ${inSeconds(hop.outputMs)} for output`;
  const roundTrip = hop.rttUs === null ? [] : [`round trip ${formatMicroseconds(hop.rttUs)}`];
  const times = [waits, ...roundTrip, ...reconnected(hop)].join('; ');
  return [hopName(hop), hopCarrier(hop), hopResult(hop), hopBytes(hop), formatRate(hop.bytesPerSecond), times];
}

function reconnected({ reconnects }: HopReport): readonly string[] {
  if (reconnects === 0) return [];
  return [`reconnected ${reconnects === 1 ? 'once' : `${reconnects} times`}`];
}

function stageCells(stage: StageReport): readonly string[] {
  const { userMs, systemMs, maxRssKib } = stage;
  const usage =
    maxRssKib === 0 ? '' : `user ${inSeconds(userMs)}, system ${inSeconds(systemMs)}, ${formatBytes(maxRssKib * 1024)}`;
  return [`stage ${stage.stage}`, stage.host, stageEnd(stage), usage, shorten(stage.command, 60)];
}

function slowestLine(report: Report): readonly string[] {
  const slowest = slowestPart(report);
  return slowest === undefined ? [] : [`Slowest: ${slowest}`];
}

/**
 * The name of the slowest part; undefined if unknown. Every hop before the slowest part waits for output, every hop
 * after it for input; a hop that waits for the network, for workers or for its limit is itself the slowest part.
 */
export function slowestPart({ hops, stages, copy }: Report): string | undefined {
  const measured = mainHops(hops, copy).filter(({ bottleneck }) => bottleneck !== 'none');
  if (measured.length === 0) return undefined;
  const limited = measured.find(({ bottleneck }) => bottleneck === 'limit');
  if (limited !== undefined) return `the rate limit of ${hopName(limited)} (--limit)`;
  const worked = measured.find(({ bottleneck }) => bottleneck === 'worker');
  if (worked !== undefined) return `compression and encryption of ${hopName(worked)} (--jobs)`;
  const network = measured.find(({ bottleneck }) => bottleneck === 'wire');
  if (network !== undefined) return `the network between ${network.from} and ${network.to}${limiterOf(network)}`;
  const [contents] = measured;
  if (copy !== undefined && contents !== undefined)
    return contents.bottleneck === 'input' ? `the source, ${contents.from}` : `the destination, ${contents.to}`;
  const held = slowestOfChain(measured, stages);
  if (held !== undefined) return held;
  const waitsForOutput = measured.filter(({ bottleneck }) => bottleneck === 'output').at(-1);
  const last = measured.find(({ link, bottleneck }) => bottleneck === 'input' && link > (waitsForOutput?.link ?? -1));
  return namePart((waitsForOutput?.link ?? -1) + 1, last?.link ?? stages.length + 1, stages, waitsForOutput, last);
}

/** The limit of TCP that a hop met, and the settings that would help; empty if that is unknown. */
function limiterOf({ from, to, wireMs, wireBytes, sendBufferMs, receiveWindowMs, sentAgain, streams }: HopReport) {
  const more = streams === 1 ? '--streams' : undefined;
  if (sendBufferMs * 2 >= wireMs && sendBufferMs >= receiveWindowMs)
    return limiter('the send buffer', more, `sysctl net.ipv4.tcp_wmem on ${from}`);
  if (receiveWindowMs * 2 >= wireMs)
    return limiter('the receive window', more, '--buffer', `sysctl net.ipv4.tcp_rmem on ${to}`);
  return sentAgain * SEGMENT_BYTES * LOSS_PARTS >= wireBytes && sentAgain > 0
    ? limiter(`loss, ${sentAgain} segments were sent again`, more)
    : '';
}

function limiter(what: string, ...settings: readonly (string | undefined)[]): string {
  const help = settings.filter((setting) => setting !== undefined);
  return ` (${what}${help.length === 0 ? '' : `: ${help.join(', ')}`})`;
}

/** One segment in a thousand, of the usual size. */
const LOSS_PARTS = 1000;
const SEGMENT_BYTES = 1448;

/** `the disk of n7`: the host of a chain whose output was slower than that of the others. */
function slowestOfChain(hops: readonly HopReport[], stages: readonly StageReport[]): string | undefined {
  const inChain = hops.filter(({ chain }) => chain !== undefined);
  const slowest = inChain.reduce<HopReport | undefined>(
    (most, hop) => (hop.outputMs > (most?.outputMs ?? 0) ? hop : most),
    undefined,
  );
  if (slowest?.bottleneck !== 'output') return undefined;
  const others = inChain.filter((hop) => hop.chain === slowest.chain && hop !== slowest);
  if (others.filter(({ outputMs }) => outputMs * 2 < slowest.outputMs).length * 2 < others.length) return undefined;
  const stage = stages.find(({ host, rank }) => host === slowest.to && rank === slowest.rank);
  return `the ${stage?.command.startsWith('>') === true ? 'disk' : 'command'} of ${slowest.to}`;
}

/** The stages from `first` to `last`; 0 is standard input, the number after the last stage standard output. */
function namePart(
  first: number,
  last: number,
  stages: readonly StageReport[],
  before: HopReport | undefined,
  after: HopReport | undefined,
): string {
  if (before === undefined && after?.link === 0) return 'standard input';
  if (after === undefined && first > stages.length) return 'standard output';
  const named = stages.filter(({ stage }) => stage >= first && stage <= last);
  const names = named.map(({ stage, host, command }) => `stage ${stage} (${host}: ${shorten(command, 40)})`);
  return names.join(' or ');
}
