// SPDX-License-Identifier: Apache-2.0
// --limit over RDMA: never exceeded, and nearly reached while there is data to send.
import { expect } from 'chai';
import { succeededOver } from '../lab/report.ts';
import { useVirtualHosts } from '../lab/use-virtual-hosts.ts';

const MIB = 1024 * 1024;
/** Long enough that the time before the first byte and after the last hardly counts. */
const SECONDS = 10;
/** Least share of the limit: a busy machine delays a sender. limit_test.c tests the accuracy with a simulated clock. */
const SHARE_MIN = 1 / 3;
/** Attempts of an unlucky run: other programs use the machine of the emulated hosts. */
const ATTEMPTS = 3;
const LONGEST_MS = 240_000;

describe('a limit over RDMA', () => {
  const lab = useVirtualHosts({ longestMs: LONGEST_MS });

  for (const [what, limitMib, options, source] of [
    ['unencrypted, from a pipe', 2, '', "'head -c SIZE /dev/zero'"],
    ['encrypted, from a pipe', 1, '--encrypt always', "'head -c SIZE /dev/zero'"],
    ['unencrypted, from a file', 2, '--buffer 256KiB', "'< /tmp/source'"],
  ] as const)
    it(`of a stream ${what} is kept, and reached`, async () => {
      const size = limitMib * SECONDS * MIB;
      await lab.on('h1', `truncate -s ${size} /tmp/source`);
      try {
        await reaches(
          `${options} --limit ${limitMib}MiB/s h1:${source.replace('SIZE', `${size}`)} h2:'> /dev/null'`,
          limitMib,
        );
      } finally {
        await lab.on('h1', 'rm /tmp/source');
      }
    });

  async function reaches(words: string, limitMib: number): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const result = await lab.sh(`rdpipe --connect-timeout 60 --transport rdma --json ${words} < /dev/null`);
      const [hop] = succeededOver(result, '', ['rdma']).hops;
      if (hop === undefined) throw new Error('no hop in the report');
      expect(hop.bytesPerSecond).to.be.at.most(limitMib * MIB);
      expect(hop.bottleneck).to.equal('limit');
      const share = hop.bytes / (hop.seconds - hop.inputMs / 1000) / (limitMib * MIB);
      if (share >= SHARE_MIN) return;
      expect(attempt, `${share} of the limit: ${JSON.stringify(hop)}`).to.be.lessThan(ATTEMPTS);
    }
  }
});
