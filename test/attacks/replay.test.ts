// SPDX-License-Identifier: Apache-2.0
// Recorded messages of authenticated ends are useless to other peers, later, or in other connections.
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { useBench } from '../support/programs.ts';
import { listenAs } from './wire/connection-flood.ts';
import { ENCRYPT_WORDS, ENCRYPTS, endOf, Hop, type Role } from './wire/hop.ts';
import { type Passing, Relay, said } from './wire/relay.ts';

const ROLES: readonly Role[] = ['sender', 'receiver'];
const STREAM_BYTES = 300_000;

for (const dialer of ROLES)
  for (const encrypt of ENCRYPTS)
    describe(`a recording (${ENCRYPT_WORDS[encrypt]}, the ${dialer} dials)`, () => {
      const bench = useBench();
      const newHop = (open = {}): Hop => new Hop(bench, { dialer, encrypt, bytes: STREAM_BYTES, open });

      it('of a dialer is not accepted by a listener', async () => {
        const recorded = await record(newHop());
        const hop = newHop();
        const port = await hop.listen();
        const thief = connect(port, '127.0.0.1')
          .on('error', () => {})
          .resume();
        thief.write(said(recorded, 'dialer'));
        await new Promise((resolve) => thief.once('close', resolve));
        expect(hop.listener.agent.names()).to.not.include('connected');
        await hop.expectDelivery(port);
      });

      it('of a dialer, sent to the original listener, comes too late', async () => {
        const hop = newHop();
        const port = await hop.listen();
        const relay = await Relay.before(port);
        let thief: Socket | undefined;
        relay.meddle(({ bytes, from, type, index }) => {
          if (from !== 'dialer' || type !== 'HANDSHAKE') return bytes;
          if (index === 0)
            thief = connect(port, '127.0.0.1')
              .on('error', () => {})
              .resume();
          thief?.write(bytes);
          return bytes;
        });
        await hop.expectDelivery(relay.port);
        relay.close();
        thief?.destroy();
      });

      it('of a listener is not accepted by a dialer', async () => {
        const recorded = await record(newHop());
        const hop = newHop();
        const port = await hop.listen();
        const thief = await listenAs((socket) => socket.once('data', () => socket.write(said(recorded, 'listener'))));
        hop.dial(thief);
        await hop.dialer.agent.heard('dial_failed');
        await hop.expectDelivery(port);
      });

      it('of a handshake does not combine with another one', async () => {
        const recorded = await record(newHop());
        const hop = newHop();
        const port = await hop.listen();
        const relay = await Relay.before(port);
        relay.meddle((passing) => sameOf(recorded, passing)?.bytes ?? passing.bytes);
        hop.dial(relay.port);
        await hop.dialer.agent.heard('dial_failed');
        relay.close();
        await hop.expectDelivery(port);
      });

      for (const type of ['DATA', 'END'] as const)
        it(`of ${type} is not accepted in another stream`, async () => {
          const recorded = await record(newHop());
          const hop = newHop();
          const relay = await Relay.before(await hop.listen());
          relay.meddle(
            (passing) => (passing.type === type ? sameOf(recorded, passing) : passing)?.bytes ?? passing.bytes,
          );
          hop.dial(relay.port);
          const ends = await Promise.all([endOf(hop.dialer), endOf(hop.listener)]);
          relay.close();
          expect(ends).to.include('data_damaged').and.not.include('ok');
          expect(hop.sunk).to.equal(undefined);
        });

      it('of the dialer itself is refused by it', async () => {
        const hop = newHop();
        const port = await hop.listen();
        hop.dial(await listenAs((socket) => socket.pipe(socket)));
        await hop.dialer.agent.heard('dial_failed');
        await hop.expectDelivery(port);
      });
    });

describe('a connection that was misdirected', () => {
  const bench = useBench();
  const astray = { 'another hop': { hop: 2 }, 'another run': { run: 'another-run' } };

  for (const dialer of ROLES) {
    for (const [where, open] of Object.entries(astray))
      it(`to ${where} is refused by both (the ${dialer} dials)`, async () => {
        const hop = new Hop(bench, { dialer, encrypt: 'always', bytes: 1000 });
        const other = new Hop(bench, { dialer, encrypt: 'always', bytes: 1000, open });
        const [port, otherPort] = [await hop.listen(), await other.listen()];
        hop.dial(otherPort);
        expect(await hop.dialer.agent.heard('dial_failed')).to.include({ code: 'key_refused' });
        await hop.expectDelivery(port);
        await other.expectDelivery(otherPort);
      });

    it(`to an end of the same role is refused by both (the ${dialer} dials)`, async () => {
      const hop = new Hop(bench, { dialer, encrypt: 'always', bytes: 1000 });
      const turned = new Hop(bench, {
        dialer: dialer === 'sender' ? 'receiver' : 'sender',
        encrypt: 'always',
        bytes: 1000,
      });
      const [port, turnedPort] = [await hop.listen(), await turned.listen()];
      hop.dial(turnedPort);
      expect(await hop.dialer.agent.heard('dial_failed')).to.include({ code: 'key_refused' });
      await hop.expectDelivery(port);
      await turned.expectDelivery(turnedPort);
    });

    it(`to itself is refused (the ${dialer} listens and dials)`, async () => {
      const hop = new Hop(bench, { dialer, encrypt: 'always', bytes: 1000 });
      const port = await hop.listen();
      hop.dialer.agent.tell('listen');
      hop.dial(Number((await hop.dialer.agent.heard('listening')).port));
      expect(await hop.dialer.agent.heard('dial_failed')).to.include({ code: 'key_refused' });
      await hop.expectDelivery(port);
    });
  }
});

/** Records all messages between two authenticated ends. */
async function record(hop: Hop): Promise<readonly Passing[]> {
  const relay = await Relay.before(await hop.listen());
  await hop.expectDelivery(relay.port);
  relay.close();
  return relay.passed;
}

/** Returns the recorded message with the same sender, type and index; of a handshake, only the first message. */
function sameOf(recorded: readonly Passing[], { from, type, index }: Passing): Passing | undefined {
  if (type === 'HANDSHAKE' && index > 0) return undefined;
  return recorded.find((passing) => passing.from === from && passing.type === type && passing.index === index);
}
