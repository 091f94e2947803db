// SPDX-License-Identifier: Apache-2.0
// Some of the messages that an attacker on the path may change; test/full tests all of them.
import { expect } from 'chai';
import { useBench } from '../support/programs.ts';
import { sample } from '../support/sample.ts';
import { endOf, Hop } from './wire/hop.ts';
import { HEADER_BYTES, LENGTH_BYTES, Relay } from './wire/relay.ts';
import { checkTampering, nameOf, TAMPERINGS } from './wire/tampering.ts';

const SAMPLE = 60;

/** Three DATA frames pass unchanged; one bit in the payload of the next one is flipped. */
const CHANGED = 3;

describe('an attacker on the path of an unencrypted, authenticated file', () => {
  const bench = useBench();

  for (const transport of ['of random bytes', 'that is compressed'] as const)
    it(`changes a byte ${transport}: the change is detected, and the file keeps its old content`, async () => {
      const before = Buffer.from('what was there before');
      const shrinks = transport === 'that is compressed';
      const open = { compress: shrinks ? 1 : 0 };
      const hop = new Hop(bench, {
        dialer: 'sender',
        encrypt: 'auth',
        bytes: 300_000,
        shrinks,
        before,
        open,
        held: true,
      });
      const relay = await Relay.before(await hop.listen());
      relay.meddle(({ type, index, bytes }) => {
        if (type !== 'DATA' || index !== CHANGED) return bytes;
        const middle = LENGTH_BYTES + HEADER_BYTES + 1000;
        if (!shrinks) expect(hop.content.includes(bytes.subarray(middle, middle + 100))).to.equal(true);
        return Buffer.from(bytes).fill((bytes[middle] ?? 0) ^ 1, middle, middle + 1);
      });
      try {
        hop.dial(relay.port);
        // No END was sent: the receiver detects the damage in the frame itself.
        expect(await endOf(hop.listener)).to.equal('data_damaged');
        expect(hop.sunk?.equals(before)).to.equal(true);
        expect(await endOf(hop.dialer)).to.equal('aborted');
        expect(hop.dialer.agent.events.at(-1)?.message).to.match(/a frame was changed in transit \(number 3\)/);
      } finally {
        relay.close();
      }
    });
});

describe('a message that is tampered with', () => {
  const bench = useBench();

  for (const tampering of sample(TAMPERINGS, SAMPLE))
    it(`${nameOf(tampering)} ${tampering.change.name}`, () => checkTampering(bench, tampering));
});
