// SPDX-License-Identifier: Apache-2.0
// The encryption that two standalone ends agree on: the stronger of their settings.
import { expect } from 'chai';
import { KEY, PATIENT, useBench } from '../support/programs.ts';

const WISHES = ['never', 'auto', 'auth', 'always'] as const;
type Wish = (typeof WISHES)[number];

/** On a loopback address, auto means never. */
const STRENGTH = { never: 0, auto: 0, auth: 1, always: 2 } as const;
const CIPHERS = [
  / cipher none$/m,
  / cipher none, authenticated by (?:poly1305|aes-256-gmac)$/m,
  / cipher (?:aes-256-gcm|chacha20-poly1305)$/m,
] as const;

describe('--encrypt without an agent', () => {
  const bench = useBench(PATIENT);

  for (const from of WISHES)
    for (const to of WISHES)
      it(`${from} to ${to}`, async () => {
        const [sent, received] = await carry(from, to);
        const expected = CIPHERS[Math.max(STRENGTH[from], STRENGTH[to])] ?? expect.fail();
        expect(sent).to.match(expected);
        expect(received).to.match(expected);
      });

  async function carry(from: Wish, to: Wish): Promise<readonly string[]> {
    const receiver = bench.rdrecv(['-v', '--encrypt', to, '0', KEY]);
    const words = ['-v', '--encrypt', from, '127.0.0.1', `${await receiver.port()}`, KEY, '--', 'echo', 'hello'];
    const ends = await Promise.all([bench.rdsend(words).ended, receiver.ended]);
    expect(ends.map(({ status }) => status)).to.deep.equal([0, 0]);
    expect(ends[1].stdout.toString()).to.equal('hello\n');
    return ends.map(({ stderr }) => stderr);
  }
});
