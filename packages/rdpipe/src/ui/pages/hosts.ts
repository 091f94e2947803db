/** The hosts of a chain on a run's page, with bars for bytes and for waits for output. Pure. */
import type { HopReport, StageReport } from '../../model/report.ts';
import { formatBytes } from '../../model/units.ts';
import { inSeconds, stageEnd } from '../report-text.ts';
import { type Html, html, table } from './html.ts';

/** Empty if no stage gets its input through a chain. */
export function hostsSection(hops: readonly HopReport[], stages: readonly StageReport[]): Html | string {
  const chains = new Map<number, HopReport[]>();
  for (const hop of hops) if (hop.chain !== undefined) chains.set(hop.chain, [...(chains.get(hop.chain) ?? []), hop]);
  if (chains.size === 0) return '';
  return html`<h2>Hosts</h2>\n${[...chains.values()].map((chain) => bars(chain, stages))}`;
}

function bars(chain: readonly HopReport[], stages: readonly StageReport[]): Html {
  const most = Math.max(1, ...chain.map(({ bytes }) => bytes));
  const longest = Math.max(1, ...chain.map(({ outputMs }) => outputMs));
  const rows = chain.map((hop) => {
    const stage = stages.find(({ host, rank }) => host === hop.to && rank === hop.rank);
    return [
      hop.to,
      stage === undefined ? '' : html`<span class="${isGood(stage) ? 'good' : 'bad'}">${stageEnd(stage)}</span>`,
      bar(hop.bytes, most, formatBytes(hop.bytes)),
      bar(hop.outputMs, longest, inSeconds(hop.outputMs)),
    ];
  });
  return table(['host', 'result', 'bytes', 'waited for output'], rows);
}

function isGood({ state }: StageReport): boolean {
  return state === 'succeeded' || state === 'consumer_closed';
}

function bar(value: number, most: number, words: string): Html {
  return html`<meter min="0" max="${most}" value="${value}"></meter> ${words}`;
}
