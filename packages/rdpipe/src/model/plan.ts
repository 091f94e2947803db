/** The plan: the pipeline and every decision about it, with reasons, without keys; `-n` prints it. */
import type { Stage } from './pipeline.ts';
import type { DialAddress, HopPlan, LinkSink, LinkSource, LocalOptions, Transport } from './protocol.ts';

/** Numbered in the order in which the plan uses the sessions; `local` is this machine. */
export type SessionId = string;

export interface PlannedSession {
  readonly id: SessionId;
  /** As the user wrote it: `h1`; `this machine` for the local one. */
  readonly label: string;
}

/** An address for a hop, and the end that dials it. Tried in order, without giving up earlier candidates. */
export interface Candidate {
  readonly transport: Transport;
  readonly dialer: 'sender' | 'receiver';
  /**
   * `address`: dialed directly. `forward`: through the ssh master of the session that is not local. `relay`: through
   * the masters of both sessions, and therefore through this machine.
   */
  readonly way: 'address' | 'forward' | 'relay';
  readonly host: string;
  /** Further addresses of the same end, which the hop uses at the same time. */
  readonly others?: readonly Pick<Candidate, 'host' | 'from'>[];
  /** Over RDMA, the dialer's own address; null: the routing table decides. */
  readonly from: string | null;
  /** Over RDMA, for people: `mlx5_0`, or `mlx5_0→mlx5_1` if the devices of the ends have different names. */
  readonly device: string | null;
  /** The reason for it, for people: `RoCE v2, 100 Gb/s`, `ssh address`, `--data`, `forwarded through ssh`. */
  readonly why: string;
}

/** A link of a chain, in which hosts pass one stream on. */
export interface ChainLink {
  /** The number of the chain's first link. */
  readonly head: number;
  /** The previous link, whose stream this one passes on from the host between them; undefined: the first link. */
  readonly relay: number | undefined;
  /** The number of hosts that get the stream over this link: its receiver and all hosts after it. */
  readonly receivers: number;
  /** The first sender signs the stream, because a hop of the chain is protected. */
  readonly isSigned: boolean;
}

interface LinkBase {
  /** 0 joins standard input to stage 1, k joins stage k to k+1, n joins the last stage to standard output. */
  readonly number: number;
  readonly chain?: ChainLink;
}

export type PlannedLink = LinkBase &
  (
    | { readonly kind: 'null' | 'stdin' | 'stdout' | 'pipe'; readonly session: SessionId }
    | {
        readonly kind: 'local';
        readonly session: SessionId;
        readonly source: LinkSource;
        readonly sink: LinkSink;
        readonly open: LocalOptions;
      }
    | {
        readonly kind: 'hop';
        /** The link's number on the sender's host, which differs from the receiver's after a chain was repaired. */
        readonly sendNumber?: number;
        readonly from: SessionId;
        readonly to: SessionId;
        readonly source: LinkSource;
        readonly sink: LinkSink;
        /** The transport of the first candidate. */
        readonly transport: Transport;
        readonly open: HopPlan;
        /**
         * The reason for this transport and encryption:
         * `rdma mlx5_0 (RoCE v2, 100 Gb/s), authenticated, not encrypted (the default of RDMA)`.
         */
        readonly why: string;
        readonly candidates: readonly Candidate[];
        /** The host that joins the ends if no candidate connects; settled before the plan that is run. */
        readonly relay?: string;
        /** The addresses on which the ends listen; null: all. Over RDMA only the receiver listens. */
        readonly bind: {
          readonly sender: string | null;
          readonly receiver: string | null;
          readonly rdma: string | null;
        };
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

/** Stages that run at the same time. A `<` in mid-pipeline begins a new segment. */
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
