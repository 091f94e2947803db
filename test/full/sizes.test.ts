// SPDX-License-Identifier: Apache-2.0
// Long streams: through a standalone hop, and through a pipeline over hosts.
import { copyThroughPipes } from '../hop/through-pipes.ts';
import { useLab } from '../support/lab.ts';
import { patience } from '../support/patience.ts';
import { useBench } from '../support/programs.ts';
import { succeeded } from '../support/shell.ts';

const MIB = 1024 * 1024;
const LONGEST_MS = 600_000;

describe('rdsend and rdrecv carry every size', () => {
  const bench = useBench();

  it('300 MiB through pipes', () => copyThroughPipes(bench, 300 * MIB, []));
  it('300 MiB authenticated', () => copyThroughPipes(bench, 300 * MIB, ['--encrypt', 'auth']));
  it('300 MiB encrypted', () => copyThroughPipes(bench, 300 * MIB, ['--encrypt', 'always']));
});

describe('3 GiB of random bytes', function () {
  this.timeout(patience(2 * LONGEST_MS));
  const lab = useLab({ longestMs: LONGEST_MS });

  for (const encrypt of ['always', 'never']) {
    it(`arrive unchanged, --encrypt ${encrypt}`, async () => {
      const sender = `h1:'head -c 3G /dev/urandom | tee >(sha256sum > ${lab.directory}/sent)'`;
      const result = await lab.sh(`rdpipe --shell bash --encrypt ${encrypt} ${sender} h2:cat h3:sha256sum`);
      succeeded(result, (await lab.read('sent')).toString());
    });
  }
});
