// SPDX-License-Identifier: Apache-2.0
// Something of an RDMA hop dies in mid-stream: the run fails in bounded time with one line that says what, no consumer takes a
// cut-off stream for a whole one, and nothing is left on any host. Agents that are killed are in test/full.
import { expect } from 'chai';
import type { Running } from '../support/shell.ts';
import { type HostName, useVirtualHosts } from './use-virtual-hosts.ts';

const LIMITS = '--stall-timeout 4 --lease 8';
/** The lease, a slow machine, and what a host's agent takes to end its programs. */
const LONGEST_MS = 20_000;
/** The first run on a host copies the programs there. */
const BEGIN_MS = 40_000;

describe('an RDMA hop in mid-stream', () => {
  const lab = useVirtualHosts();
  afterEach(() => lab.on('h2', 'test ! -e /tmp/committed'));

  const kills: readonly (readonly [what: string, host: HostName, command: string, why: RegExp])[] = [
    ['rdsend is killed', 'h1', 'kill -KILL $(pidof rdsend)', /h1.*(killed|SIGKILL|lost)/],
    ['rdrecv is killed', 'h2', 'kill -KILL $(pgrep -o -x rdrecv)', /h2.*(killed|SIGKILL|lost)/],
    ['an ssh session is killed', 'h2', 'kill -KILL $(ps -o ppid= $(pgrep -o -x rdstage))', /lost.*h2/],
  ];
  for (const [what, host, command, why] of kills) {
    it(`fails when ${what}`, async () => {
      const running = await begin();
      await lab.on(host, command);
      await failsSoon(running, why);
    });
  }

  it('fails when the RDMA device goes', async () => {
    const running = await begin();
    await lab.on('h2', 'rdma link delete rxe0');
    try {
      await failsSoon(running, /h1|h2/);
    } finally {
      await lab.on('h2', 'rdma link add rxe0 type rxe netdev eth0');
    }
  });

  it('fails when the cable is pulled', async () => {
    const running = await begin();
    lab.setCable('h2', 'down');
    try {
      await failsSoon(running, /h2/);
    } finally {
      lab.setCable('h2', 'up');
    }
  });

  it('fails when a host dies', async () => {
    const running = await begin();
    await lab.killHost('h2');
    try {
      await failsSoon(running, /h2/);
    } finally {
      await lab.restartHost('h2');
    }
  });

  async function begin(): Promise<Running> {
    const consumer = "h2:'head -c 1000000 | tail -c 1; cat > /dev/null; touch /tmp/committed'";
    const running = lab.start(`exec rdpipe ${LIMITS} h1:'cat /dev/zero' ${consumer}`);
    await running.printed('\0', BEGIN_MS);
    return running;
  }

  async function failsSoon(running: Running, why: RegExp): Promise<void> {
    const started = Date.now();
    const { status, stderr } = await running.result;
    expect(Date.now() - started, stderr).to.be.lessThan(LONGEST_MS);
    expect(status).to.equal(125);
    expect(stderr)
      .to.match(/^rdpipe: /)
      .and.to.match(why);
    expect(stderr.trimEnd().split('\n'), stderr).to.have.length(1);
  }
});
