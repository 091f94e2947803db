/** Draws plots as SVG text, with echarts.
 *
 * The same data give the same bytes. A plot is readable on light and dark pages, as a separate file or within a page;
 * it loads and runs nothing. This module loads the plotting library: import it only to write a page.
 */
import { createHash } from 'node:crypto';
import { BarChart, CustomChart, type CustomSeriesOption, LineChart } from 'echarts/charts';
import { GridComponent, LegendComponent, MarkLineComponent, TitleComponent } from 'echarts/components';
import { init, use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import { printable, shorten } from '../../model/text.ts';
import { type Axis, formatTick, timeInterval } from './chart-axis.ts';
import { DARK_RULES, GROUND_COLOR, LINE_COLOR, SERIES_COLORS, TEXT_COLOR } from './chart-theme.ts';

export type { Axis };

interface ChartFrame {
  readonly title: string;
  /** Pixels; 720 × 300. */
  readonly width?: number;
  readonly height?: number;
}

/** An x and a y; a y of null breaks the line. */
export type Point = readonly [x: number, y: number | null];

export interface Line {
  readonly name: string;
  readonly points: readonly Point[];
}

export interface TimeChart extends ChartFrame {
  readonly y: Axis;
  /** Points are at seconds since the beginning, in order. */
  readonly lines: readonly Line[];
  /** The lines are stacked, and the areas below them filled. */
  readonly stacked?: boolean;
  /** A point is the average since the previous point. */
  readonly steps?: boolean;
  /** Events, and the seconds at which they happened: each is a vertical line in the plot. */
  readonly marks?: { readonly name: string; readonly at: readonly number[] };
}

/** Lines over time, as SVG text. */
export function timeChart({ lines, y, stacked = false, steps = false, marks, ...picture }: TimeChart): string {
  const seconds = Math.max(...lines.map(({ points }) => points.at(-1)?.[0] ?? 0), marks?.at.at(-1) ?? 0);
  const series = lines.map((line, index) => ({ ...lineSeries(line, index, stacked), step: steps ? 'start' : false }));
  const option = {
    xAxis: timeAxis(seconds || 1),
    yAxis: axisOption(y),
    series: [...series, ...(marks === undefined ? [] : [markSeries(marks)])],
  };
  return render(option, picture, namesOf(marks === undefined ? lines : [...lines, marks]));
}

export interface XyChart extends ChartFrame {
  readonly x: Axis;
  readonly y: Axis;
  readonly lines: readonly Line[];
}

/** Lines through measured points, which are marked, as SVG text. */
export function xyChart({ lines, x, y, ...picture }: XyChart): string {
  const shown = lines.map(({ name, points }) => ({ name, points: points.filter(([at]) => !x.logarithmic || at > 0) }));
  const series = shown.map((line, index) => ({ ...lineSeries(line, index, false), symbol: 'circle', symbolSize: 6 }));
  return render({ xAxis: axisOption(x), yAxis: axisOption(y), series }, picture, namesOf(lines));
}

/** A measured value and its range. */
export interface Bar {
  readonly value: number;
  readonly low?: number;
  readonly high?: number;
}

export interface BarChartInput extends ChartFrame {
  readonly y: Axis;
  readonly groups: readonly string[];
  /** A bar for each group; undefined leaves its place empty. */
  readonly series: readonly { readonly name: string; readonly bars: readonly (Bar | undefined)[] }[];
}

/** Groups of bars next to each other, each with its range, as SVG text. */
export function barChart({ groups, series, y, ...picture }: BarChartInput): string {
  const option = {
    xAxis: {
      ...axisOption({ title: '', unit: '' }),
      type: 'category',
      data: groups.map(short),
      axisLabel: { color: TEXT_COLOR, interval: 0, width: labelWidth(picture, groups.length), overflow: 'break' },
      axisTick: { show: false },
      splitLine: { show: false },
    },
    yAxis: axisOption(y),
    series: [
      ...series.map(({ name, bars }, index) => ({
        type: 'bar',
        name: short(name),
        ...BAR_SPACING,
        itemStyle: { color: colorOf(index) },
        data: bars.map((bar) => bar?.value ?? null),
      })),
      ...series.map(({ bars }, index) => rangeSeries(bars, index, series.length)),
    ],
  };
  return render(option, picture, namesOf(series));
}

use([BarChart, CustomChart, LineChart, GridComponent, LegendComponent, MarkLineComponent, TitleComponent, SVGRenderer]);

const WIDTH = 720;
const HEIGHT = 300;
/** A font with the letter widths that the library assumes. */
const FONT = { fontFamily: 'Arial, Helvetica, sans-serif', fontSize: 12, color: TEXT_COLOR };
const NAME_MAX_CHARACTERS = 60;
const BAR_SPACING = { barGap: '10%', barCategoryGap: '25%', barMaxWidth: 64 };
/** Dash patterns of the lines, one for each use of all colours. */
const DASHES = ['solid', 'dashed', 'dotted'] as const;

function short(text: string): string {
  return printable(shorten(text, NAME_MAX_CHARACTERS));
}

function namesOf(items: readonly { readonly name: string }[]): readonly string[] {
  return items.map(({ name }) => short(name));
}

function colorOf(index: number): string {
  return SERIES_COLORS[index % SERIES_COLORS.length] ?? TEXT_COLOR;
}

function lineSeries({ name, points }: Line, index: number, stacked: boolean) {
  const type = DASHES[Math.floor(index / SERIES_COLORS.length) % DASHES.length];
  return {
    type: 'line',
    name: short(name),
    symbol: 'none',
    itemStyle: { color: colorOf(index) },
    lineStyle: { color: colorOf(index), width: stacked ? 1 : 2, type },
    ...(stacked ? { stack: 'all', areaStyle: { color: colorOf(index), opacity: 0.6 } } : {}),
    data: points.map(([x, y]) => [x, y]),
  };
}

function markSeries({ name, at }: NonNullable<TimeChart['marks']>) {
  const lineStyle = { color: TEXT_COLOR, type: 'dashed', width: 1 };
  const markLine = { symbol: 'none', lineStyle, label: { show: false }, data: at.map((xAxis) => ({ xAxis })) };
  return {
    type: 'line',
    name: short(name),
    symbol: 'none',
    itemStyle: { color: TEXT_COLOR },
    lineStyle,
    data: [],
    markLine,
  };
}

/** A vertical line from low to high with a short line at each end, in the middle of its bar. */
function rangeSeries(bars: readonly (Bar | undefined)[], index: number, count: number): CustomSeriesOption {
  const data = bars.flatMap((bar, group) =>
    bar?.low === undefined || bar.high === undefined ? [] : [[group, bar.low, bar.high]],
  );
  const renderItem: NonNullable<CustomSeriesOption['renderItem']> = (_, api) => {
    const offset = api.barLayout?.({ ...BAR_SPACING, count })?.[index]?.offsetCenter ?? 0;
    const [x = 0, low = 0] = api.coord?.([api.value(0), api.value(1)]) ?? [];
    const [, high = 0] = api.coord?.([api.value(0), api.value(2)]) ?? [];
    const stroke = (x1: number, y1: number, x2: number, y2: number) =>
      ({ type: 'line', shape: { x1, y1, x2, y2 }, style: { stroke: TEXT_COLOR, lineWidth: 1 } }) as const;
    const middle = x + offset;
    const feet = [low, high].map((at) => stroke(middle - 3, at, middle + 3, at));
    return { type: 'group', children: [stroke(middle, low, middle, high), ...feet] };
  };
  return { type: 'custom', renderItem, encode: { x: 0, y: [1, 2] }, data, z: 5 };
}

function axisOption({ title, unit, logarithmic = false, whole = false, max }: Axis) {
  return {
    type: 'value',
    ...(logarithmic ? logarithm(unit === 'B' ? 2 : 10) : {}),
    ...(whole ? { minInterval: 1, scale: true } : {}),
    ...(max === undefined ? {} : { max }),
    name: short(title),
    nameLocation: 'middle',
    nameTextStyle: FONT,
    axisLine: { show: true, lineStyle: { color: LINE_COLOR } },
    splitLine: { lineStyle: { color: LINE_COLOR } },
    axisLabel: { ...FONT, hideOverlap: true, formatter: (value: number) => formatTick(value, unit) },
  };
}

/**
 * The library also puts a tick at the end of the axis. It has no label unless the end is at an interval: next to the
 * last tick it would have the same label or an odd number.
 */
function timeAxis(seconds: number) {
  const { axisLabel, ...axis } = axisOption({ title: '', unit: 'time' });
  const interval = timeInterval(seconds);
  const endsWhole = Math.abs(seconds / interval - Math.round(seconds / interval)) < 1e-6;
  return { ...axis, axisLabel: { ...axisLabel, showMaxLabel: endsWhole }, max: seconds, interval };
}

/** A logarithmic axis from the power below the data to the power above. */
function logarithm(base: number) {
  const power = (round: (exponent: number) => number, value: number) =>
    base ** round(Math.log2(value) / Math.log2(base));
  return {
    type: 'log',
    logBase: base,
    min: ({ min }: { readonly min: number }) => power(Math.floor, min),
    max: ({ max }: { readonly max: number }) => power(Math.ceil, max),
  };
}

function labelWidth({ width = WIDTH }: Omit<ChartFrame, 'title'>, groups: number): number {
  return Math.floor((width - 100) / Math.max(groups, 1)) - 8;
}

function render(
  option: object,
  { title, width = WIDTH, height = HEIGHT }: ChartFrame,
  names: readonly string[],
): string {
  const named = names.length > 1 ? names : [];
  const top = TITLE_HEIGHT + LEGEND_ROW_HEIGHT * legendRows(named, width);
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height });
  try {
    chart.setOption({
      animation: false,
      backgroundColor: GROUND_COLOR,
      textStyle: FONT,
      title: { text: short(title), left: 8, top: 8, textStyle: { ...FONT, fontSize: 14, fontWeight: 'bold' } },
      legend: {
        data: named.map((name) => ({ name })),
        left: 8,
        top: TITLE_HEIGHT,
        itemWidth: 20,
        itemGap: 20,
        textStyle: FONT,
      },
      grid: { left: 12, right: 24, top, bottom: 12, outerBoundsMode: 'same' },
      ...silent(option),
    });
    return finish(chart.renderToSVGString(), title);
  } finally {
    chart.dispose();
  }
}

const TITLE_HEIGHT = 36;
const LEGEND_ROW_HEIGHT = 34;

/** The number of rows of the legend, below which the plot begins; a letter is about 7 pixels wide. */
function legendRows(names: readonly string[], width: number): number {
  let rows = names.length === 0 ? 0 : 1;
  let used = 0;
  for (const name of names) {
    const wide = 20 + 5 + 20 + 7 * name.length;
    if (used > 0 && used + wide > width - 16) {
      rows += 1;
      used = 0;
    }
    used += wide;
  }
  return rows;
}

/** Disables reactions to a pointer: a picture has none, and does not need their styles. */
function silent(option: object): object {
  const { series = [] } = option as { readonly series?: readonly object[] };
  return { ...option, series: series.map((one) => ({ ...one, silent: true, emphasis: { disabled: true } })) };
}

/**
 * The finished SVG, with a title for screen readers. Pointer handling is removed: it is not used, and its names contain
 * the number of earlier charts. Ids, which must be unique within a page, are derived from the content.
 */
function finish(svg: string, title: string): string {
  const still = svg
    .replaceAll(/ (?:class="zr\d+-cls-\d+"|ecmeta_\w+="[^"]*"|pointer-events="visible")/g, '')
    .replaceAll(/<style ?><!\[CDATA\[[^\]]*\]\]>\s*<\/style>\n?/g, '')
    .replaceAll(/\bzr\d+-/g, 'zr-');
  const name = createHash('sha256').update(still).digest('hex').slice(0, 8);
  const head = `<title>${escapeXml(printable(title))}</title>\n<style>${DARK_RULES}</style>`;
  return still
    .replaceAll(/\b(id="|url\(#)zr-/g, `$1c${name}-`)
    .replace(/^<svg ([^>]*)>\n?/, (_, attributes: string) => `<svg role="img" ${attributes}>\n${head}\n`);
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
