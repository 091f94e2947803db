/** The pipeline plus everything that was decided about it. Pure data; `--dry-run` prints it. Keys are not part of it. */
import type { Stage } from './pipeline.ts';
import type { DialAddress, LinkSink, LinkSource } from './protocol.ts';

/** Sessions are numbered as the plan first meets them; `local` is this machine. */
export type SessionId = string;

export interface PlannedSession {
  readonly id: SessionId;
  /** As the user wrote it: `h1`; `this machine` for the local one. */
  readonly label: string;
}

/** One way to connect a hop: who listens, who dials, where. Tried in order, later ones join while earlier ones are still trying. */
export interface Candidate {
  readonly dialler: 'sender' | 'receiver';
  /** `address`: dialled directly. `forward`: through the ssh master of the session that is not local. */
  readonly way: 'address' | 'forward';
  readonly host: string;
  /** Why it is here, for people: `address of ssh`, `--data`, `receiver dials`, `forwarded through ssh`. */
  readonly why: string;
}

interface LinkBase {
  /** 0 joins standard input to stage 1, k stage k to k+1, n the last stage to standard output. */
  readonly number: number;
}

export type PlannedLink = LinkBase &
  (
    | { readonly kind: 'null' | 'stdin' | 'stdout' | 'pipe'; readonly session: SessionId }
    | {
        readonly kind: 'local';
        readonly session: SessionId;
        readonly source: LinkSource;
        readonly sink: LinkSink;
        readonly buffer: number;
      }
    | {
        readonly kind: 'hop';
        readonly from: SessionId;
        readonly to: SessionId;
        readonly source: LinkSource;
        readonly sink: LinkSink;
        readonly transport: 'tcp';
        readonly encrypt: boolean;
        /** Why this transport and encryption: `tcp, encrypted (leaves the machine)`. */
        readonly why: string;
        readonly candidates: readonly Candidate[];
        readonly bind: { readonly sender: string | null; readonly receiver: string | null };
        readonly ports: readonly [number, number];
        readonly buffer: number;
      }
  );

export type HopLink = Extract<PlannedLink, { kind: 'hop' }>;
export type LocalLink = Extract<PlannedLink, { kind: 'local' }>;

export interface PlannedStage {
  readonly stage: Stage;
  readonly session: SessionId;
  readonly in: number | undefined;
  readonly out: number | undefined;
}

/** Stages that run at the same time. A `<` or a stage after `>` in mid-pipeline begins a new one. */
export interface Segment {
  /** From 1. */
  readonly number: number;
  readonly stages: readonly PlannedStage[];
  readonly links: readonly PlannedLink[];
}

export interface Plan {
  readonly run: string;
  readonly sessions: readonly PlannedSession[];
  readonly segments: readonly Segment[];
}

export type { DialAddress };
