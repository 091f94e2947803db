// SPDX-License-Identifier: Apache-2.0
// Cases of unauthenticated peers: the true peer gets through, and they cost no more than was promised.
import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Bench } from '../../support/programs.ts';
import { ConnectionFlood, listenAs } from './connection-flood.ts';
import { Hop, type Role, soonLost } from './hop.ts';
import { UNAUTHENTICATED_PEERS, type UnauthenticatedPeer } from './unauthenticated-peers.ts';

/** Of docs/protocol.md, section 1.2: connectors that a listener holds. */
const CONNECTORS_MAX = 64;
/** A listener's own: standard ones, agent, listener, file, and what it opens for a moment. */
const OWN_DESCRIPTORS_MAX = 16;
/** The cost of a connector: 16 KiB for a message, what TLS needs, and what the allocator keeps. */
const CONNECTOR_KIB = 160;
/** The cost of the first handshake of a process. */
const LIBRARY_KIB = 6144;

export interface UnauthenticatedCase {
  readonly name: string;
  /** It counts a program's descriptors. */
  readonly looksInside: boolean;
  readonly check: (bench: Bench) => Promise<void>;
}

const ROLES: readonly Role[] = ['sender', 'receiver'];

export const UNAUTHENTICATED_CASES: readonly UnauthenticatedCase[] = UNAUTHENTICATED_PEERS.flatMap((peer) =>
  ROLES.flatMap((role) => [
    {
      name: `${peer.name}: the ${role} that listens accepts its peer amid a flood of these`,
      looksInside: true,
      check: (bench: Bench) => checkCrowded(bench, role, peer),
    },
    {
      name: `${peer.name}: the ${role} that dials is not deceived by it`,
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

/** A dialer that reaches an unauthenticated peer reports it, and finds its own peer at the next address. */
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

/** The most memory that it ever held. */
function peakKib(pid: number): number {
  return Number(/^VmHWM:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}
