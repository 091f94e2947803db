/** The pipeline as the user wrote it: stages in order. */
import type { TreeSettings } from './tree.ts';

/** A host as written in a stage; `undefined` user means what ssh resolves. */
export interface HostRef {
  /** As the user wrote it, without the user: `h1`, `2001:db8::1`, `fe80::1%eth0`; empty for this machine. */
  readonly name: string;
  readonly user: string | undefined;
  /** For messages: `ann@h1`, `[fe80::1%eth0]`, `this machine`. */
  readonly label: string;
  /** A host that serves copies: no ssh. Its `user` is the client's name there. */
  readonly served?: { readonly port: number };
}

/** How hosts without a path to each other are joined: through ssh's connections here, not at all, or through a host. */
export type Relay = 'auto' | 'never' | HostRef;

export const THIS_MACHINE: HostRef = { name: '', user: undefined, label: 'this machine' };

/** The part of one host in a stage that stands on several. */
export interface StagePart {
  /** Of the written stage, from 1. */
  readonly position: number;
  /** Of the host in its list, from 0. */
  readonly rank: number;
  readonly width: number;
}

interface StageBase {
  /**
   * From 1, in the order in which they were written. Of a stage on several hosts each host's part has its own: that of
   * the written stage, and for each rank one more than there are written stages is added.
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
  /** Exit statuses that count as success; always holds 0. */
  readonly ok: readonly number[];
  /** Its reader gets a clean end of file also where it fails, and the run goes on. */
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

/** One program of a copy: it scans, compares, reads or writes a tree (docs/protocol.md, section 5). */
export interface TreeStage extends StageBase {
  readonly kind: 'tree';
  readonly settings: TreeSettings;
  /** Of several inputs: the stages that they come from, by number. */
  readonly ins?: readonly number[];
}

/** The far end of forwarded connections, which come as one stream each way (docs/protocol.md, section 7). */
export interface ForwardStage extends StageBase {
  readonly kind: 'forward';
}

/** Makes one stream of the outputs of several hosts (docs/protocol.md, section 8). The user has not written it. */
export interface GatherStage extends StageBase {
  readonly kind: 'gather';
  readonly mode: 'lines' | 'concat';
  /** The stages that it gathers, by number, in the order of their hosts. */
  readonly ins: readonly number[];
  /** In front of each line of theirs. */
  readonly labels?: readonly string[];
}

export type Stage = CommandStage | SourceStage | SinkStage | TreeStage | ForwardStage | GatherStage;

export interface Pipeline {
  readonly stages: readonly [Stage, ...Stage[]];
}

/** The place of a stage among the written ones, from 1. */
export function positionOf({ number, part }: Stage): number {
  return part?.position ?? number;
}

/** The stages of each written one, in order: one, or the parts of its hosts. */
export function byPosition(stages: readonly Stage[]): readonly (readonly [Stage, ...Stage[]])[] {
  const groups: [Stage, ...Stage[]][] = [];
  for (const stage of stages) {
    const group = groups.at(-1);
    if (group !== undefined && positionOf(group[0]) === positionOf(stage)) group.push(stage);
    else groups.push([stage]);
  }
  return groups;
}

/** The stages that a stage with several inputs reads from, by number; undefined: it has one input, or none. */
export function inputsOf(stage: Stage): readonly number[] | undefined {
  return stage.kind === 'gather' || stage.kind === 'tree' ? stage.ins : undefined;
}

/** The exit statuses of a stage's process that are success; undefined: a file, which has no process. */
export function okStatuses(stage: Stage): readonly number[] | undefined {
  if (stage.kind === 'command') return stage.ok;
  return stage.kind === 'source' || stage.kind === 'sink' ? undefined : [0];
}

/** Connections to and from a host. */
export function forwardPipeline(host: HostRef): Pipeline {
  return { stages: [{ kind: 'forward', number: 1, host, text: 'rdforward' }] };
}

/** A command of our own. */
export function commandStage(number: number, host: HostRef, text: string, ok: readonly number[] = [0]): CommandStage {
  return { kind: 'command', number, host, text, command: Buffer.from(text), shell: 'sh', ok };
}
