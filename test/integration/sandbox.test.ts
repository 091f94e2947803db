// SPDX-License-Identifier: Apache-2.0
// rdsend and rdrecv drop rights while they run;
// their commands and the agent's processes keep theirs.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { useLab } from '../support/lab.ts';
import { needs, needsSightOfPrograms } from '../support/needs.ts';

/** Values as in /proc/PID/status: 2 means a filter. */
const CONFINED = { noNewPrivs: '1', seccomp: '2' };
/** The restraints of this process: in a container there may be a filter for all processes. */
const FREE = restraints('self');

describe('the sandbox', () => {
  const lab = useLab();

  before(function () {
    needs(this, FREE.seccomp === undefined ? 'this kernel has no filters of system calls' : undefined);
    needs(this, FREE.seccomp === '2' ? 'this process has a filter itself: nothing could be told apart' : undefined);
  });

  it('confines rdsend and rdrecv without an agent before a connection, but not their commands', async function () {
    needsSightOfPrograms(this);
    const port = await freePort('0.0.0.0');
    const show = 'sh -c \'grep -E "^(NoNewPrivs|Seccomp):" /proc/self/status; cat; exec sleep 1000\'';
    const receiver = lab.start(`exec rdrecv ${port} secret -- ${show} >received`);
    // The process of the command waits, also as `rdrecv`, until a peer has connected.
    await eventually(() => expect(of('rdrecv')).to.have.deep.members([CONFINED, FREE]));
    const sender = lab.start(`exec rdsend 127.0.0.1 ${port} secret -- ${show} </dev/null`);
    const free = `NoNewPrivs:\t${FREE.noNewPrivs}\nSeccomp:\t${FREE.seccomp}\n`;
    await eventually(async () => expect((await lab.read('received')).toString()).to.equal(free + free));
    for (const name of ['rdsend', 'rdrecv']) expect(of(name)).to.deep.equal([CONFINED]);
    await eventually(() => {
      for (const name of ['sleep', 'cat']) expect(of(name)).to.deep.equal([FREE]);
    });
    expect(of('rd-watchdog')).to.deep.equal([FREE, FREE]);
    for (const running of [sender, receiver]) running.kill('SIGTERM');
    await Promise.all([sender.result, receiver.result]);
  });

  it('confines those of a pipeline, also for sinks and sources, but neither stages nor agents', async function () {
    needsSightOfPrograms(this);
    await lab.sh('mkfifo source');
    // There is no writer: the stages wait for end of file.
    const files = [`< ${lab.directory}/source`, `> ${lab.directory}/sink`] as const;
    const running = lab.start(`exec rdpipe h1:'${files[0]}' h2:'cat; exec sleep 1000' h3:'${files[1]}'`);
    const all = (name: string, count: number) => eventually(() => expect(of(name)).to.have.length(count));
    await all('rdsend', 2);
    await all('rdrecv', 2);
    await eventually(() => {
      for (const one of [...of('rdsend'), ...of('rdrecv')]) expect(one).to.deep.equal(CONFINED);
    });
    await all('cat', 1);
    expect(of('rdstage')).to.have.length.at.least(3);
    for (const name of ['cat', 'rdstage']) for (const one of of(name)) expect(one).to.deep.equal(FREE);
    running.kill('SIGINT');
    await running.result;
  });

  /** Processes of this test with this name of the kernel. */
  function of(name: string): Restraints[] {
    return lab.processes(name).map(({ pid }) => restraints(pid));
  }
});

interface Restraints {
  readonly noNewPrivs: string | undefined;
  readonly seccomp: string | undefined;
}

function restraints(pid: number | 'self'): Restraints {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  const value = (name: string) => new RegExp(`^${name}:\\t(\\d)$`, 'm').exec(text)?.[1];
  return { noNewPrivs: value('NoNewPrivs'), seccomp: value('Seccomp') };
}
