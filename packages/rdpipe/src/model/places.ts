/** Positions of stages and links in the pipeline as written, with the ranks of hosts. Pure. */
import { positionOf } from './pipeline.ts';
import type { Plan, PlannedLink, Segment } from './plan.ts';

/** The position of a written stage; with the host's rank, from 0, if the stage runs on several hosts. */
export interface Place {
  readonly stage: number;
  readonly rank?: number;
}

/** Places by number. The place of a link is that of the stage it leads to, otherwise of the stage it comes from. */
export interface Places {
  readonly stages: ReadonlyMap<number, Place>;
  readonly links: ReadonlyMap<number, Place>;
}

export const NO_PLACES: Places = { stages: new Map(), links: new Map() };

/** The places of all stages and links of a plan. */
export function placesOf({ segments }: Plan): Places {
  const planned = segments.flatMap(({ stages }) => stages);
  const stages = new Map<number, Place>();
  const links = new Map<number, Place>();
  for (const { stage, out } of planned) {
    const place = { stage: positionOf(stage), ...(stage.part && { rank: stage.part.rank }) };
    stages.set(stage.number, place);
    if (out !== undefined) links.set(out, place);
  }
  for (const { stage, in: into } of planned) {
    const place = stages.get(stage.number);
    if (into !== undefined && place !== undefined && stage.kind !== 'gather') links.set(into, place);
  }
  return { stages, links };
}

/** The links of a segment in groups: the links of one stage's hosts, and the links of a chain from first to last. */
export function linkGroups(segment: Segment): readonly (readonly PlannedLink[])[] {
  const groups = new Map<string, PlannedLink[]>();
  const keys = groupKeys(segment);
  for (const link of segment.links) {
    const key = link.chain === undefined ? (keys.get(link.number) ?? `${link.number}`) : `chain ${link.chain.head}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [link]);
    else group.push(link);
  }
  return [...groups.values()];
}

function groupKeys({ stages }: Segment): ReadonlyMap<number, string> {
  const keys = new Map<number, string>();
  for (const { stage, in: into } of stages) if (into !== undefined) keys.set(into, `to ${positionOf(stage)}`);
  for (const { stage, out } of stages) if (out !== undefined) keys.set(out, `from ${positionOf(stage)}`);
  return keys;
}
