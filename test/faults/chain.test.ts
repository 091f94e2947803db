// SPDX-License-Identifier: Apache-2.0
// A host of a chain is lost: its neighbors are joined, and all other hosts get the complete stream.
import { expect } from 'chai';
import { useLab } from '../support/lab.ts';
import { needsSightOfPrograms } from '../support/needs.ts';
import { signalProcess } from '../support/processes.ts';
import { chainStallSoon, limitWords, NEVER } from '../support/run-limits.ts';
import { CHAIN, kill, processesOf, startChain } from './chain-run.ts';

describe('a chain of hosts', () => {
  before(function () {
    needsSightOfPrograms(this);
  });
  const lab = useLab({ hosts: CHAIN.map((name) => ({ name })) });

  for (const [encrypt, ...lost] of [
    ['never', 'n2'],
    ['never', 'n1', 'n3'],
    ['never', 'n3', 'n4'],
    ['always', 'n1'],
    ['always', 'n2', 'n3'],
    ['always', 'n4'],
  ] as const) {
    it(`continues when all of ${lost.join(' and ')} is killed, with --encrypt ${encrypt}`, async () => {
      const run = await startChain(lab, `${limitWords(NEVER)} --encrypt ${encrypt} --require any`, 'command');
      for (const name of lost) kill(lab, name);
      const { status, stderr } = await run.letEnd();
      expect(status, stderr).to.equal(0);
      for (const name of lost) expect(stderr).to.contain(`lost ${name}`);
      await run.expectCopies(lost);
    });
  }

  for (const program of ['rdrecv', 'rdsend', 'rdstage', 'cat']) {
    it(`continues when ${program} is killed on n2, and fails at the end`, async () => {
      const run = await startChain(lab, limitWords(NEVER), 'command');
      kill(lab, 'n2', program);
      const { status, stderr } = await run.letEnd();
      expect(status, stderr).to.be.greaterThan(0);
      expect(stderr).to.contain('n2');
      await run.expectCopies(['n2']);
    });
  }

  it('renames the files of the hosts that are left', async () => {
    const run = await startChain(lab, `${limitWords(NEVER)} --require 3`, 'file');
    kill(lab, 'n3');
    const { status, stderr } = await run.letEnd();
    expect(status, stderr).to.equal(0);
    await run.expectCopies(['n3']);
  });

  it('continues when a host falls silent', async () => {
    const run = await startChain(lab, `${limitWords(chainStallSoon())} --require any`, 'command');
    for (const { pid } of processesOf(lab, 'n2')) signalProcess(pid, 'SIGSTOP');
    const { status, stderr } = await run.letEnd();
    for (const { pid } of processesOf(lab, 'n2')) signalProcess(pid, 'SIGKILL');
    expect(status, stderr).to.equal(0);
    expect(stderr).to.contain('lost n2');
    await run.expectCopies(['n2']);
  });

  it('ends with all hosts when the first sender is killed', async () => {
    const run = await startChain(lab, `${limitWords(NEVER)} --require any`, 'command');
    kill(lab, 'h1');
    const { status, stderr } = await run.result;
    expect(status, stderr).to.equal(125);
    expect(stderr).to.contain('h1');
    await run.expectCopies(CHAIN);
  });
});
