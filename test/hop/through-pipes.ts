// SPDX-License-Identifier: Apache-2.0
// A stream of random bytes through rdsend and rdrecv, whose input and output are pipes,
// so that reads are short.
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { type Bench, digestOf, KEY, PATIENT } from '../support/programs.ts';

const MIB = 1024 * 1024;

export async function copyThroughPipes(bench: Bench, size: number, options: readonly string[]): Promise<void> {
  writeRandom(bench.path('in'), size);
  const words = [PATIENT, ...options].join(' ');
  const receiver = bench.bash(`rdrecv ${words} 0 ${KEY} | cat > out; exit \${PIPESTATUS[0]}`);
  const port = await receiver.port();
  const sender = bench.bash(`cat in | rdsend ${words} 127.0.0.1 ${port} ${KEY}`);
  const [sent, received] = await Promise.all([sender.ended, receiver.ended]);
  expect({ status: sent.status, stderr: sent.stderr }).to.deep.equal({ status: 0, stderr: '' });
  expect(received.status).to.equal(0);
  expect(await digestOf(bench.path('out'))).to.equal(await digestOf(bench.path('in')));
}

function writeRandom(path: string, size: number): void {
  const fd = openSync(path, 'w');
  for (let left = size; left > 0; left -= MIB) writeFileSync(fd, randomBytes(Math.min(left, MIB)));
  closeSync(fd);
}
