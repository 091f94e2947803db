// SPDX-License-Identifier: Apache-2.0
import { useLab } from '../support/lab.ts';
import { succeeded } from '../support/shell.ts';

describe('3 GiB of random bytes', () => {
  const lab = useLab({ longestMs: 180_000 });

  for (const encrypt of ['always', 'never']) {
    it(`arrive as they were, --encrypt ${encrypt}`, async function () {
      this.timeout(200_000);
      const sender = `h1:'head -c 3G /dev/urandom | tee >(sha256sum > ${lab.folder}/sent)'`;
      const result = await lab.sh(`rdpipe --shell bash --encrypt ${encrypt} ${sender} h2:cat h3:sha256sum`);
      succeeded(result, (await lab.read('sent')).toString());
    });
  }
});
