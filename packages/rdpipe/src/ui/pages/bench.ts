/** The page about a benchmark. Pure. */
import type { Benchmark } from '../../model/benchmark.ts';
import { rateUnit } from '../../model/units.ts';
import { VERSION } from '../../model/version.ts';
import { benchHeads, figuresOf, methodCells } from '../bench-table.ts';
import { barChart, xyChart } from './chart.ts';
import { Html, html, pageText, table } from './html.ts';

/** The page as HTML text. */
export function benchPage(benchmark: Benchmark, began: Date): string {
  const { from, to, rounds, methods, missing } = benchmark;
  const head = ['method', ...benchHeads(benchmark).slice(1)];
  const body = html`<p>${began.toISOString()}; medians of ${rounds} rounds, each with all methods in random order. CPU time is that of all processes of a stream on one host.</p>
${table(head, methods.map(methodCells))}
<ul>${missing.map(({ method, why }) => html`<li>${method}: not measured: ${why}</li>`)}</ul>
${methods.length === 0 ? '' : charts(benchmark).map((chart) => new Html(chart))}
<p class="faint">rdpipe ${VERSION}</p>`;
  return pageText(`rdpipe bench: ${from}→${to}`, body);
}

function charts({ from, to, methods }: Benchmark): readonly string[] {
  const groups = methods.map(({ method }) => method);
  const figures = methods.map(figuresOf);
  const { unit, bytesPerSecond: one } = rateUnit(Math.max(0, ...figures.map(({ rate }) => rate?.high ?? 0)));
  const barOf = (spread: ReturnType<typeof figuresOf>['rate'], divisor = 1) =>
    spread === undefined
      ? undefined
      : { value: spread.median / divisor, low: spread.low / divisor, high: spread.high / divisor };
  return [
    barChart({
      title: 'Rate',
      y: { title: '', unit },
      groups,
      series: [{ name: 'rate', bars: figures.map(({ rate }) => barOf(rate, one)) }],
    }),
    barChart({
      title: 'CPU seconds per GiB',
      y: { title: '', unit: 's/GiB' },
      groups,
      series: [
        { name: from, bars: figures.map(({ fromCpu }) => barOf(fromCpu)) },
        { name: to, bars: figures.map(({ toCpu }) => barOf(toCpu)) },
      ],
    }),
    xyChart({
      title: 'Rate, round by round',
      x: { title: 'round', unit: '', whole: true },
      y: { title: '', unit },
      lines: methods.map(({ method, samples }) => ({
        name: method,
        points: samples.map(({ bytesPerSecond }, index) => [index + 1, bytesPerSecond / one] as const),
      })),
    }),
  ];
}
