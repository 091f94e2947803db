/** A pipeline without some of its hosts, as permitted by --require: their parts are left out. Pure. */
import { byPosition, type HostRef, type Pipeline, type Stage } from '../model/pipeline.ts';
import type { Settings } from '../model/settings.ts';

type Parts = readonly [Stage, ...Stage[]];

/**
 * Returns the pipeline without these hosts, or the reason why it cannot run without them. If a stage feeds another one
 * rank by rank, both lose the same ranks. The ranks, widths and numbers of the remaining parts do not change.
 */
export function withoutHosts(
  { stages }: Pipeline,
  absent: ReadonlySet<HostRef>,
  require: Settings['require'],
): Pipeline | string {
  const spare = new Set(stages.flatMap(({ part, host }) => (part === undefined ? [] : [host])));
  if ([...absent].some((host) => !spare.has(host))) return 'the pipeline cannot run without it';
  const groups = rankByRank(byPosition(stages)).map((positions) => withoutRanks(positions, absent));
  const short = groups.flat().find((position) => position.left.length < leastOf(require, position.width));
  if (short !== undefined) return tooFew(short, require);
  const [first, ...others] = groups.flat().flatMap(({ left }) => left);
  if (first === undefined) return 'no stage is left';
  const numbers = new Set([first, ...others].map(({ number }) => number));
  const gathered = (stage: Stage) => gatherOnly(stage, numbers);
  return { stages: [gathered(first), ...others.map(gathered)] };
}

/** Returns how many hosts of a stage must succeed. */
export function leastOf(require: Settings['require'], width: number): number {
  if (require === 'all') return width;
  return require === 'any' ? 1 : Math.min(require, width);
}

/** Returns the number of hosts for which a stage was written. */
export function widthOf([stage]: Parts): number {
  return stage.part?.width ?? 1;
}

/**
 * Groups neighbouring stages with the same number of hosts, of which the i-th feeds the i-th. Any other stage is its
 * own group.
 */
function rankByRank(positions: readonly Parts[]): readonly (readonly Parts[])[] {
  const groups: Parts[][] = [];
  for (const parts of positions) {
    const group = groups.at(-1);
    const before = group?.at(-1);
    const isFed = before !== undefined && widthOf(before) === widthOf(parts) && parts[0].kind !== 'source';
    if (group !== undefined && isFed) group.push(parts);
    else groups.push([parts]);
  }
  return groups;
}

interface Position {
  readonly width: number;
  readonly left: readonly Stage[];
}

function withoutRanks(positions: readonly Parts[], absent: ReadonlySet<HostRef>): readonly Position[] {
  const gone = new Set(positions.flat().flatMap(({ host, part }) => (absent.has(host) ? [part?.rank] : [])));
  const isLeft = ({ part }: Stage) => part === undefined || !gone.has(part.rank);
  return positions.map((parts) => ({ width: widthOf(parts), left: parts.filter(isLeft) }));
}

function tooFew({ left, width }: Position, require: Settings['require']): string {
  const asked = require === 'all' ? 'all are required (--require)' : `--require ${require} needs more`;
  return `${left.length} of ${width} hosts are left, but ${asked}`;
}

function gatherOnly(stage: Stage, numbers: ReadonlySet<number>): Stage {
  if (stage.kind !== 'gather') return stage;
  const { ins, labels } = stage;
  const isLeft = ins.map((number) => numbers.has(number));
  const left = <Item>(items: readonly Item[]) => items.filter((_, index) => isLeft[index]);
  return { ...stage, ins: left(ins), ...(labels && { labels: left(labels) }) };
}
