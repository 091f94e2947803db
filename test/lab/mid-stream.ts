// SPDX-License-Identifier: Apache-2.0
// Starts a run over RDMA whose stream does not end, and checks its failure.
import { expect } from 'chai';
import type { Running } from '../support/shell.ts';
import type { VirtualLab } from './use-virtual-hosts.ts';

/** rdpipe tries TCP after a quarter of --connect-timeout. */
export const LIMITS = '--stall-timeout 6 --lease 15 --connect-timeout 60';

/** Starts a stream from h1 to h2. The consumer creates /tmp/committed if it mistakes the stream for complete. */
export async function beginStream(lab: VirtualLab): Promise<Running> {
  const consumer = "h2:'head -c 1000000 | tail -c 1; cat > /dev/null; touch /tmp/committed'";
  const running = lab.start(`exec rdpipe ${LIMITS} h1:'cat /dev/zero' ${consumer}`);
  await running.printed('\0');
  return running;
}

/** Checks that the run failed on its own, and was not killed by the time limit of command lines. */
export async function failsByItself(running: Running, why: RegExp): Promise<void> {
  const { status, stderr } = await running.result;
  expect(status, stderr).to.equal(125);
  expect(stderr)
    .to.match(/^rdpipe: /)
    .and.to.match(why);
  expect(stderr.trimEnd().split('\n'), stderr).to.have.length(1);
}
