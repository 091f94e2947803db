/** The one decoder of agents' messages: a host is not trusted to keep to the protocol. */

import { isIPv4, SocketAddress } from 'node:net';
import * as v from 'valibot';
import { CIPHERS } from '../model/cipher.ts';
import type { AgentEvent, AgentHello } from '../model/protocol.ts';
import { printable, shorten } from '../model/text.ts';

/** Undefined: not a message of docs/protocol.md, section 2.2. */
export function decodeEvent(line: Uint8Array): AgentEvent | undefined {
  const event = decode(EventSchema, line);
  // A process exits or is killed.
  if (event?.event === 'exited' && (event.code === null) === (event.signal === null)) return undefined;
  return event;
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

/** Without a zone. Node's own isIPv6 compiles an expression for it, which takes 5 ms of a start; this one asks the parser. */
function isIPv6(text: string): boolean {
  if (!/^[0-9a-f:.]+$/i.test(text)) return false;
  try {
    return new SocketAddress({ address: text, family: 'ipv6' }).family === 'ipv6';
  } catch {
    return false;
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

const ADDRESSES_MAX = 256;
const PORTS_MAX = 64;
const KINDS_OF_GIDS_MAX = 16;

/** The longest command line or path of a file fits, with words around it. */
const WORDS_MAX_CHARACTERS = 8192;
const NAME_MAX_CHARACTERS = 255;
const SIGNAL_MAX = 64;

/** Text of a host, for people: made harmless here, for whoever shows it. */
const textOf = (limit: number) =>
  v.pipe(
    v.string(),
    v.transform((text) => printable(shorten(text, limit))),
  );
const Words = textOf(WORDS_MAX_CHARACTERS);
const Name = textOf(NAME_MAX_CHARACTERS);
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

/** Numeric, without a zone, which means nothing elsewhere. */
const NumericAddress = v.pipe(
  v.string(),
  v.check((text) => isIPv4(text) || isIPv6(text)),
);
const Address = v.object({
  address: NumericAddress,
  prefix: v.pipe(Count, v.maxValue(128)),
  interface: Name,
  up: v.boolean(),
  speed_mbps: v.nullable(Count),
  kind: v.picklist(['physical', 'virtual', 'bridge', 'loopback']),
  mtu: Count,
});
const AddressOfItsFamily = v.pipe(
  Address,
  v.check(({ address, prefix }) => prefix <= 32 || !isIPv4(address)),
);

const Port = v.object({
  device: Name,
  port: Count,
  state: v.picklist(['active', 'down', 'init', 'armed']),
  rate_mbps: Count,
  link_layer: v.picklist(['ethernet', 'infiniband']),
  mtu: v.nullable(Count),
  interface: v.nullable(Name),
  numa: v.nullable(Count),
  gids: v.pipe(v.array(Name), v.maxLength(KINDS_OF_GIDS_MAX)),
});

const HelloSchema = v.object({
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
  memlock: v.nullable(Count),
  rdma_lacks: v.nullable(Words),
  addresses: v.pipe(v.array(AddressOfItsFamily), v.maxLength(ADDRESSES_MAX)),
  rdma: v.pipe(v.array(Port), v.maxLength(PORTS_MAX)),
}) satisfies v.GenericSchema<unknown, AgentHello>;

const EventSchema = v.variant('event', [
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
    message: Words,
  }),
  v.object({ event: v.literal('dial_failed'), link: Count, end: End, code: Code, message: Words }),
  v.object({
    event: v.literal('connected'),
    link: Count,
    end: End,
    transport: HopTransport,
    cipher: v.picklist(CIPHERS),
    local: Name,
    peer: Name,
    device: v.nullable(Name),
    numa: v.nullable(Count),
    note: v.nullable(Words),
  }),
  v.object({ event: v.literal('broken'), link: Count, end: End, message: Words }),
  v.object({ event: v.literal('resumed'), link: Count, end: End, epoch: Count, bytes: Count }),
  v.object({ event: v.literal('size'), link: Count, bytes: Count }),
  v.object({ event: v.literal('started'), stage: Count, pid: Count }),
  v.object({
    event: v.literal('counters'),
    link: Count,
    end: End,
    bytes: Count,
    wire_bytes: Count,
    input_ms: Count,
    limit_ms: Count,
    worker_ms: Count,
    wire_ms: Count,
    output_ms: Count,
    rtt_us: Count,
  }),
  v.object({ event: v.literal('output'), link: Count, end: v.literal('recv') }),
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
    message: Words,
    bytes: Count,
    wire_bytes: Count,
    user_ms: Count,
    system_ms: Count,
    max_rss_kib: Count,
  }),
  v.object({ event: v.literal('failed'), stage: v.nullable(Count), code: Code, message: Words }),
  v.object({ event: v.literal('left_behind'), pid: Count, command: Name }),
  v.object({ event: v.literal('segment_ended'), segment: Count }),
  v.object({ event: v.literal('ended') }),
  v.object({ event: v.literal('alive') }),
]) satisfies v.GenericSchema<unknown, AgentEvent>;
