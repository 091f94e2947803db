/** The pipeline as the user wrote it: stages in order. */
import type { HostRef, Relay } from './host-ref.ts';
import type { TreeSettings } from './tree.ts';

export type { HostRef, Relay };

export const THIS_MACHINE: HostRef = { name: '', user: undefined, label: 'this machine' };

/** One host's part of a stage that runs on several hosts. */
export interface StagePart {
  /** The position of the written stage, from 1. */
  readonly position: number;
  /** The position of the host in its list, from 0. */
  readonly rank: number;
  readonly width: number;
}

interface StageBase {
  /**
   * From 1, in the order in which the stages were written. Each part of a stage on several hosts has its own number:
   * the position of the written stage, plus the rank times (the number of written stages + 1).
   */
  readonly number: number;
  readonly part?: StagePart;
  readonly host: HostRef;
  /** Command or word for people: decoded as UTF-8, control characters replaced. */
  readonly text: string;
}

export interface CommandStage extends StageBase {
  readonly kind: 'command';
  /** Exactly the bytes the user gave. */
  readonly command: Uint8Array;
  /** A name or a path; undefined: the user's login shell, as sshd starts it. */
  readonly shell: string | undefined;
  /** Exit statuses that count as success; always includes 0. */
  readonly ok: readonly number[];
  /** If the stage fails, its reader still gets a clean end of file, and the run continues. */
  readonly lenient?: true;
}

export interface SourceStage extends StageBase {
  readonly kind: 'source';
  /** One shell word, expanded by the host's shell. */
  readonly word: Uint8Array;
}

export interface SinkStage extends StageBase {
  readonly kind: 'sink';
  readonly word: Uint8Array;
  readonly append: boolean;
}

/** One program of a copy: it scans, compares, reads or writes a tree (docs/protocol/trees.md, section 5). */
export interface TreeStage extends StageBase {
  readonly kind: 'tree';
  readonly settings: TreeSettings;
  /** The numbers of the stages that it reads from, if several. */
  readonly ins?: readonly number[];
}

/** The far end of forwarded connections, which share one stream per direction: docs/protocol/forwards.md, section 7. */
export interface ForwardStage extends StageBase {
  readonly kind: 'forward';
}

/** Merges the outputs of several hosts into one stream (docs/protocol/gathering.md, section 8). Added by rdpipe. */
export interface GatherStage extends StageBase {
  readonly kind: 'gather';
  readonly mode: 'lines' | 'concat' | 'fold';
  /** The numbers of the gathered stages, in the order of their hosts. */
  readonly ins: readonly number[];
  /** The prefix of each stage's lines, or for `fold` the name of its host, in the order of `ins`. */
  readonly labels?: readonly string[];
}

export type Stage = CommandStage | SourceStage | SinkStage | TreeStage | ForwardStage | GatherStage;

export interface Pipeline {
  readonly stages: readonly [Stage, ...Stage[]];
}

/** The position of a stage among the written stages, from 1. */
export function positionOf({ number, part }: Stage): number {
  return part?.position ?? number;
}

/** The stages grouped by written stage, in order: a group is one stage, or the parts of its hosts. */
export function byPosition(stages: readonly Stage[]): readonly (readonly [Stage, ...Stage[]])[] {
  const groups: [Stage, ...Stage[]][] = [];
  for (const stage of stages) {
    const group = groups.at(-1);
    if (group !== undefined && positionOf(group[0]) === positionOf(stage)) group.push(stage);
    else groups.push([stage]);
  }
  return groups;
}

/** The numbers of the stages that a stage with several inputs reads from; undefined: it has one input, or none. */
export function inputsOf(stage: Stage): readonly number[] | undefined {
  return stage.kind === 'gather' || stage.kind === 'tree' ? stage.ins : undefined;
}

/** The exit statuses of a stage's process that count as success; undefined: a file, which has no process. */
export function okStatuses(stage: Stage): readonly number[] | undefined {
  if (stage.kind === 'command') return stage.ok;
  return stage.kind === 'source' || stage.kind === 'sink' ? undefined : [0];
}

/** Returns how a process ended, given the exit statuses that count as success. */
export function exitOutcome(
  { code, stopped, consumerClosed }: { code: number | null; stopped: boolean; consumerClosed: boolean },
  ok: readonly number[],
): 'stopped' | 'succeeded' | 'consumer_closed' | 'failed' {
  if (stopped) return 'stopped';
  if (code !== null && ok.includes(code)) return 'succeeded';
  return consumerClosed ? 'consumer_closed' : 'failed';
}

/** A pipeline that forwards connections to and from `host`. */
export function forwardPipeline(host: HostRef): Pipeline {
  return { stages: [{ kind: 'forward', number: 1, host, text: 'rdforward' }] };
}

/** A stage for a command of rdpipe's own, run by sh. */
export function commandStage(number: number, host: HostRef, text: string, ok: readonly number[] = [0]): CommandStage {
  return { kind: 'command', number, host, text, command: Buffer.from(text), shell: 'sh', ok };
}
