// SPDX-License-Identifier: Apache-2.0
// Data of every kind that is compressed, or sealed by several threads, arrives unchanged.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { useLab } from '../support/lab.ts';
import { reportOf } from '../support/report.ts';
import { succeeded } from '../support/shell.ts';

const MIB = 1024 * 1024;
const lines = Buffer.from(Array.from({ length: 400_000 }, (_, line) => `line ${line} of many`).join('\n'));
const noise = randomBytes(5 * MIB + 1);
/**
 * Data that shrinks and data that does not, each after the other: rdpipe stops compressing data that does not shrink.
 */
const mixed = Buffer.concat([noise.subarray(0, 3 * MIB), lines, noise, lines]);

describe('--compress and --jobs', () => {
  const lab = useLab();

  for (const encrypt of ['never', 'always']) {
    for (const jobs of [1, 2, 8]) {
      it(`zstd, --encrypt ${encrypt}, --jobs ${jobs}`, () =>
        pass(mixed, `--compress zstd --encrypt ${encrypt} --jobs ${jobs}`));
    }
  }

  it('a high level, which takes longer than the stall timeout', async () => {
    // A slow machine may need a longer stall timeout, and then more data, so that compression takes longer still.
    for (const seconds of [2, 6, 18]) {
      await lab.write('in', Buffer.concat([lines, lines]).subarray(0, seconds * MIB));
      const options = `--compress zstd:19 --stall-timeout ${seconds}`;
      const result = await lab.sh(`rdpipe ${options} h1:cat h2:cat < in > out`);
      if (result.status === 125 && seconds < 18) continue;
      succeeded(result, '');
      expect((await lab.read('out')).equals(await lab.read('in'))).to.equal(true);
      return;
    }
  });

  it('data that does not shrink', () => pass(noise, '--compress zstd:3 --encrypt always'));

  it('a small window', () => pass(mixed, '--compress zstd --encrypt always --buffer 64KiB'));

  it('no bytes, and one byte', async () => {
    await pass(Buffer.alloc(0), '--compress zstd --encrypt always');
    await pass(Buffer.from('x'), '--compress zstd --encrypt always');
  });

  it('and the report has the bytes on the wire, and the workers as slowest part', async () => {
    await lab.write('in', lines.subarray(0, 2 * MIB));
    const result = await lab.sh(
      `rdpipe --json --compress zstd:19 --jobs 1 h1:'< ${lab.directory}/in' h2:'cat >/dev/null'`,
    );
    const [hop] = reportOf(result).hops;
    expect(hop).to.include({ bytes: 2 * MIB, compress: 19, bottleneck: 'worker' });
    expect(hop?.wireBytes).to.be.within(1, MIB);
  });

  it('from file to file, encrypted by 8 threads', async () => {
    await lab.write('in', mixed);
    succeeded(
      await lab.sh(`rdpipe --encrypt always --jobs 8 h1:'< ${lab.directory}/in' h2:'> ${lab.directory}/out'`),
      '',
    );
    expect((await lab.read('out')).equals(mixed)).to.equal(true);
  });

  async function pass(bytes: Buffer, options: string): Promise<void> {
    await lab.write('in', bytes);
    succeeded(await lab.sh(`rdpipe ${options} h1:cat h2:cat < in > out`), '');
    expect((await lab.read('out')).equals(bytes)).to.equal(true);
  }
});
