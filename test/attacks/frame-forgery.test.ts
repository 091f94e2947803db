// SPDX-License-Identifier: Apache-2.0
// Attackers that know the protocol: tests the claims of docs/threat-model.md for each kind of
// encryption.
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { needs } from '../support/needs.ts';
import { type Ended, useBench } from '../support/programs.ts';
import { BLOCK_BYTES, CHOSEN_MAX_BYTES, forgeBlock } from './wire/forger.ts';
import { ATTACKS, isSealed, onData, PAYLOAD_AT, type Verdict, verdictOn } from './wire/forgeries.ts';
import type { Meddler } from './wire/relay.ts';
import { ENCRYPTIONS, type Encryption, endsOf, lacksEncryption } from './wire/standalone-hop.ts';

const STREAM_BYTES = 300_000;

for (const encrypt of ENCRYPTIONS)
  describe(`an attacker on the path who knows the protocol (--encrypt ${encrypt})`, () => {
    const bench = useBench();
    before(function () {
      needs(this, lacksEncryption(encrypt));
    });

    for (const [index, each] of ATTACKS.entries())
      it(each.name, async () => {
        const sink = bench.path(`sink-${index}`);
        const content = randomBytes(STREAM_BYTES);
        const verdict = verdictOn(each, encrypt);
        const ways = { encrypt, source: newSource(content), sink, soonLost: verdict === 'lost' };
        const ends = await endsOf(bench, { ...ways, meddler: each.attack });
        expectVerdict(verdict, ends);
        const sunk = existsSync(sink) ? readFileSync(sink) : undefined;
        expect(sunk?.equals(content)).to.equal(ends.receiver.status === 0 ? true : undefined);
      });

    it('reads an unencrypted payload, but never an END or an acknowledgement', async () => {
      const content = Buffer.alloc(STREAM_BYTES, 'what the stream says\n');
      const { relay, sender } = await endsOf(bench, { encrypt, source: newSource(content), meddler: () => pass });
      expect(sender.status).to.equal(0);
      const carried = Buffer.concat(relay.passed.map(({ bytes }) => bytes));
      expect(carried.includes('what the stream says')).to.equal(encrypt !== 'always');
      const control = relay.passed.filter(({ type }) => type !== 'HANDSHAKE' && type !== 'DATA');
      expect(control.map(({ type }) => type)).to.include.members(['ACK', 'END', 'DONE']);
      expect(control.every(({ bytes }) => isSealed(bytes))).to.equal(true);
    });

    const pass: Meddler = ({ bytes }) => bytes;
    const newSource = (content: Buffer): string => {
      const source = bench.path('source');
      writeFileSync(source, content);
      return source;
    };
  });

/** All columns of some stripes; a single column; as many bytes as possible; the smallest and the largest numbers. */
const CHOSEN = {
  'a line of text': Buffer.from('ssh-ed25519 AAAA the key of somebody else\n'),
  'a single byte': Buffer.from('!'),
  zeros: Buffer.alloc(CHOSEN_MAX_BYTES),
  'bytes of all ones': Buffer.alloc(CHOSEN_MAX_BYTES, 0xff),
  'random bytes': randomBytes(CHOSEN_MAX_BYTES),
};

describe('an attacker on the path who knows the digest', () => {
  const bench = useBench();

  for (const encrypt of ['never', 'auto'] as const)
    for (const [name, chosen] of Object.entries(CHOSEN))
      it(`puts ${name} into an unencrypted stream, and both ends report success (--encrypt ${encrypt})`, async () => {
        const { ends, content, at } = await forge(encrypt, (block) => forgeBlock(block, chosen));
        expect([ends.sender.status, ends.receiver.status]).to.deep.equal([0, 0]);
        expect(ends.receiver.stdout.subarray(at, at + chosen.length).equals(chosen)).to.equal(true);
        expect(ends.receiver.stdout.length).to.equal(content.length);
        expect(ends.receiver.stdout.equals(content)).to.equal(false);
      });

  it('is detected without a repaired digest (--encrypt never)', async () => {
    const { ends } = await forge('never', (block) => Buffer.concat([Buffer.from('!!!!!!!!'), block.subarray(8)]));
    expectVerdict('receiver', ends);
  });

  for (const encrypt of ['auth', 'always'] as const)
    it(`cannot change the output (--encrypt ${encrypt})`, async function () {
      needs(this, lacksEncryption(encrypt));
      const { ends, content, at } = await forge(encrypt, (block) => forgeBlock(block, CHOSEN['a line of text']));
      expectVerdict('receiver', ends);
      const { stdout } = ends.receiver;
      expect(stdout.length).to.be.at.most(at);
      expect(stdout.equals(content.subarray(0, stdout.length))).to.equal(true);
    });

  /** Changes the beginning of the second frame's payload. `at`: position of that payload in the stream. */
  async function forge(encrypt: Encryption, change: (block: Buffer) => Buffer) {
    const content = randomBytes(STREAM_BYTES);
    const source = bench.path('source');
    writeFileSync(source, content);
    let at = -1;
    const meddler = onData((bytes) => {
      at = Number(bytes.readBigUInt64LE(PAYLOAD_AT - 16));
      expect(at % BLOCK_BYTES).to.equal(0);
      const end = PAYLOAD_AT + BLOCK_BYTES;
      const changed = change(bytes.subarray(PAYLOAD_AT, end));
      return Buffer.concat([bytes.subarray(0, PAYLOAD_AT), changed, bytes.subarray(end)]);
    });
    const ends = await endsOf(bench, { encrypt, source, meddler });
    expect(at).to.be.above(0);
    return { ends, content, at };
  }
});

/** The end that finds the damage reports it; the other end receives that report or loses the connection. */
const STATUSES: Readonly<
  Record<Verdict, { readonly sender: readonly number[]; readonly receiver: readonly number[] }>
> = {
  receiver: { sender: [5, 9], receiver: [8] },
  sender: { sender: [8], receiver: [5, 9] },
  lost: { sender: [5], receiver: [5] },
  late: { sender: [5, 9], receiver: [0, 8] },
  counted: { sender: [0, 5, 8, 9], receiver: [0, 5, 8, 9] },
};

function expectVerdict(verdict: Verdict, { sender, receiver }: Readonly<Record<'sender' | 'receiver', Ended>>): void {
  const words = `${sender.stderr}${receiver.stderr}`;
  expect(sender.status, words).to.be.oneOf([...STATUSES[verdict].sender]);
  expect(receiver.status, words).to.be.oneOf([...STATUSES[verdict].receiver]);
  if (sender.status === 0) expect(receiver.status, words).to.equal(0);
}
