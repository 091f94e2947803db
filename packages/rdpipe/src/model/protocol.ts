/**
 * Messages between rdpipe and the agent: docs/protocol/agent.md, section 2.
 * Bytes are hexadecimal, times milliseconds.
 */
import * as v from 'valibot';
import { CIPHERS } from './cipher.ts';
import type { HopOptions } from './option-fields.ts';
import { printable, shorten } from './text.ts';
import type { TreeSettings } from './tree.ts';

export const PROTOCOL_VERSION = 1;

/** The longest request that an agent accepts, without its newline. */
export const REQUEST_MAX_BYTES = 16 * 1024 * 1024;

const ADDRESSES_MAX = 256;
const PORTS_MAX = 64;
const KINDS_OF_GIDS_MAX = 16;

/** Enough for a message with a long command line or the longest file path in it. */
const TEXT_MAX_CHARACTERS = 8192;
const NAME_MAX_CHARACTERS = 255;
const SIGNAL_MAX = 64;

/** Text from a host, for people: made safe here for all places that show it. */
const textOf = (limit: number) =>
  v.pipe(
    v.string(),
    v.transform((text) => printable(shorten(text, limit))),
  );
const Text = textOf(TEXT_MAX_CHARACTERS);
const Name = textOf(NAME_MAX_CHARACTERS);
const Count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const End = v.picklist(['send', 'recv']);
const HopTransport = v.picklist(['tcp', 'rdma']);
const Hex = v.pipe(v.string(), v.regex(/^(?:[0-9a-f]{2})*$/i));
/** Names of docs/protocol/statuses.md, section 4.1. */
const Code = v.picklist([
  'ok',
  'usage',
  'cannot_connect',
  'key_refused',
  'peer_lost',
  'peer_stalled',
  'source_unreadable',
  'sink_unwritable',
  'data_damaged',
  'aborted',
  'closed',
  'internal',
]);

const Address = v.object({
  /** Numeric, as agent/decode.ts checks. */
  address: v.string(),
  prefix: v.pipe(Count, v.maxValue(128)),
  interface: Name,
  up: v.boolean(),
  speed_mbps: v.nullable(Count),
  kind: v.picklist(['physical', 'virtual', 'bridge', 'loopback']),
  mtu: Count,
});

const Port = v.object({
  device: Name,
  port: Count,
  state: v.picklist(['active', 'down', 'init', 'armed']),
  rate_mbps: Count,
  link_layer: v.picklist(['ethernet', 'infiniband']),
  mtu: v.nullable(Count),
  /** The interface whose addresses lead to the port. */
  interface: v.nullable(Name),
  numa: v.nullable(Count),
  /** The kinds of the port's usable GIDs, as the kernel names them: `RoCE v2`. */
  gids: v.pipe(v.array(Name), v.maxLength(KINDS_OF_GIDS_MAX)),
});

export const HelloSchema = v.object({
  v: Count,
  version: Name,
  os: Name,
  cpu: Name,
  boot_id: Name,
  net_ns: Count,
  uid: Count,
  user: Name,
  hostname: Name,
  pid: Count,
  ssh_connection: v.nullable(Name),
  aes: v.boolean(),
  /** Whether the host's kernel has filters of system calls. */
  seccomp: v.boolean(),
  /** The version of its Landlock; 0: none. */
  landlock: Count,
  /** Bytes; null: no limit. */
  memlock: v.nullable(Count),
  /** Why rdsend and rdrecv on the host cannot use RDMA although a port is active; null: they can, or no port is. */
  rdma_lacks: v.nullable(Text),
  addresses: v.pipe(v.array(Address), v.maxLength(ADDRESSES_MAX)),
  rdma: v.pipe(v.array(Port), v.maxLength(PORTS_MAX)),
});

export const EventSchema = v.variant('event', [
  v.object({ event: v.literal('prepared'), segment: Count }),
  v.object({
    event: v.literal('listening'),
    link: Count,
    end: End,
    transport: HopTransport,
    port: v.pipe(Count, v.minValue(1), v.maxValue(65535)),
  }),
  v.object({
    event: v.literal('listen_failed'),
    link: Count,
    end: End,
    transport: HopTransport,
    code: Code,
    message: Text,
  }),
  v.object({ event: v.literal('dial_failed'), link: Count, end: End, code: Code, message: Text }),
  v.object({
    event: v.literal('connected'),
    link: Count,
    end: End,
    transport: HopTransport,
    cipher: v.picklist(CIPHERS),
    /** The version of the OpenSSL of that end's program. */
    openssl: Name,
    local: Name,
    peer: Name,
    device: v.nullable(Name),
    /** The NUMA node that the end moved to, on a machine with several. */
    numa: v.nullable(Count),
    /** A message for the user. */
    note: v.nullable(Text),
  }),
  /** The connection broke, and the end is reconnecting. */
  v.object({ event: v.literal('broken'), link: Count, end: End, message: Text }),
  /** `bytes`: the position in the stream at which the end resumes. */
  v.object({ event: v.literal('resumed'), link: Count, end: End, epoch: Count, bytes: Count }),
  /** In a chain: the peer is lost, and may be replaced. */
  v.object({ event: v.literal('parted'), link: Count, end: End, bytes: Count, code: Code, message: Text }),
  /** In a chain: this host has written everything; hosts after it may still lack data. */
  v.object({ event: v.literal('written'), link: Count, end: v.literal('recv'), bytes: Count, status: Count }),
  v.object({ event: v.literal('size'), link: Count, bytes: Count }),
  v.object({ event: v.literal('started'), stage: Count, pid: Count }),
  v.object({
    event: v.literal('counters'),
    link: Count,
    end: End,
    bytes: Count,
    /** Bytes of DATA frames, over all connections. */
    wire_bytes: Count,
    input_ms: Count,
    /** Held back by the limit; only a sender reports it. */
    limit_ms: Count,
    /** The threads that compress and encrypt, or decrypt and decompress. */
    worker_ms: Count,
    wire_ms: Count,
    output_ms: Count,
    /** Of the connections' sockets: how long a full send buffer or the peer's window held them back. */
    send_buffer_ms: Count,
    receive_window_ms: Count,
    /** Segments that were lost. */
    sent_again: Count,
    /** The most sockets of a connection so far; 0: there was none. */
    streams: Count,
    /** Shortest round trip of a PING; 0: none yet. */
    rtt_us: Count,
  }),
  /** The first byte for the user's terminal waits for `show`, but not for long. */
  v.object({ event: v.literal('output'), link: Count, end: v.literal('recv') }),
  /** The consumer closed its input: the rest of the stream is not wanted. */
  v.object({ event: v.literal('closed'), link: Count, end: v.literal('recv') }),
  v.object({ event: v.literal('stderr'), stage: Count, data: Hex }),
  v.object({
    event: v.literal('exited'),
    stage: Count,
    code: v.nullable(v.pipe(Count, v.maxValue(255))),
    signal: v.nullable(v.pipe(Count, v.minValue(1), v.maxValue(SIGNAL_MAX))),
    stopped: v.boolean(),
    consumer_closed: v.boolean(),
    user_ms: Count,
    system_ms: Count,
    max_rss_kib: Count,
  }),
  v.object({
    event: v.literal('link_ended'),
    link: Count,
    end: End,
    result: v.picklist(['delivered', 'closed', 'aborted', 'failed']),
    status: v.pipe(Count, v.maxValue(255)),
    code: Code,
    message: Text,
    bytes: Count,
    wire_bytes: Count,
    /** Usage of the native program. */
    user_ms: Count,
    system_ms: Count,
    max_rss_kib: Count,
  }),
  v.object({ event: v.literal('failed'), stage: v.nullable(Count), code: Code, message: Text }),
  v.object({ event: v.literal('left_behind'), pid: Count, command: Name }),
  v.object({ event: v.literal('segment_ended'), segment: Count }),
  v.object({ event: v.literal('ended') }),
  v.object({ event: v.literal('alive') }),
]);

export type AgentHello = DeepReadonly<v.InferOutput<typeof HelloSchema>>;
export type HostAddress = AgentHello['addresses'][number];
export type RdmaPort = AgentHello['rdma'][number];
export type AgentEvent = DeepReadonly<v.InferOutput<typeof EventSchema>>;
export type Transport = v.InferOutput<typeof HopTransport>;
export type HopEnd = v.InferOutput<typeof End>;
export type NativeCode = v.InferOutput<typeof Code>;

type DeepReadonly<Value> = Value extends object ? { readonly [Key in keyof Value]: DeepReadonly<Value[Key]> } : Value;

/** One host's part of a stage on several hosts. */
export interface AgentPart {
  readonly host: string;
  readonly rank: number;
  readonly width: number;
}

export type AgentStage =
  | {
      readonly stage: number;
      readonly kind: 'command';
      readonly command: string;
      /** Absent: the login shell. */
      readonly shell?: string | undefined;
      readonly ok: readonly number[];
      /** If the stage fails, its reader still gets a clean end of file. */
      readonly lenient?: true;
      readonly in: number;
      readonly out: number;
      readonly part?: AgentPart;
    }
  | {
      readonly stage: number;
      readonly kind: 'source';
      readonly word: string;
      readonly out: number;
      readonly part?: AgentPart;
    }
  | {
      readonly stage: number;
      readonly kind: 'sink';
      readonly word: string;
      readonly append: boolean;
      readonly in: number;
      readonly part?: AgentPart;
    }
  | {
      readonly stage: number;
      readonly kind: 'tree';
      /** The settings of rdtree, which the agent passes on unread. */
      readonly settings: TreeSettings;
      /** Exactly one of `in` and `ins`. */
      readonly in?: number;
      readonly ins?: readonly number[];
      readonly out: number;
    }
  | { readonly stage: number; readonly kind: 'forward'; readonly in: number; readonly out: number }
  | {
      readonly stage: number;
      readonly kind: 'gather';
      readonly mode: 'lines' | 'concat' | 'fold';
      readonly ins: readonly number[];
      readonly labels?: readonly string[];
      readonly out: number;
    };

/** `relay`: the stream that another link receives on this host. */
export type LinkSource = 'stage' | 'stdin' | 'null' | 'relay';
export type LinkSink = 'stage' | 'stdout' | 'null';

/** In the order of C's enum; `auto` is not sent. `tcp`: `always` over TCP, `auth` over RDMA. */
export const ENCRYPT_WORDS = ['auto', 'always', 'auth', 'never', 'tcp'] as const;
export type LinkEncrypt = Exclude<(typeof ENCRYPT_WORDS)[number], 'auto'>;

/** The options that also local links have. */
export type LocalOptions = Pick<HopOptions, 'buffer' | 'connect_timeout_ms' | 'stall_timeout_ms'>;

/** The part of the settings of a hop that the plan decides, for both of its ends. */
export interface HopPlan extends HopOptions {
  readonly encrypt: LinkEncrypt;
  /** The first and the last port for listening ends; [0, 0]: the kernel chooses. */
  readonly ports: readonly [number, number];
}

/** The settings of a hop: the `open` command of rdsend and rdrecv, which the agent passes on unread (section 3). */
export type HopOpen = LocalOptions &
  Partial<HopPlan> & {
    /** 64 hexadecimal digits. */
    readonly key: string;
    readonly run: string;
    readonly hop: number;
    readonly encrypt: LinkEncrypt;
    /** The hop is part of a chain: a lost peer may be replaced. */
    readonly chain?: boolean;
    /** In a chain: the number of hosts after this end, for which it keeps the data that they may lack. */
    readonly behind?: number;
    /** The seed of the key that signs the stream, or the public key that verifies it: 64 hexadecimal digits. */
    readonly sign?: string;
    readonly verify?: string;
    readonly bind?: string | null;
  };

interface HopLinkBase {
  readonly link: number;
  readonly kind: 'hop';
  /** RDMA may be used; absent: the agent starts the static program. */
  readonly rdma?: true;
  readonly open: HopOpen;
}

export type AgentLink =
  | { readonly link: number; readonly kind: 'null' | 'stdin' | 'stdout' | 'pipe' }
  | (HopLinkBase & { readonly end: 'send'; readonly source: LinkSource; readonly relay?: number })
  | (HopLinkBase & { readonly end: 'recv'; readonly sink: LinkSink })
  | {
      readonly link: number;
      readonly kind: 'local';
      readonly source: LinkSource;
      readonly relay?: number;
      readonly sink: LinkSink;
      readonly open: HopOpen;
    };

export type DialAddress =
  | {
      readonly host: string;
      readonly port: number;
      /** Absent: tcp. */
      readonly transport?: Transport;
      /** Over RDMA, the dialer's own address; null or absent: the routing table decides. */
      readonly from?: string | null;
    }
  | { readonly unix: string };

export type AgentRequest =
  | {
      readonly op: 'prepare';
      readonly segment: number;
      readonly lenient: boolean;
      readonly lease_ms: number;
      readonly connect_timeout_ms: number;
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
  | {
      readonly op: 'dial';
      readonly link: number;
      readonly end: HopEnd;
      readonly addresses: readonly DialAddress[];
      /** All addresses are those of one listener, and are used at the same time. */
      readonly rails?: true;
    }
  /** Another peer replaces a lost one. */
  | { readonly op: 'rejoin'; readonly link: number; readonly end: HopEnd; readonly open: HopOpen }
  /** No host remains after this end. */
  | { readonly op: 'last'; readonly link: number; readonly end: 'send' }
  /** The answer to `output`. */
  | { readonly op: 'show'; readonly link: number; readonly end: 'recv' }
  | { readonly op: 'go'; readonly segment: number }
  | { readonly op: 'stderr_ack'; readonly stage: number; readonly bytes: number }
  | { readonly op: 'suspend' | 'resume' | 'finish' | 'ping' }
  | { readonly op: 'abort'; readonly reason: string };
