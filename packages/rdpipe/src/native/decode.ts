/** The agent's messages, checked: a host is not trusted to keep to the protocol. */
import { isIP } from 'node:net';
import * as v from 'valibot';
import type { AgentEvent, AgentHello } from '../model/protocol.ts';

/** Undefined: not a message of docs/protocol.md, section 2.2. */
export function decodeEvent(line: Uint8Array): AgentEvent | undefined {
  return decode(EventSchema, line);
}

export function decodeHello(line: Uint8Array): AgentHello | undefined {
  return decode(HelloSchema, line);
}

function decode<Output>(schema: v.GenericSchema<unknown, Output>, line: Uint8Array): Output | undefined {
  try {
    const result = v.safeParse(schema, JSON.parse(UTF8.decode(line)));
    return result.success ? result.output : undefined;
  } catch {
    return undefined;
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

const ADDRESSES_MAX = 256;
const PORTS_MAX = 64;
const KINDS_OF_GIDS_MAX = 16;

const Count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const End = v.picklist(['send', 'recv']);
const HopTransport = v.picklist(['tcp', 'rdma']);
const Hex = v.pipe(v.string(), v.regex(/^(?:[0-9a-f]{2})*$/i));
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
  address: v.pipe(
    v.string(),
    v.check((text) => isIP(text) !== 0),
  ),
  prefix: v.pipe(Count, v.maxValue(128)),
  interface: v.string(),
  up: v.boolean(),
  speed_mbps: v.nullable(Count),
  kind: v.picklist(['physical', 'virtual', 'bridge', 'loopback']),
  mtu: Count,
});

const Port = v.object({
  device: v.string(),
  port: Count,
  state: v.picklist(['active', 'down', 'init', 'armed']),
  rate_mbps: Count,
  link_layer: v.picklist(['ethernet', 'infiniband']),
  mtu: v.nullable(Count),
  interface: v.nullable(v.string()),
  numa: v.nullable(Count),
  gids: v.pipe(v.array(v.string()), v.maxLength(KINDS_OF_GIDS_MAX)),
});

const HelloSchema = v.object({
  v: Count,
  version: v.string(),
  os: v.string(),
  cpu: v.string(),
  boot_id: v.string(),
  net_ns: Count,
  uid: Count,
  user: v.string(),
  hostname: v.string(),
  pid: Count,
  ssh_connection: v.nullable(v.string()),
  aes: v.boolean(),
  memlock: v.nullable(Count),
  rdma_lacks: v.nullable(v.string()),
  addresses: v.pipe(v.array(Address), v.maxLength(ADDRESSES_MAX)),
  rdma: v.pipe(v.array(Port), v.maxLength(PORTS_MAX)),
}) satisfies v.GenericSchema<unknown, AgentHello>;

const EventSchema = v.variant('event', [
  v.object({ event: v.literal('prepared'), segment: Count }),
  v.object({
    event: v.literal('listening'),
    link: Count,
    end: End,
    transport: HopTransport,
    port: v.pipe(Count, v.maxValue(65535)),
  }),
  v.object({
    event: v.literal('listen_failed'),
    link: Count,
    end: End,
    transport: HopTransport,
    code: Code,
    message: v.string(),
  }),
  v.object({ event: v.literal('dial_failed'), link: Count, end: End, code: Code, message: v.string() }),
  v.object({
    event: v.literal('connected'),
    link: Count,
    end: End,
    transport: v.string(),
    cipher: v.string(),
    local: v.string(),
    peer: v.string(),
    device: v.nullable(v.string()),
    note: v.nullable(v.string()),
  }),
  v.object({ event: v.literal('broken'), link: Count, end: End, message: v.string() }),
  v.object({ event: v.literal('resumed'), link: Count, end: End, epoch: Count, bytes: Count }),
  v.object({ event: v.literal('size'), link: Count, bytes: Count }),
  v.object({ event: v.literal('started'), stage: Count, pid: Count }),
  v.object({
    event: v.literal('counters'),
    link: Count,
    end: End,
    bytes: Count,
    input_ms: Count,
    wire_ms: Count,
    output_ms: Count,
    rtt_us: Count,
  }),
  v.object({ event: v.literal('stderr'), stage: Count, data: Hex }),
  v.object({
    event: v.literal('exited'),
    stage: Count,
    code: v.nullable(Count),
    signal: v.nullable(Count),
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
    status: Count,
    code: Code,
    message: v.string(),
    bytes: Count,
  }),
  v.object({ event: v.literal('failed'), stage: v.nullable(Count), code: Code, message: v.string() }),
  v.object({ event: v.literal('left_behind'), pid: Count, command: v.string() }),
  v.object({ event: v.literal('segment_ended'), segment: Count }),
  v.object({ event: v.literal('ended') }),
  v.object({ event: v.literal('alive') }),
]) satisfies v.GenericSchema<unknown, AgentEvent>;
