// SPDX-License-Identifier: Apache-2.0
// Turns the screens of a recorded terminal session into one animated SVG image.

/** A screen as `tmux capture-pane -e` prints it, and the time at which it appeared. */
export interface Frame {
  readonly atMs: number;
  readonly screen: string;
}

export interface Look {
  readonly columns: number;
  /** The text alternative. */
  readonly title: string;
  /** How long the last screen stays before the animation restarts. */
  readonly holdMs: number;
}

/**
 * The image as SVG text; `frames` has at least one, in order of time. CSS animates the image, so that it also moves
 * inside `<img>`; readers who prefer reduced motion see the last screen.
 */
export function terminalSvg(frames: readonly Frame[], { columns, title, holdMs }: Look): string {
  const totalMs = (frames.at(-1)?.atMs ?? 0) + holdMs;
  const spans = spansOf(frames, totalMs);
  const timings = new Map<string, Span>();
  for (const span of spans) if (!isAlways(span, totalMs)) timings.set(nameOf(span), span);
  const width = columns * CELL.width + 2 * PADDING;
  const height = Math.max(...spans.map(({ row }) => row + 1), 1) * CELL.height + 2 * PADDING;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<style>${STYLE}${animations(timings, totalMs)}</style>`,
    `<rect width="${width}" height="${height}" rx="8"/>`,
    ...spans.map((span) => textOf(span, totalMs)),
    '</svg>\n',
  ].join('\n');
}

const CELL = { width: 8.4, height: 18 } as const;
const PADDING = 14;
const BASELINE = 13;
/** The image has its own background, so that it is readable on light and dark pages. */
const STYLE = `
rect{fill:#f6f8fa;stroke:#d1d9e0}
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#1f2328;white-space:pre;visibility:hidden}
.end{visibility:visible}
.b{font-weight:700}.d{opacity:.65}
.c1{fill:#cf222e}.c2{fill:#116329}.c3{fill:#7d4e00}.c4{fill:#0969da}.c5{fill:#8250df}.c6{fill:#1b7c83}
@media (prefers-color-scheme:dark){
rect{fill:#0d1117;stroke:#3d444d}
text{fill:#e6edf3}
.c1{fill:#ff7b72}.c2{fill:#3fb950}.c3{fill:#d29922}.c4{fill:#58a6ff}.c5{fill:#bc8cff}.c6{fill:#39c5cf}
}
`;

/** A row's text and the time during which it is unchanged. */
interface Span {
  readonly row: number;
  readonly text: string;
  readonly fromMs: number;
  readonly untilMs: number;
}

function spansOf(frames: readonly Frame[], totalMs: number): Span[] {
  const screens = frames.map(({ atMs, screen }) => ({ atMs, lines: screen.split('\n') }));
  const rows = Math.max(...screens.map(({ lines }) => lines.length));
  return Array.from({ length: rows }, (_, row) => row).flatMap((row) => {
    const changes = screens
      .map(({ atMs, lines }) => ({ atMs, text: lines[row] ?? '' }))
      .filter(({ text }, index, all) => index === 0 || text !== all[index - 1]?.text);
    return changes
      .map(({ atMs, text }, index) => ({ row, text, fromMs: atMs, untilMs: changes[index + 1]?.atMs ?? totalMs }))
      .filter(({ text }) => withoutEscapes(text).trim() !== '');
  });
}

function isAlways({ fromMs, untilMs }: Span, totalMs: number): boolean {
  return fromMs === 0 && untilMs === totalMs;
}

/** Rows that appear and disappear together share one animation. */
function nameOf({ fromMs, untilMs }: Span): string {
  return `k${fromMs.toString(36)}-${untilMs.toString(36)}`;
}

function animations(timings: ReadonlyMap<string, Span>, totalMs: number): string {
  const names = [...timings.keys()].map((name) => `.${name}{animation-name:${name}}\n`);
  const moving = `text{animation:${totalMs}ms step-end infinite}\n${names.join('')}`;
  const all = [...timings].map(([name, span]) => keyframes(name, span, totalMs));
  return `${all.join('')}@media (prefers-reduced-motion:no-preference){\n${moving}}\n`;
}

function keyframes(name: string, { fromMs, untilMs }: Span, totalMs: number): string {
  const at = (ms: number) => `${Number(((ms / totalMs) * 100).toFixed(3))}%`;
  const hidden = fromMs === 0 ? '' : '0%{visibility:hidden}';
  const gone = untilMs === totalMs ? '' : `${at(untilMs)}{visibility:hidden}`;
  return `@keyframes ${name}{${hidden}${at(fromMs)}{visibility:visible}${gone}}\n`;
}

function textOf(span: Span, totalMs: number): string {
  const { row, text, untilMs } = span;
  const runs = runsOf(text);
  const columns = runs.reduce((sum, run) => sum + [...run.text].length, 0);
  const classes = [...(untilMs === totalMs ? ['end'] : []), ...(isAlways(span, totalMs) ? [] : [nameOf(span)])];
  const place = `x="${PADDING}" y="${PADDING + row * CELL.height + BASELINE}" textLength="${Number((columns * CELL.width).toFixed(1))}"`;
  const inside = runs.map((run) =>
    run.classes === '' ? escaped(run.text) : `<tspan class="${run.classes}">${escaped(run.text)}</tspan>`,
  );
  return `<text ${place} class="${classes.join(' ')}">${inside.join('')}</text>`;
}

interface Run {
  readonly text: string;
  readonly classes: string;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression matches escape sequences
const ESCAPE = /\u001b\[([\d;]*)m/;

function withoutEscapes(line: string): string {
  return line.replaceAll(new RegExp(ESCAPE, 'g'), '');
}

/** Text and escape sequences alternate; tmux captures no other kinds of sequences. */
function runsOf(line: string): Run[] {
  const parts = line.trimEnd().split(ESCAPE);
  const look: PenState = { color: '', bold: false, dim: false };
  return parts.flatMap((part, index) => {
    if (index % 2 === 1) for (const code of part.split(';')) draw(look, Number(code));
    return index % 2 === 1 || part === '' ? [] : [{ text: part, classes: classesOf(look) }];
  });
}

interface PenState {
  color: string;
  bold: boolean;
  dim: boolean;
}

/** Applies the SGR codes that rdpipe uses: bold, dim, and the eight colors, bright or not. */
function draw(pen: PenState, code: number): void {
  if (code === 0) Object.assign(pen, { color: '', bold: false, dim: false });
  else if (code === 1) pen.bold = true;
  else if (code === 2) pen.dim = true;
  else if (code === 22) Object.assign(pen, { bold: false, dim: false });
  else if (code === 39) pen.color = '';
  else if (code === 90) pen.dim = true;
  else if ((code >= 31 && code <= 36) || (code >= 91 && code <= 96)) pen.color = `c${code % 10}`;
}

function classesOf({ color, bold, dim }: PenState): string {
  return [color, bold ? 'b' : '', dim ? 'd' : ''].filter((name) => name !== '').join(' ');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
