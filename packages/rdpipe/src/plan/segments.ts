/** Splits a pipeline into segments: stages that run at the same time. */
import { byPosition, type Pipeline, type Stage } from '../model/pipeline.ts';
import type { PlanInput } from './facts.ts';

/** The stages of a segment, and its input and output. */
export interface SegmentShape {
  readonly stages: readonly Stage[];
  /** Undefined if the first stage is a source, which needs no input. */
  readonly before: 'stdin' | 'null' | undefined;
  /** Undefined if the last stage is a sink, which has no output. */
  readonly after: 'stdout' | 'null' | undefined;
}

/** Each source begins a segment; only a source can follow a sink. */
export function splitSegments(pipeline: Pipeline, ends: Pick<PlanInput, 'stdin' | 'stdout'>): readonly SegmentShape[] {
  const groups = groupStages(pipeline.stages);
  return groups.map((stages, index) => ({
    stages,
    before: before(stages[0], index === 0 && ends.stdin === 'send'),
    after: after(stages.at(-1), index === groups.length - 1 && ends.stdout === 'arrive'),
  }));
}

/**
 * True if an agent on this machine must carry the user's own input or output. (A stage on this machine needs an agent
 * anyway.)
 */
export function needsLocal(pipeline: Pipeline, ends: Pick<PlanInput, 'stdin' | 'stdout'>): boolean {
  return splitSegments(pipeline, ends).some((shape) => shape.before === 'stdin' || shape.after === 'stdout');
}

function groupStages(stages: readonly Stage[]): readonly (readonly Stage[])[] {
  const groups: Stage[][] = [];
  for (const parts of byPosition(stages)) {
    const current = groups.at(-1);
    if (current === undefined || parts[0].kind === 'source') groups.push([...parts]);
    else current.push(...parts);
  }
  return groups;
}

function before(first: Stage | undefined, isStdin: boolean): SegmentShape['before'] {
  if (first?.kind === 'source') return undefined;
  return isStdin ? 'stdin' : 'null';
}

function after(last: Stage | undefined, isStdout: boolean): SegmentShape['after'] {
  if (last?.kind === 'sink') return undefined;
  return isStdout ? 'stdout' : 'null';
}
