// SPDX-License-Identifier: Apache-2.0
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { digestOf, KEY, useBench } from '../support/programs.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

describe('rdsend and rdrecv carry every size', () => {
  const bench = useBench();

  for (const size of [0, 1, 64 * KIB - 1, 64 * KIB, 64 * KIB + 1, MIB - 1, MIB, MIB + 1, 5 * MIB + 12_345])
    it(`${size} bytes through pipes`, () => copyThroughPipes(size, []));

  it('300 MiB through pipes', () => copyThroughPipes(300 * MIB, [])).timeout(60_000);
  it('300 MiB authenticated', () => copyThroughPipes(300 * MIB, ['--encrypt', 'auth'])).timeout(60_000);
  it('300 MiB encrypted', () => copyThroughPipes(300 * MIB, ['--encrypt', 'always'])).timeout(60_000);
  it('20 MiB through the smallest window', () => copyThroughPipes(20 * MIB, ['--buffer', '64KiB']));
  it('20 MiB without ever sleeping', () => copyThroughPipes(20 * MIB, ['--poll']));
  it('20 MiB encrypted through a window of odd size', () =>
    copyThroughPipes(20 * MIB, ['--buffer', '777777', '--encrypt', 'always']));

  it('20 MiB authenticated through a window of odd size', () =>
    copyThroughPipes(20 * MIB, ['--buffer', '777777', '--encrypt', 'auth']));

  /** The input is a pipe, so that reads are short; so is the output. */
  async function copyThroughPipes(size: number, options: readonly string[]): Promise<void> {
    writeRandom(bench.path('in'), size);
    const words = options.join(' ');
    const receiver = bench.bash(`rdrecv ${words} 0 ${KEY} | cat > out; exit \${PIPESTATUS[0]}`);
    const port = await receiver.port();
    const sender = bench.bash(`cat in | rdsend ${words} 127.0.0.1 ${port} ${KEY}`);
    const [sent, received] = await Promise.all([sender.ended, receiver.ended]);
    expect({ status: sent.status, stderr: sent.stderr }).to.deep.equal({ status: 0, stderr: '' });
    expect(received.status).to.equal(0);
    expect(await digestOf(bench.path('out'))).to.equal(await digestOf(bench.path('in')));
  }
});

function writeRandom(path: string, size: number): void {
  const fd = openSync(path, 'w');
  for (let left = size; left > 0; left -= MIB) writeFileSync(fd, randomBytes(Math.min(left, MIB)));
  closeSync(fd);
}
