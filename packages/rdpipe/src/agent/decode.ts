/** The only decoder of agents' messages and of copy events; strict, as a host may break the protocol. */
import { isIPv4, SocketAddress } from 'node:net';
import * as v from 'valibot';
import { type AgentEvent, type AgentHello, EventSchema, HelloSchema, type HostAddress } from '../model/protocol.ts';
import { type TreeEvent, TreeEventSchema } from '../model/tree.ts';

/** Returns undefined if the line is not a message of docs/protocol/agent.md, section 2.2. */
export function decodeEvent(line: Uint8Array): AgentEvent | undefined {
  const event = decode(schemaByName(AGENT_EVENTS), line);
  // A process has either an exit status or a signal.
  if (event?.event === 'exited' && (event.code === null) === (event.signal === null)) return undefined;
  return event;
}

/** Returns undefined if the line is not a hello of docs/protocol/agent.md, section 2, or has an invalid address. */
export function decodeHello(line: Uint8Array): AgentHello | undefined {
  const hello = decode(() => HelloSchema, line);
  return hello?.addresses.every(isAddress) ? hello : undefined;
}

/** Returns undefined if the line is not an event of a copy program (docs/protocol/trees.md, section 5.3). */
export function decodeTreeEvent(line: Uint8Array): TreeEvent | undefined {
  return decode(schemaByName(TREE_EVENTS), line);
}

type Schema<Output> = v.GenericSchema<unknown, Output>;

/** `schemaOf` returns the schema of a message, or undefined if there is none. */
function decode<Output>(
  schemaOf: (message: unknown) => Schema<Output> | undefined,
  line: Uint8Array,
): Output | undefined {
  try {
    const message: unknown = JSON.parse(UTF8.decode(line));
    const schema = schemaOf(message);
    const result = schema && v.safeParse(schema, message);
    return result?.success ? result.output : undefined;
  } catch {
    return undefined;
  }
}

/** An agent sends thousands of events per second: valibot would try one schema after the other. */
function schemaByName<Output>(
  schemas: ReadonlyMap<unknown, Schema<Output>>,
): (message: unknown) => Schema<Output> | undefined {
  return (message) => schemas.get((message as { readonly event?: unknown } | null)?.event);
}

const AGENT_EVENTS: ReadonlyMap<unknown, Schema<AgentEvent>> = new Map(
  EventSchema.options.map((schema) => [schema.entries.event.literal, schema]),
);
const TREE_EVENTS: ReadonlyMap<unknown, Schema<TreeEvent>> = new Map(
  TreeEventSchema.options.map((schema) => [schema.entries.event.literal, schema]),
);

/**
 * True if the address is numeric, without a zone (which has no meaning on other hosts), and the prefix fits an IPv4
 * address.
 */
function isAddress({ address, prefix }: HostAddress): boolean {
  return isIPv4(address) ? prefix <= 32 : isIPv6(address);
}

/** True for a numeric address without a zone, which has no meaning on other hosts. */
export function isNumericAddress(text: string): boolean {
  return isIPv4(text) || isIPv6(text);
}

/**
 * True for an IPv6 address without a zone. The isIPv6 of Node compiles a regular expression, which adds 5 ms to the
 * start; this function uses Node's parser.
 */
function isIPv6(text: string): boolean {
  if (!/^[0-9a-f:.]+$/i.test(text)) return false;
  try {
    return new SocketAddress({ address: text, family: 'ipv6' }).family === 'ipv6';
  } catch {
    return false;
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });
