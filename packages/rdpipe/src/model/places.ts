/** Where stages and links stand in the pipeline as it was written: positions, and ranks of hosts. Pure. */
import { positionOf } from './pipeline.ts';
import type { Plan, PlannedLink, Segment } from './plan.ts';

/** A stage as it was written; its host's rank, from 0, where it stands on several. */
export interface Place {
  readonly stage: number;
  readonly rank?: number;
}

/** By stage number, and by link number: a link is where the stage that it leads to is, else the one it comes from. */
export interface Places {
  readonly stages: ReadonlyMap<number, Place>;
  readonly links: ReadonlyMap<number, Place>;
}

export const NO_PLACES: Places = { stages: new Map(), links: new Map() };

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

/** The links of a segment in groups: those of the hosts of one stage, and of a chain from its first to its last. */
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
