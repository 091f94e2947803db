// SPDX-License-Identifier: Apache-2.0
// Cases of unauthenticated peers: the authenticated peer connects,
// and the others cost no more than documented.
import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Bench } from '../../support/programs.ts';
import { ConnectionFlood, listenAs } from './connection-flood.ts';
import { Hop, type Role, soonLost } from './hop.ts';
import { UNAUTHENTICATED_PEERS, type UnauthenticatedPeer } from './unauthenticated-peers.ts';

/** Connectors that a listener holds (docs/protocol/wire.md, section 1.2). */
const CONNECTORS_MAX = 64;
/**
 * Descriptors of the listener itself: standard streams, agent, listening socket, file, and some that it opens briefly.
 */
const OWN_DESCRIPTORS_MAX = 16;
/** Memory per connector: 16 KiB for a message, the state of TLS, and overhead of the allocator. */
const CONNECTOR_KIB = 160;
/** Memory that the first handshake of a process costs. */
const LIBRARY_KIB = 6144;

export interface UnauthenticatedCase {
  readonly name: string;
  /** The test counts the descriptors of a program. */
  readonly looksInside: boolean;
  readonly check: (bench: Bench) => Promise<void>;
}

const ROLES: readonly Role[] = ['sender', 'receiver'];

export const UNAUTHENTICATED_CASES: readonly UnauthenticatedCase[] = UNAUTHENTICATED_PEERS.flatMap((peer) =>
  ROLES.flatMap((role) => [
    {
      name: `${peer.name}: the listening ${role} accepts its peer during a flood of these`,
      looksInside: true,
      check: (bench: Bench) => checkCrowded(bench, role, peer),
    },
    {
      name: `${peer.name}: the dialing ${role} does not accept it`,
      looksInside: false,
      check: (bench: Bench) => checkDeceived(bench, role, peer),
    },
  ]),
);

async function checkCrowded(bench: Bench, listens: Role, peer: UnauthenticatedPeer): Promise<void> {
  const dialer = listens === 'sender' ? 'receiver' : 'sender';
  const hop = new Hop(bench, { dialer, encrypt: 'always', bytes: 300_000 });
  const port = await hop.listen();
  const before = peakKib(hop.listener.program.pid);
  const flood = new ConnectionFlood(port, peer.size, peer.behave);
  try {
    await flood.hasConnected(peer.connections);
    const { pid } = hop.listener.program;
    expect(descriptors(pid)).to.be.at.most(CONNECTORS_MAX + OWN_DESCRIPTORS_MAX);
    expect(peakKib(pid) - before).to.be.at.most(LIBRARY_KIB + CONNECTORS_MAX * CONNECTOR_KIB);
    await hop.expectDelivery(port);
  } finally {
    flood.leave();
  }
}

/** A dialer that reaches an unauthenticated peer reports it, and finds its peer at the next address. */
async function checkDeceived(bench: Bench, dialer: Role, peer: UnauthenticatedPeer): Promise<void> {
  const hop = new Hop(bench, { dialer, encrypt: 'always', bytes: 300_000, open: soonLost() });
  const port = await hop.listen();
  await hop.dialer.agent.heard('ready');
  const trap = await listenAs(peer.behave);
  const before = peakKib(hop.dialer.program.pid);
  hop.dial(trap);
  const { message } = await hop.dialer.agent.heard('dial_failed');
  expect(message).to.match(new RegExp(`^127\\.0\\.0\\.1:${trap}\\b`));
  expect(peakKib(hop.dialer.program.pid) - before).to.be.at.most(LIBRARY_KIB + CONNECTOR_KIB);
  await hop.expectDelivery(port);
}

function descriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Peak memory of a process. */
function peakKib(pid: number): number {
  return Number(/^VmHWM:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}
