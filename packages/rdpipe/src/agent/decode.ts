/** The one decoder of messages of agents and events of copies: a host may break the protocol. */
import { isIPv4, SocketAddress } from 'node:net';
import * as v from 'valibot';
import { type AgentEvent, type AgentHello, EventSchema, HelloSchema, type HostAddress } from '../model/protocol.ts';
import { type TreeEvent, TreeEventSchema } from '../model/tree.ts';

/** Undefined: not a message of docs/protocol.md, section 2.2. */
export function decodeEvent(line: Uint8Array): AgentEvent | undefined {
  const event = decode(EventSchema, line);
  // A process exits or is killed.
  if (event?.event === 'exited' && (event.code === null) === (event.signal === null)) return undefined;
  return event;
}

export function decodeHello(line: Uint8Array): AgentHello | undefined {
  const hello = decode(HelloSchema, line);
  return hello?.addresses.every(isAddress) ? hello : undefined;
}

/** Undefined: not an event of a program of a copy, docs/protocol.md, section 5.3. */
export function decodeTreeEvent(line: Uint8Array): TreeEvent | undefined {
  return decode(TreeEventSchema, line);
}

function decode<Output>(schema: v.GenericSchema<unknown, Output>, line: Uint8Array): Output | undefined {
  try {
    const result = v.safeParse(schema, JSON.parse(UTF8.decode(line)));
    return result.success ? result.output : undefined;
  } catch {
    return undefined;
  }
}

/** Numeric, without a zone, which means nothing elsewhere, and with a prefix of its family. */
function isAddress({ address, prefix }: HostAddress): boolean {
  return isIPv4(address) ? prefix <= 32 : isIPv6(address);
}

/**
 * Without a zone. Node's own isIPv6 compiles an expression for it, which takes 5 ms of a start; this one asks the
 * parser.
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
