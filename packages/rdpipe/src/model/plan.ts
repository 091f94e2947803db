/** The plan: the pipeline and every decision about it, with reasons, without keys; `-n` prints it. */
import type { Stage } from './pipeline.ts';
import type { DialAddress, LinkEncrypt, LinkSink, LinkSource, Transport } from './protocol.ts';

/** Sessions are numbered as the plan first meets them; `local` is this machine. */
export type SessionId = string;

export interface PlannedSession {
  readonly id: SessionId;
  /** As the user wrote it: `h1`; `this machine` for the local one. */
  readonly label: string;
}

/** An address to connect a hop by, and the end that dials it. In order; later ones are tried beside earlier ones. */
export interface Candidate {
  readonly transport: Transport;
  readonly dialer: 'sender' | 'receiver';
  /**
   * `address`: dialled directly. `forward`: through the ssh master of the session that is not local. `relay`: through
   * the masters of both, and so through this machine.
   */
  readonly way: 'address' | 'forward' | 'relay';
  readonly host: string;
  /** Over RDMA, the dialer's own address; null: the routing table decides. */
  readonly from: string | null;
  /** Over RDMA, for people: `mlx5_0`; `mlx5_0→mlx5_1` where the two ends name theirs differently. */
  readonly device: string | null;
  /** The reason for it, for people: `RoCE v2, 100 Gb/s`, `ssh address`, `--data`, `forwarded through ssh`. */
  readonly why: string;
}

/** A link of a chain of hosts that pass one stream on. */
export interface ChainLink {
  /** The number of the chain's first link. */
  readonly head: number;
  /** The link whose stream this one passes on, received where this one begins; undefined: the first one. */
  readonly relay: number | undefined;
  /** The hosts that get the stream over it: its receiver and all behind. */
  readonly receivers: number;
  /** The stream is signed by its first sender: some hop of the chain is protected. */
  readonly isSigned: boolean;
}

interface LinkBase {
  /** 0 joins standard input to stage 1, k stage k to k+1, n the last stage to standard output. */
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
        readonly buffer: number;
      }
    | {
        readonly kind: 'hop';
        /** Of the sending end, where a chain was mended and it is another one: it is the number that its host knows. */
        readonly sendNumber?: number;
        readonly from: SessionId;
        readonly to: SessionId;
        readonly source: LinkSource;
        readonly sink: LinkSink;
        /** Of the first candidate. */
        readonly transport: Transport;
        readonly encrypt: LinkEncrypt;
        /**
         * The reason for this transport and encryption:
         * `rdma mlx5_0 (RoCE v2, 100 Gb/s), authenticated, not encrypted (the default of RDMA)`.
         */
        readonly why: string;
        readonly candidates: readonly Candidate[];
        /** The host that joins the ends where no candidate does, which is found out before a plan that is run. */
        readonly relay?: string;
        /** The addresses that the ends bind when they listen, null: all. Over RDMA the receiver listens, always. */
        readonly bind: {
          readonly sender: string | null;
          readonly receiver: string | null;
          readonly rdma: string | null;
        };
        /** Of listening ends, first and last; [0, 0]: the kernel chooses. */
        readonly ports: readonly [number, number];
        /** Look for messages without ever sleeping. */
        readonly poll: boolean;
        /** Level of zstd, 1 to 19; 0: not compressed. */
        readonly compress: number;
        /** Threads of an end that compress and encrypt; 0: as many as its host has processors, at most 8. */
        readonly jobs: number;
        /** Bytes of the stream a second; 0: none. */
        readonly limit: number;
        /** Over RDMA, threads and memory of an end are where its device is. */
        readonly numa: boolean;
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

/** Stages that run at the same time. A `<` in mid-pipeline begins a new one. */
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
