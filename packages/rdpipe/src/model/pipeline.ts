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

export const THIS_MACHINE: HostRef = { name: '', user: undefined, label: 'this machine' };

interface StageBase {
  /** From 1, in the order in which they were written. */
  readonly number: number;
  readonly host: HostRef;
  /** Command or word for people: decoded as UTF-8, control characters replaced. */
  readonly text: string;
}

export interface CommandStage extends StageBase {
  readonly kind: 'command';
  /** Exactly the bytes the user gave. */
  readonly command: Uint8Array;
  readonly shell: string;
  /** Exit statuses that count as success; always holds 0. */
  readonly ok: readonly number[];
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
}

export type Stage = CommandStage | SourceStage | SinkStage | TreeStage;

export interface Pipeline {
  readonly stages: readonly [Stage, ...Stage[]];
}

/** The exit statuses of a stage's process that are success; undefined: a file, which has no process. */
export function okStatuses(stage: Stage): readonly number[] | undefined {
  if (stage.kind === 'command') return stage.ok;
  return stage.kind === 'tree' ? [0] : undefined;
}

/** A command of our own. */
export function commandStage(number: number, host: HostRef, text: string, ok: readonly number[] = [0]): CommandStage {
  return { kind: 'command', number, host, text, command: Buffer.from(text), shell: 'sh', ok };
}
