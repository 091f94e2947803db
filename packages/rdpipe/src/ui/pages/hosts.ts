/** The hosts of stages on several hosts on a run's page, with bars for bytes and for waits. Pure. */
import type { HopReport, StageReport } from '../../model/report.ts';
import { formatBytes } from '../../model/units.ts';
import { inSeconds, stageEnd } from '../report-text.ts';
import { type Html, html, table } from './html.ts';

/** Empty if no data went to or from several hosts of one stage. */
export function hostsSection(hops: readonly HopReport[], stages: readonly StageReport[]): Html | string {
  const groups = [...chainsOf(hops), ...pairsOf(hops)];
  if (groups.length === 0) return '';
  return html`<h2>Hosts</h2>\n${groups.map((group) => bars(group, stages))}`;
}

function chainsOf(hops: readonly HopReport[]): readonly (readonly HopReport[])[] {
  const chains = new Map<number, HopReport[]>();
  for (const hop of hops) if (hop.chain !== undefined) chains.set(hop.chain, [...(chains.get(hop.chain) ?? []), hop]);
  return [...chains.values()];
}

/** Hops of many hosts to one, or of many to as many: they follow each other in the order of their ranks. */
function pairsOf(hops: readonly HopReport[]): readonly (readonly HopReport[])[] {
  const groups: HopReport[][] = [];
  for (const hop of hops) {
    if (hop.rank === undefined || hop.chain !== undefined) continue;
    const group = groups.at(-1);
    if (group !== undefined && (group.at(-1)?.rank ?? hop.rank) < hop.rank) group.push(hop);
    else groups.push([hop]);
  }
  return groups.filter(({ length }) => length > 1);
}

function bars(group: readonly HopReport[], stages: readonly StageReport[]): Html {
  const isGathered = group.every(({ to }) => to === group[0]?.to);
  const waited = ({ inputMs, outputMs }: HopReport) => (isGathered ? inputMs : outputMs);
  const most = Math.max(1, ...group.map(({ bytes }) => bytes));
  const longest = Math.max(1, ...group.map(waited));
  const rows = group.map((hop) => {
    const host = isGathered ? hop.from : hop.to;
    const stage = stages.find((one) => one.host === host && one.rank === hop.rank);
    return [
      host,
      stage === undefined ? '' : html`<span class="${isGood(stage) ? 'good' : 'bad'}">${stageEnd(stage)}</span>`,
      bar(hop.bytes, most, formatBytes(hop.bytes)),
      bar(waited(hop), longest, inSeconds(waited(hop))),
    ];
  });
  return table(['host', 'result', 'bytes', isGathered ? 'waited for input' : 'waited for output'], rows);
}

function isGood({ state }: StageReport): boolean {
  return state === 'succeeded' || state === 'consumer_closed';
}

function bar(value: number, most: number, words: string): Html {
  return html`<meter min="0" max="${most}" value="${value}"></meter> ${words}`;
}
