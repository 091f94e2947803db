// SPDX-License-Identifier: Apache-2.0
// A run over RDMA whose stream has begun and does not end, and checks of its failure.
import { expect } from 'chai';
import type { Running } from '../support/shell.ts';
import type { VirtualLab } from './use-virtual-hosts.ts';

/** TCP gets its turn after a quarter of the time to connect. */
export const LIMITS = '--stall-timeout 6 --lease 15 --connect-timeout 60';

/** From h1 to h2, where /tmp/committed is made if the consumer takes the stream for a whole one. */
export async function beginStream(lab: VirtualLab): Promise<Running> {
  const consumer = "h2:'head -c 1000000 | tail -c 1; cat > /dev/null; touch /tmp/committed'";
  const running = lab.start(`exec rdpipe ${LIMITS} h1:'cat /dev/zero' ${consumer}`);
  await running.printed('\0');
  return running;
}

/** By itself: not killed as a command line that hangs. */
export async function failsByItself(running: Running, why: RegExp): Promise<void> {
  const { status, stderr } = await running.result;
  expect(status, stderr).to.equal(125);
  expect(stderr)
    .to.match(/^rdpipe: /)
    .and.to.match(why);
  expect(stderr.trimEnd().split('\n'), stderr).to.have.length(1);
}
