/** The colours of plots, for a light and a dark page. */

interface Shade {
  readonly light: string;
  readonly dark: string;
}

const TEXT: Shade = { light: '#1f2328', dark: '#e6edf3' };
const LINE: Shade = { light: '#d1d9e0', dark: '#3d444d' };
const GROUND: Shade = { light: '#ffffff', dark: '#0d1117' };
/** Distinct also for readers who cannot see red or green. */
const SERIES: readonly Shade[] = [
  { light: '#0072b2', dark: '#4aa8e0' },
  { light: '#d55e00', dark: '#ff8b3d' },
  { light: '#009e73', dark: '#2ecc9b' },
  { light: '#b0568b', dark: '#e39ac5' },
  { light: '#b58900', dark: '#f0c040' },
  { light: '#5e5ec9', dark: '#a3a3ff' },
  { light: '#6e7781', dark: '#afb8c1' },
  { light: '#8c4a1f', dark: '#d19a73' },
];

export const TEXT_COLOR = TEXT.light;
export const LINE_COLOR = LINE.light;
export const GROUND_COLOR = GROUND.light;
/** More series than colours use the colours again, with another dash pattern. */
export const SERIES_COLORS: readonly string[] = SERIES.map(({ light }) => light);

/** A plot is drawn in the light colours; these rules replace them if the reader prefers dark. */
export const DARK_RULES = [
  '@media (prefers-color-scheme: dark) {',
  ...[TEXT, LINE, GROUND, ...SERIES].flatMap(({ light, dark }) => [
    `[fill="${light}"] { fill: ${dark} }`,
    `[stroke="${light}"] { stroke: ${dark} }`,
  ]),
  '}',
].join('\n');
