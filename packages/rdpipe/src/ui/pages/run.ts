/** The page about a run that succeeded, failed or was interrupted. Pure. */

import type { Cause } from '../../model/errors.ts';
import type { HopReport, ProgramUsage, Report } from '../../model/report.ts';
import { formatBytes, formatRate } from '../../model/units.ts';
import { VERSION } from '../../model/version.ts';
import { formatDuration, formatMicroseconds } from '../format.ts';
import { hopBytes, hopCarrier, hopName, hopResult, inSeconds, stageEnd } from '../report-text.ts';
import { slowestPart } from '../terminal/summary.ts';
import { timeChart } from './chart.ts';
import { copySection } from './copy.ts';
import type { History, HopHistory, StageStderrHistory } from './history.ts';
import { hostsSection } from './hosts.ts';
import { Html, html, pageText, preformatted, table } from './html.ts';
import { inRateUnit, rateLines, waitLines } from './time-series.ts';

export interface RunPageInput {
  /** The command line, one line per stage. */
  readonly command: readonly string[];
  /** The plan as text; empty: there was none. */
  readonly plan: readonly string[];
  readonly began: Date;
  readonly history: History;
  readonly report: Report;
}

/** The page as HTML text. */
export function runPage({ command, plan, began, history, report }: RunPageInput): string {
  const outcome = report.status === 0 ? 'succeeded' : 'failed';
  const body = html`${resultSection(report, began)}
<h2>Command</h2>
${preformatted(command)}
${plan.length === 0 ? '' : html`<h2>Plan</h2>\n${preformatted(plan)}`}
${copySection(report)}
${hostsSection(report.hops, report.stages)}
${hopsSection(report.hops, history.hops)}
${stagesSection(report)}
${programsSection(report.hops)}
${remarks('Warnings', history.warnings)}
${remarks(
  'Lost hosts',
  (report.lost ?? []).map(({ host, message }) => `${host}: ${message}`),
)}
${remarks(
  'Left running',
  report.leftBehind.map(({ host, pid, command: left }) => `${host}: process ${pid} (${left})`),
)}
${stderrSection(history.stderr)}
<p class="faint">rdpipe ${VERSION}</p>`;
  return pageText(`${report.copy === undefined ? 'rdpipe' : 'rdcp'}: ${outcome}`, body);
}

function resultSection(report: Report, began: Date): Html {
  const slowest = slowestPart(report);
  const facts: readonly (readonly [string, string | Html])[] = [
    ['result', report.status === 0 ? html`<span class="good">succeeded</span>` : html`<span class="bad">failed</span>`],
    ['exit status', String(report.status)],
    ...(report.cause === null ? [] : ([['first cause', causeText(report, report.cause)]] as const)),
    ...(report.message === null ? [] : ([['message', report.message]] as const)),
    ['began', began.toISOString()],
    ['took', formatDuration(report.seconds)],
    ...(slowest === undefined ? [] : ([['slowest', slowest]] as const)),
    ...(report.run === '' ? [] : ([['run', report.run]] as const)),
  ];
  return html`<dl>${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>\n`)}</dl>`;
}

/** `stage 1 (h1: echo part), failed (exit 3)`; one word if a stage is not the cause. */
function causeText({ causeStage, causeRank, stages }: Report, cause: Cause): string {
  const stage = stages.find(({ stage: number, rank }) => number === causeStage && rank === causeRank);
  if (stage === undefined) return cause;
  const { stage: number, host, command } = stage;
  return `${cause === 'stage' ? '' : `${cause}: `}stage ${number} (${host}: ${command}), ${stageEnd(stage)}`;
}

const WAITS = ['waited for input', 'rate limit', 'compression, encryption', 'network', 'output'];
/** More charts would make the page slow in browsers. */
const HOPS_DRAWN_MAX = 64;

function hopsSection(hops: readonly HopReport[], histories: readonly HopHistory[]): Html | string {
  if (hops.length === 0) return '';
  const head = ['hop', 'carried by', 'result', 'bytes', 'rate', 'time', ...WAITS, 'round trip', 'reconnects'];
  const rows = hops.map((hop) => [
    hopName(hop),
    hopCarrier(hop),
    hopResult(hop),
    hopBytes(hop),
    formatRate(hop.bytesPerSecond),
    formatDuration(hop.seconds),
    inSeconds(hop.inputMs),
    inSeconds(hop.limitMs),
    inSeconds(hop.workerMs),
    inSeconds(hop.wireMs),
    inSeconds(hop.outputMs),
    hop.rttUs === null ? '' : formatMicroseconds(hop.rttUs),
    hop.reconnects,
  ]);
  const drawn = hops.slice(0, HOPS_DRAWN_MAX);
  const undrawn = hops.length - drawn.length;
  return html`<h2>Hops</h2>
${table(head, rows)}
${drawn.map((hop) =>
  hopSection(
    hop,
    histories.find(({ link }) => link === hop.link),
  ),
)}
${undrawn === 0 ? '' : html`<p>${undrawn} more hops have no chart.</p>`}`;
}

function hopSection(hop: HopReport, history: HopHistory | undefined): Html {
  const said = [...(hop.why === null ? [] : [hop.why]), ...addresses(hop), ...hop.notes, ...hop.warnings];
  return html`<h3>${hopName(hop)}</h3>
<ul>${said.map((words) => html`<li>${words}</li>`)}</ul>
${history === undefined || history.samples.length < 2 ? html`<p class="faint">No measurements.</p>` : hopCharts(hop, history)}`;
}

function addresses({ local, peer }: HopReport): readonly string[] {
  return local === null || peer === null ? [] : [`${local} to ${peer}`];
}

function hopCharts(hop: HopReport, { samples, broken }: HopHistory): Html {
  const marks = broken.length === 0 ? {} : { marks: { name: 'connection broke', at: broken } };
  const name = hopName(hop);
  const { unit, lines } = inRateUnit(rateLines(samples, hop.compress > 0));
  const share = { title: 'share of the time', unit: '%', max: 100 };
  const charts = [
    timeChart({
      title: `${name}: rate`,
      y: { title: '', unit },
      lines,
      steps: true,
      ...marks,
      height: 260,
    }),
    timeChart({
      title: `${name}: waited for`,
      y: share,
      lines: waitLines(samples),
      steps: true,
      stacked: true,
      ...marks,
    }),
  ];
  return html`${charts.map((chart) => new Html(chart))}`;
}

function stagesSection({ stages }: Report): Html | string {
  if (stages.length === 0) return '';
  const head = ['stage', 'host', 'result', 'CPU, user', 'CPU, system', 'memory', 'command'];
  const rows = stages.map((stage) => {
    const measured = stage.maxRssKib > 0;
    return [
      stage.stage,
      stage.host,
      stageEnd(stage),
      measured ? inSeconds(stage.userMs) : '',
      measured ? inSeconds(stage.systemMs) : '',
      measured ? formatBytes(stage.maxRssKib * 1024) : '',
      stage.command,
    ];
  });
  return html`<h2>Stages</h2>\n${table(head, rows)}`;
}

/** The programs that carried the data, and their CPU time and memory. */
function programsSection(hops: readonly HopReport[]): Html | string {
  const rows = hops.flatMap((hop) => [
    ...programRow(hop, 'rdsend', hop.from, hop.sender),
    ...programRow(hop, 'rdrecv', hop.to, hop.receiver),
  ]);
  if (rows.length === 0) return '';
  const head = ['hop', 'program', 'host', 'CPU, user', 'CPU, system', 'CPU s/GiB', 'memory'];
  return html`<h2>Programs that carried the data</h2>\n${table(head, rows)}`;
}

function programRow(hop: HopReport, program: string, host: string, usage: ProgramUsage | null) {
  if (usage === null) return [];
  const { userMs, systemMs, maxRssKib } = usage;
  const perGib = hop.bytes === 0 ? '' : ((userMs + systemMs) / 1000 / (hop.bytes / GIB)).toFixed(2);
  const memory = formatBytes(maxRssKib * 1024);
  return [[hopName(hop), program, host, inSeconds(userMs), inSeconds(systemMs), perGib, memory]];
}

const GIB = 1024 ** 3;

function remarks(title: string, lines: readonly string[]): Html | string {
  return lines.length === 0 ? '' : html`<h2>${title}</h2>\n<ul>${lines.map((line) => html`<li>${line}</li>`)}</ul>`;
}

function stderrSection(stages: readonly StageStderrHistory[]): Html | string {
  if (stages.length === 0) return '';
  return html`<h2>Standard error</h2>
${[...stages].sort((one, other) => one.stage - other.stage).map(stderrOf)}`;
}

function stderrOf({ stage, host, tail, bytes }: StageStderrHistory): Html {
  const cut = bytes > tail.length ? `, the last ${formatBytes(tail.length)} of ${formatBytes(bytes)}` : '';
  const lines = new TextDecoder().decode(tail).replace(/\n$/, '').split('\n');
  return html`<h3>Stage ${stage}, ${host}${cut}</h3>\n${preformatted(lines)}`;
}
