// SPDX-License-Identifier: Apache-2.0
// Every byte arrives, for all values and any number of bytes.
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
    it(`carries ${size} of them`, async () => {
      const bytes = randomBytes(size);
      await lab.write('in', bytes);
      succeeded(await lab.sh('rdpipe h1:cat h2:cat < in > out'), '');
      expect((await lab.read('out')).equals(bytes)).to.equal(true);
    });
  }

  it('carries every value', async () => {
    const everyValue = Buffer.from(Array.from({ length: 256 }, (_, value) => value));
    await lab.write('in', everyValue);
    const result = await lab.sh('cat in | rdpipe h1:cat h2:cat | cat');
    succeeded(result, everyValue.toString('utf8'));
    expect(result.stdout.equals(everyValue)).to.equal(true);
  });

  for (const encrypt of sample(['always', 'never'], 1)) {
    it(`carries 64 MiB, compared by digest, --encrypt ${encrypt}`, async () => {
      const sender = `h1:'head -c 64M /dev/urandom | tee >(sha256sum > ${lab.directory}/sent)'`;
      const result = await lab.sh(`rdpipe --shell bash --encrypt ${encrypt} ${sender} h2:sha256sum`);
      // The shell does not wait for the process in >( ).
      await eventually(async () => succeeded(result, (await lab.read('sent')).toString()));
    });
  }
});
