import { expect } from 'chai';
import { barChart, timeChart, xyChart } from '../../../src/ui/pages/chart.ts';

const RATE = { title: 'Rate', unit: 'B/s' };
const BLUE = '#0072b2';
const ORANGE = '#d55e00';

describe('chart', () => {
  const overTime = () => timeChart({ title: 'h1→h2', y: RATE, lines: [line('rate', [0, 1e9, 2e9, 1e9])] });
  const bars = () => barChart({ title: 'Rates', y: RATE, ...BARS });

  it('is self-contained SVG text of the requested size', () => {
    const svg = timeChart({ title: 'h1→h2', y: RATE, lines: [line('rate', [0, 1e9])], width: 500, height: 200 });
    expect(svg).to.match(/^<svg role="img" width="500" height="200" xmlns="http:\/\/www.w3.org\/2000\/svg"/);
    expect(svg)
      .to.match(/<\/svg>\s*$/)
      .and.to.contain('<title>h1→h2</title>');
  });

  it('is the same for the same data, whatever was drawn before', () => {
    const first = [overTime(), bars()];
    xyChart({ title: 'else', x: { title: 'Size', unit: 'B' }, y: RATE, lines: [line('a', [1, 2])] });
    expect([overTime(), bars()]).to.deep.equal(first);
  });

  it('derives ids from its content: two charts in a page do not clash', () => {
    const ids = (svg: string) => [...svg.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    const other = timeChart({ title: 'h1→h3', y: RATE, lines: [line('rate', [0, 1e9])] });
    expect(ids(overTime())).not.to.be.empty;
    expect(ids(overTime()).filter((id) => ids(other).includes(id))).to.deep.equal([]);
    for (const [, id] of overTime().matchAll(/url\(#([^)]+)\)/g)) expect(ids(overTime())).to.contain(id);
  });

  it('contains nothing that loads, runs or reacts to a pointer', () => {
    for (const svg of [overTime(), bars()]) expect(svg).not.to.match(/<script|<image|href="|\son\w+=|@import|:hover/);
  });

  it('shows units at its ticks', () => {
    expect(textsOf(overTime())).to.include.members(['0 B/s', '1 GB/s', '2 GB/s', '0 s', '3 s', 'Rate']);
  });

  it('labels no two ticks of a clock alike', () => {
    for (const seconds of [0.04, 0.3, 0.8, 1.1, 2.4, 4.3, 7.7, 59.9, 61, 4000]) {
      const chart = timeChart({
        title: 'x',
        y: RATE,
        lines: [
          {
            name: 'rate',
            points: [
              [0, 1],
              [seconds, 2],
            ],
          },
        ],
      });
      const ticks = textsOf(chart).filter((text) => /^[\d.:]+( s)?$/.test(text));
      expect(new Set(ticks).size, ticks.join()).to.equal(ticks.length);
      expect(ticks).to.have.length.within(3, 10);
    }
  });

  it('changes its colors if the reader prefers dark pages', () => {
    expect(overTime()).to.match(
      /@media \(prefers-color-scheme: dark\) \{[^<]*\[stroke="#0072b2"\] \{ stroke: #4aa8e0 \}/,
    );
  });

  it('shows hostile names as text', () => {
    const name = '<script>alert(1)</script>" & ]]> {a|b}';
    const pictures = [
      timeChart({ title: name, y: { title: name, unit: name }, lines: [line(name, [1, 2])], marks: { name, at: [1] } }),
      barChart({ title: name, y: RATE, groups: [name], series: [{ name, bars: [{ value: 1 }] }] }),
    ];
    for (const svg of pictures) {
      expect(svg).not.to.contain('<script');
      expect(svg).to.contain('&lt;script&gt;alert(1)&lt;/script&gt;');
    }
  });

  it('breaks a line if a value is missing', () => {
    const broken = timeChart({ title: '', y: RATE, lines: [line('rate', [1, 2, null, 2, 1])] });
    const whole = timeChart({ title: '', y: RATE, lines: [line('rate', [1, 2, 2, 2, 1])] });
    expect(countOf(pathOf(broken, BLUE), 'M')).to.equal(2);
    expect(countOf(pathOf(whole, BLUE), 'M')).to.equal(1);
  });

  it('puts one line on top of the other when stacked', () => {
    const lines = [line('a', [50, 50]), line('b', [25, 25])];
    const alone = timeChart({ title: '', y: { title: '', unit: '%', max: 100 }, lines });
    const stacked = timeChart({ title: '', y: { title: '', unit: '%', max: 100 }, lines, stacked: true });
    const second = (svg: string) => heightOf(pathOf(svg, ORANGE));
    expect(second(alone)).to.be.greaterThan(heightOf(pathOf(alone, BLUE)));
    expect(second(stacked)).to.be.lessThan(heightOf(pathOf(stacked, BLUE)));
  });

  it('marks the time of an event with a line', () => {
    const marks = { name: 'connection broken', at: [1, 2] };
    const svg = timeChart({ title: '', y: RATE, lines: [line('rate', [1, 2, 3])], marks });
    expect(countOf(svg, 'stroke-dasharray')).to.be.at.least(2);
    expect(textsOf(svg)).to.contain('connection broken');
  });

  it('draws a bar for each value and its range', () => {
    const svg = bars();
    expect(countOf(svg, `" fill="${BLUE}"`)).to.equal(2 + ONE_IN_THE_LEGEND);
    expect(countOf(svg, `" fill="${ORANGE}"`)).to.equal(1 + ONE_IN_THE_LEGEND);
    expect(textsOf(svg)).to.include.members(['plain', 'sealed', 'rdpipe', 'nc']);
  });

  it('has logarithmic axes, from the power below the data to the one above', () => {
    const size = { title: 'Message size', unit: 'B', logarithmic: true };
    const points = [
      [0, 7],
      [64, 1e6],
      [65_536, 1e9],
    ] as const;
    const svg = xyChart({ title: '', x: size, y: { ...RATE, logarithmic: true }, lines: [{ name: 'a', points }] });
    expect(textsOf(svg)).to.include.members(['64 B', '64 KiB', '1 MB/s', '1 GB/s', 'Message size']);
    expect(textsOf(svg)).not.to.contain('0 B');
  });

  it('draws empty charts, and more lines than there are colors', () => {
    expect(timeChart({ title: 'empty', y: RATE, lines: [] })).to.contain('<title>empty</title>');
    expect(timeChart({ title: 'no points', y: RATE, lines: [line('a', [])] })).to.contain('</svg>');
    expect(barChart({ title: 'empty', y: RATE, groups: [], series: [] })).to.contain('</svg>');
    const many = Array.from({ length: 32 }, (_, index) => line(`hop ${index}`, [index, index]));
    const texts = textsOf(timeChart({ title: 'many', y: RATE, lines: many, height: 400 }));
    expect(texts.filter((text) => text.startsWith('hop '))).to.have.lengthOf(32);
  });
});

const BARS = {
  groups: ['plain', 'sealed'],
  series: [
    { name: 'rdpipe', bars: [{ value: 3e9, low: 2e9, high: 4e9 }, { value: 1e9 }] },
    { name: 'nc', bars: [{ value: 2e9, low: 1e9, high: 3e9 }, undefined] },
  ],
};
const ONE_IN_THE_LEGEND = 1;

function line(name: string, values: readonly (number | null)[]) {
  return { name, points: values.map((value, second) => [second, value] as const) };
}

function textsOf(svg: string): readonly string[] {
  return [...svg.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([, text]) => text ?? '');
}

function countOf(text: string, part: string): number {
  return text.split(part).length - 1;
}

/** The path of a colour's line in the plot, which comes before the legend's. */
function pathOf(svg: string, color: string): string {
  return svg.match(new RegExp(`<path d="([^"]*)" fill="none" stroke="${color}"`))?.[1] ?? '';
}

/** The distance of a path's first point from the top. */
function heightOf(path: string): number {
  return Number(path.match(/^M[\d.]+ ([\d.]+)/)?.[1]);
}
