// SPDX-License-Identifier: Apache-2.0
// The risk of weak keys that SECURITY.md describes:
// a recorded handshake is enough to guess a short key.
import { expect } from 'chai';
import { type Bench, KEY, useBench } from '../support/programs.ts';
import { guessKey } from './wire/guess-key.ts';
import { type Passing, Relay } from './wire/relay.ts';

const DICTIONARY = ['password', 'letmein', 'summer', 'tiger', 'zebra'];

describe('a recorded handshake', () => {
  const bench = useBench();

  it('reveals a key from a dictionary, without contact to either end', async () => {
    expect(guessKey(await helloWith(bench, 'tiger'), DICTIONARY)).to.equal('tiger');
  });

  it('reveals nothing about a key that is not in a dictionary', async () => {
    const made = 'lusab-babad-gutih-tugad-gutuk-bisog-mudof-sakat';
    const hello = await helloWith(bench, made);
    expect(guessKey(hello, DICTIONARY)).to.equal(undefined);
    expect(guessKey(hello, [...DICTIONARY, made])).to.equal(made);
  });
});

describe("a dialer's first message", () => {
  const bench = useBench();

  it('offers no key without a Diffie-Hellman exchange, so that a key opens no recording', async () => {
    const hello = await helloWith(bench, KEY);
    // RFC 8446, section 4.2.9: extension psk_key_exchange_modes, 2 bytes long, a list of 1 mode: psk_dhe_ke.
    expect(hello.toString('hex').match(/002d0002..../g)).to.deep.equal(['002d00020101']);
  });
});

async function helloWith(bench: Bench, key: string): Promise<Buffer> {
  const receiver = bench.rdrecv(['-q', '0', key]);
  const relay = await Relay.before(await receiver.port());
  const sender = bench.rdsend(['-q', '127.0.0.1', `${relay.port}`, key, '/dev/null']);
  expect((await sender.ended).status).to.equal(0);
  relay.close();
  const isHello = ({ from, type }: Passing): boolean => from === 'dialer' && type === 'HANDSHAKE';
  return relay.passed.find(isHello)?.bytes ?? Buffer.alloc(0);
}
