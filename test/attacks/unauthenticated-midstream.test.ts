// SPDX-License-Identifier: Apache-2.0
// A listener stays open in mid-stream, so that its peer can reconnect:
// other connections do not disturb the stream.
import { connect } from 'node:net';
import { expect } from 'chai';
import { useBench } from '../support/programs.ts';
import { ConnectionFlood } from './wire/connection-flood.ts';
import { commit, endOf, Hop, type Role } from './wire/hop.ts';
import { Relay, said } from './wire/relay.ts';
import { UNAUTHENTICATED_PEERS } from './wire/unauthenticated-peers.ts';

const ROLES: readonly Role[] = ['sender', 'receiver'];
const STREAM_BYTES = 300_000;
const INTRUDERS = UNAUTHENTICATED_PEERS.filter(({ name }) =>
  /nothing|noise|half of|resets|one byte per second/.test(name),
);

for (const dialer of ROLES)
  describe(`a stream that is under way (the ${dialer} dials)`, () => {
    const bench = useBench();

    for (const { name, size, connections, behave } of INTRUDERS)
      it(`is not disturbed by a flood that ${name}`, async () => {
        const { hop, port, relay } = await underWay();
        const flood = new ConnectionFlood(port, size, behave);
        try {
          await flood.hasConnected(connections);
          await expectEnd(hop);
        } finally {
          flood.leave();
          relay.close();
        }
        expect([...hop.dialer.agent.names(), ...hop.listener.agent.names()]).to.not.include('broken');
      });

    it('is not disturbed by its own handshake, sent again', async () => {
      const { hop, port, relay } = await underWay();
      await replay(port, said(relay.passed, 'dialer'));
      await expectEnd(hop);
      expect(hop.listener.agent.names()).to.not.include('broken');
      relay.close();
    });

    it('is not disturbed by an earlier handshake after it was resumed', async () => {
      const { hop, port, relay } = await underWay();
      const first = said(relay.passed, 'dialer');
      relay.cut();
      await Promise.all([hop.dialer, hop.listener].map(({ agent }) => agent.heard('resumed')));
      await replay(port, first);
      await expectEnd(hop);
      const resumed = hop.listener.agent.events.filter(({ event }) => event === 'resumed');
      expect(resumed.map(({ epoch }) => epoch)).to.deep.equal([2]);
      relay.close();
    });

    /** Starts a hop and waits until both ends are connected; the stream has no END before expectEnd(). */
    async function underWay(): Promise<{ hop: Hop; port: number; relay: Relay }> {
      const hop = new Hop(bench, { dialer, encrypt: 'always', bytes: STREAM_BYTES, held: true });
      const port = await hop.listen();
      const relay = await Relay.before(port);
      hop.dial(relay.port);
      await Promise.all([hop.dialer, hop.listener].map(({ agent }) => agent.heard('connected')));
      return { hop, port, relay };
    }

    async function expectEnd(hop: Hop): Promise<void> {
      commit(dialer === 'sender' ? hop.dialer : hop.listener);
      expect(await Promise.all([endOf(hop.dialer), endOf(hop.listener)])).to.deep.equal(['ok', 'ok']);
      expect(hop.sunk?.equals(hop.content)).to.equal(true);
    }
  });

/** Sends the bytes and waits until the listener closes the connection. */
async function replay(port: number, bytes: Buffer): Promise<void> {
  const thief = connect(port, '127.0.0.1')
    .on('error', () => {})
    .resume();
  const thrownOut = new Promise((resolve) => thief.once('close', resolve));
  thief.write(bytes);
  await thrownOut;
}
