// SPDX-License-Identifier: Apache-2.0
// A stage on 32 hosts, each with its own server: a chain, and lines from all of them.
import { createHash, randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { useLab } from '../support/lab.ts';
import { patience } from '../support/patience.ts';
import { limitWords, NEVER } from '../support/run-limits.ts';

const NAMES = Array.from({ length: 32 }, (_, index) => `n${index + 1}`);
/** No limit expires: 32 logins at once take long. */
const RDPIPE = `rdpipe ${limitWords(NEVER)}`;

describe('32 hosts', () => {
  const lab = useLab({ hosts: NAMES.map((name) => ({ name })), longestMs: patience(300_000) });
  const digest = (data: Buffer) => createHash('sha256').update(data).digest('hex');

  for (const bytes of [64 * 1024, 1024 ** 2, 64 * 1024 ** 2]) {
    it(`get ${bytes} bytes each`, async () => {
      const content = randomBytes(bytes);
      await writeFile(join(lab.directory, 'in'), content);
      const stages = `h1:'< ${lab.directory}/in' 'n[1-32]:> ${lab.directory}/out.$RDPIPE_HOST'`;
      const { status, stderr } = await lab.sh(`${RDPIPE} --encrypt always ${stages}`);
      expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
      for (const name of NAMES) {
        expect(digest(await readFile(join(lab.directory, `out.${name}`))), name).to.equal(digest(content));
      }
    });
  }

  it('answer with one line each', async () => {
    const { text, status, stderr } = await lab.sh(`${RDPIPE} 'n[1-32]:echo $RDPIPE_RANK'`);
    expect(status, stderr).to.equal(0);
    const lines = text.trimEnd().split('\n');
    expect(lines.sort()).to.deep.equal(NAMES.map((name, rank) => `${name}: ${rank}`).sort());
  });

  it('each read from one of 32 others', async () => {
    const { text, status, stderr } = await lab.sh(`${RDPIPE} 'n[1-32]:seq 100' 'n[1-32]:tail -1' ':sort -u'`);
    expect({ text, status }, stderr).to.deep.equal({ text: '100\n', status: 0 });
  });
});
