// SPDX-License-Identifier: Apache-2.0
// The built rdpipe on hosts whose agents are all played by the test's own process.
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

/** `longestMs`: for one run; a test has four. */
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

/** By a launcher, or by a stand-in for ssh, which takes three processes a host. */
export type Way = 'launcher' | 'ssh';

/** A chain of so many hosts behind a sender; each end of a hop sends counters so many times, four times a second. */
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
  const env = way === 'ssh' ? { PSEUDO_SSH_SHELL: crowd.shell } : {};
  const running = lab.start(`exec rdpipe ${options} ${reach} 'h0:< x' 'n[1-${width}]:> y'`, { env });
  const seen = crowd.play(width + 1, counters, () => running.pid, loginsAtOnce);
  const { status, stderr } = await running.result;
  expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
  return seen();
}
