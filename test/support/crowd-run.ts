// SPDX-License-Identifier: Apache-2.0
// Runs the built rdpipe on hosts whose agents are simulated by the test process.
import { expect } from 'chai';
import { AgentCrowd, type CrowdRun } from './agent-crowd.ts';
import { type Lab, useLab } from './lab.ts';
import { needsTool } from './needs.ts';
import { patience } from './patience.ts';
import { ROOT } from './root.ts';

export interface CrowdLab {
  readonly lab: Lab;
  readonly crowd: AgentCrowd;
}

/** `longestMs`: time limit of one run; that of a test is four times as long. */
export function useCrowd(longestMs?: number): CrowdLab {
  const lab = useLab(longestMs === undefined ? {} : { longestMs });
  const crowd = new AgentCrowd();
  before(async function () {
    needsTool(this, 'cc');
    await crowd.open();
  });
  beforeEach(function () {
    if (longestMs !== undefined) this.currentTest?.timeout(patience(4 * longestMs));
  });
  after(() => crowd.close());
  return { lab, crowd };
}

/** Through a launcher, or through a substitute for ssh, which needs two processes per host. */
export type Way = 'launcher' | 'ssh';

/** Runs a sender and a chain of `width` hosts. Each end of a hop sends counters `counters` times, four per second. */
export async function launchCrowd(
  { lab, crowd }: CrowdLab,
  width: number,
  counters: number,
  options = '',
  way: Way = 'launcher',
  loginsAtOnce = 1,
): Promise<CrowdRun> {
  const reach =
    way === 'ssh' ? `--ssh-program '${ROOT}/test/support/pseudo-ssh'` : `--launcher 'command:${crowd.shell} %h'`;
  const env = way === 'ssh' ? { PSEUDO_SSH_MASTER: crowd.master } : {};
  const running = lab.start(`exec rdpipe ${options} ${reach} 'h0:< x' 'n[1-${width}]:> y'`, { env });
  const seen = crowd.play(width + 1, counters, () => running.pid, loginsAtOnce);
  const { status, stderr } = await running.result;
  expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
  return seen();
}
