/** Messages between rdpipe and the agent: docs/protocol.md, section 2. Bytes are hexadecimal, times milliseconds. */

export const PROTOCOL_VERSION = 1;

export interface AgentHello {
  readonly v: number;
  readonly version: string;
  readonly os: string;
  readonly cpu: string;
  readonly boot_id: string;
  readonly net_ns: number;
  readonly uid: number;
  readonly user: string;
  readonly hostname: string;
  readonly pid: number;
  readonly ssh_connection: string | null;
  readonly aes: boolean;
  /** Bytes; null: no limit. */
  readonly memlock: number | null;
  /** Why rdsend and rdrecv cannot do RDMA there though a port is active. */
  readonly rdma_lacks: string | null;
  readonly addresses: readonly HostAddress[];
  readonly rdma: readonly RdmaPort[];
}

export interface HostAddress {
  readonly address: string;
  readonly prefix: number;
  readonly interface: string;
  readonly up: boolean;
  readonly speed_mbps: number | null;
  readonly kind: 'physical' | 'virtual' | 'bridge' | 'loopback';
  readonly mtu: number;
}

export interface RdmaPort {
  readonly device: string;
  readonly port: number;
  readonly state: 'active' | 'down' | 'init' | 'armed';
  readonly rate_mbps: number;
  readonly link_layer: 'ethernet' | 'infiniband';
  readonly mtu: number | null;
  /** Whose addresses lead to the port. */
  readonly interface: string | null;
  readonly numa: number | null;
  /** Kinds of its usable GIDs, as the kernel names them: `RoCE v2`. */
  readonly gids: readonly string[];
}

export type Transport = 'tcp' | 'rdma';

export type HopEnd = 'send' | 'recv';

export type AgentStage =
  | {
      readonly stage: number;
      readonly kind: 'command';
      readonly command: string;
      readonly shell: string;
      readonly ok: readonly number[];
      readonly in: number;
      readonly out: number;
    }
  | { readonly stage: number; readonly kind: 'source'; readonly word: string; readonly out: number }
  | {
      readonly stage: number;
      readonly kind: 'sink';
      readonly word: string;
      readonly append: boolean;
      readonly in: number;
    };

export type LinkSource = 'stage' | 'stdin' | 'null';
export type LinkSink = 'stage' | 'stdout' | 'null';

/** `tcp`: `always` over TCP, `auth` over RDMA. */
export type LinkEncrypt = 'always' | 'auth' | 'never' | 'tcp';

interface HopLinkBase {
  readonly link: number;
  readonly kind: 'hop';
  readonly key: string;
  readonly encrypt: LinkEncrypt;
  /** 0: none; 1 to 19: level of zstd. */
  readonly compress: number;
  /** Threads that compress and encrypt; 0: as many as there are processors, at most 8. */
  readonly jobs: number;
  /** Bytes of the stream a second; 0: none. */
  readonly limit: number;
  readonly numa: boolean;
  readonly buffer: number;
  readonly bind: string | null;
  readonly ports: readonly [number, number];
  readonly poll: boolean;
}

export type AgentLink =
  | { readonly link: number; readonly kind: 'null' | 'stdin' | 'stdout' | 'pipe' }
  | (HopLinkBase & { readonly end: 'send'; readonly source: LinkSource })
  | (HopLinkBase & { readonly end: 'recv'; readonly sink: LinkSink })
  | {
      readonly link: number;
      readonly kind: 'local';
      readonly key: string;
      readonly source: LinkSource;
      readonly sink: LinkSink;
      readonly buffer: number;
    };

export type DialAddress =
  | {
      readonly host: string;
      readonly port: number;
      /** Absent: tcp. */
      readonly transport?: Transport;
      /** Over RDMA, the dialler's own address; null or absent: the routing table decides. */
      readonly from?: string | null;
    }
  | { readonly unix: string };

export type AgentRequest =
  | {
      readonly op: 'prepare';
      readonly segment: number;
      readonly run: string;
      readonly lenient: boolean;
      readonly lease_ms: number;
      readonly connect_timeout_ms: number;
      readonly stall_timeout_ms: number;
      readonly stages: readonly AgentStage[];
      readonly links: readonly AgentLink[];
    }
  | {
      readonly op: 'listen';
      readonly link: number;
      readonly end: HopEnd;
      readonly transport: Transport;
      readonly bind: string | null;
    }
  | { readonly op: 'dial'; readonly link: number; readonly end: HopEnd; readonly addresses: readonly DialAddress[] }
  /** The answer to `output`. */
  | { readonly op: 'show'; readonly link: number; readonly end: 'recv' }
  | { readonly op: 'go'; readonly segment: number }
  | { readonly op: 'stderr_ack'; readonly stage: number; readonly bytes: number }
  | { readonly op: 'suspend' | 'resume' | 'finish' | 'ping' }
  | { readonly op: 'abort'; readonly reason: string };

/** Names of docs/protocol.md, section 4.1. */
export type NativeCode =
  | 'ok'
  | 'usage'
  | 'cannot_connect'
  | 'key_refused'
  | 'peer_lost'
  | 'peer_stalled'
  | 'source_unreadable'
  | 'sink_unwritable'
  | 'data_damaged'
  | 'aborted'
  | 'closed'
  | 'internal';

export type AgentEvent =
  | { readonly event: 'prepared'; readonly segment: number }
  | {
      readonly event: 'listening';
      readonly link: number;
      readonly end: HopEnd;
      readonly transport: Transport;
      readonly port: number;
    }
  | {
      readonly event: 'listen_failed';
      readonly link: number;
      readonly end: HopEnd;
      readonly transport: Transport;
      readonly code: NativeCode;
      readonly message: string;
    }
  | {
      readonly event: 'dial_failed';
      readonly link: number;
      readonly end: HopEnd;
      readonly code: NativeCode;
      readonly message: string;
    }
  | {
      readonly event: 'connected';
      readonly link: number;
      readonly end: HopEnd;
      readonly transport: string;
      readonly cipher: string;
      readonly local: string;
      readonly peer: string;
      readonly device: string | null;
      /** The node that the end went to, on a machine of several. */
      readonly numa: number | null;
      /** What the user should know. */
      readonly note: string | null;
    }
  /** The connection broke and is being made anew. */
  | { readonly event: 'broken'; readonly link: number; readonly end: HopEnd; readonly message: string }
  | {
      readonly event: 'resumed';
      readonly link: number;
      readonly end: HopEnd;
      readonly epoch: number;
      /** Position in the stream from which it goes on. */
      readonly bytes: number;
    }
  | { readonly event: 'size'; readonly link: number; readonly bytes: number }
  | { readonly event: 'started'; readonly stage: number; readonly pid: number }
  | {
      readonly event: 'counters';
      readonly link: number;
      readonly end: HopEnd;
      readonly bytes: number;
      /** Of DATA frames, over all connections. */
      readonly wire_bytes: number;
      readonly input_ms: number;
      /** Held back by the limit; of a sender. */
      readonly limit_ms: number;
      /** For the threads that compress and encrypt, or undo it. */
      readonly worker_ms: number;
      readonly wire_ms: number;
      readonly output_ms: number;
      /** Shortest round trip of a PING; 0: none yet. */
      readonly rtt_us: number;
    }
  /** The first byte for the user's terminal waits for `show`, not for long. */
  | { readonly event: 'output'; readonly link: number; readonly end: 'recv' }
  | { readonly event: 'stderr'; readonly stage: number; readonly data: string }
  | {
      readonly event: 'exited';
      readonly stage: number;
      readonly code: number | null;
      readonly signal: number | null;
      readonly stopped: boolean;
      readonly consumer_closed: boolean;
      readonly user_ms: number;
      readonly system_ms: number;
      readonly max_rss_kib: number;
    }
  | {
      readonly event: 'link_ended';
      readonly link: number;
      readonly end: HopEnd;
      readonly result: 'delivered' | 'closed' | 'aborted' | 'failed';
      readonly status: number;
      readonly code: NativeCode;
      readonly message: string;
      readonly bytes: number;
      readonly wire_bytes: number;
      /** Of the native program. */
      readonly user_ms: number;
      readonly system_ms: number;
      readonly max_rss_kib: number;
    }
  | { readonly event: 'failed'; readonly stage: number | null; readonly code: NativeCode; readonly message: string }
  | { readonly event: 'left_behind'; readonly pid: number; readonly command: string }
  | { readonly event: 'segment_ended'; readonly segment: number }
  | { readonly event: 'ended' }
  | { readonly event: 'alive' };
