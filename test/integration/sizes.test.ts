// SPDX-License-Identifier: Apache-2.0
// Every byte arrives, whatever its value and however many there are.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { useLab } from '../support/lab.ts';
import { sample } from '../support/sample.ts';
import { succeeded } from '../support/shell.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const SIZES = [0, 1, 64 * KIB - 1, 64 * KIB, 64 * KIB + 1, MIB - 1, MIB, MIB + 1];

describe('bytes', () => {
  const lab = useLab();

  for (const size of SIZES) {
    it(`passes ${size} of them on`, async () => {
      const bytes = randomBytes(size);
      await lab.write('in', bytes);
      succeeded(await lab.sh('rdpipe h1:cat h2:cat < in > out'), '');
      expect((await lab.read('out')).equals(bytes)).to.equal(true);
    });
  }

  it('passes every value on', async () => {
    const everyValue = Buffer.from(Array.from({ length: 256 }, (_, value) => value));
    await lab.write('in', everyValue);
    const result = await lab.sh('cat in | rdpipe h1:cat h2:cat | cat');
    succeeded(result, everyValue.toString('utf8'));
    expect(result.stdout.equals(everyValue)).to.equal(true);
  });

  for (const encrypt of sample(['always', 'never'], 1)) {
    it(`passes 64 MiB on, compared by digest, --encrypt ${encrypt}`, async () => {
      const sender = `h1:'head -c 64M /dev/urandom | tee >(sha256sum > ${lab.directory}/sent)'`;
      const result = await lab.sh(`rdpipe --shell bash --encrypt ${encrypt} ${sender} h2:sha256sum`);
      // No shell waits for what >( ) runs.
      await eventually(async () => succeeded(result, (await lab.read('sent')).toString()));
    });
  }
});
