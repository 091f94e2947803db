// SPDX-License-Identifier: Apache-2.0
// A run over RDMA whose stream has begun and does not end, and checks of its failure.
import { expect } from 'chai';
import type { Running } from '../support/shell.ts';
import type { VirtualLab } from './use-virtual-hosts.ts';

/** TCP gets its turn after a quarter of the time to connect. */
export const LIMITS = '--stall-timeout 4 --lease 8 --connect-timeout 60';
/** The lease, a slow machine, and what a host's agent takes to end its programs. */
const LONGEST_MS = 20_000;
/** The first run on a host copies the programs there. */
const BEGIN_MS = 40_000;

/** From h1 to h2, where /tmp/committed is made if the consumer takes the stream for a whole one. */
export async function beginStream(lab: VirtualLab): Promise<Running> {
  const consumer = "h2:'head -c 1000000 | tail -c 1; cat > /dev/null; touch /tmp/committed'";
  const running = lab.start(`exec rdpipe ${LIMITS} h1:'cat /dev/zero' ${consumer}`);
  await running.printed('\0', BEGIN_MS);
  return running;
}

export async function failsSoon(running: Running, why: RegExp): Promise<void> {
  const started = Date.now();
  const { status, stderr } = await running.result;
  expect(Date.now() - started, stderr).to.be.lessThan(LONGEST_MS);
  expect(status).to.equal(125);
  expect(stderr)
    .to.match(/^rdpipe: /)
    .and.to.match(why);
  expect(stderr.trimEnd().split('\n'), stderr).to.have.length(1);
}
