// SPDX-License-Identifier: Apache-2.0
// A host of a chain is lost: its neighbors are joined, and all other hosts get the complete stream.
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { useLab } from '../support/lab.ts';
import { needsSightOfPrograms } from '../support/needs.ts';
import { signalProcess } from '../support/processes.ts';
import { chainStallSoon, limitWords, NEVER } from '../support/run-limits.ts';
import { sample } from '../support/sample.ts';
import { chainCells, runCell, titleOf } from './chain-cells.ts';
import { CHAIN, kill, processesOf, startChain } from './chain-run.ts';

describe('a chain of hosts', () => {
  before(function () {
    needsSightOfPrograms(this);
  });
  const lab = useLab({ hosts: CHAIN.map((name) => ({ name })) });

  describe('serves the others, whatever is killed', () => {
    for (const cell of sample(chainCells(), 24)) it(titleOf(cell), () => runCell(lab, cell));
  });

  it('continues when all of two neighbors is killed, and names them', async () => {
    const run = await startChain(lab, `${limitWords(NEVER)} --require any`, 'command');
    for (const name of ['n2', 'n3']) kill(lab, name);
    const { status, stderr } = await run.letEnd();
    expect(status, stderr).to.equal(0);
    for (const name of ['n2', 'n3']) expect(stderr).to.contain(`lost ${name}`);
    await run.expectCopies(['n2', 'n3']);
  });

  for (const program of ['rdstage', 'cat'] as const) {
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

  it('continues when a host falls silent, and does not let it in again', async () => {
    const run = await startChain(lab, `${limitWords(chainStallSoon())} --require any`, 'command');
    for (const { pid } of processesOf(lab, 'n2')) signalProcess(pid, 'SIGSTOP');
    await run.progress('n4');
    for (const { pid } of processesOf(lab, 'n2')) signalProcess(pid, 'SIGCONT');
    const { status, stderr } = await run.letEnd();
    expect(status, stderr).to.equal(0);
    expect(stderr).to.contain('lost n2');
    await run.expectCopies(['n2']);
  });

  it('does not let in a host that has lost its session, though its data programs live', async () => {
    const run = await startChain(lab, `${limitWords(NEVER)} --require any`, 'command');
    for (const { pid } of processesOf(lab, 'n2', 'rdstage')) signalProcess(pid, 'SIGSTOP');
    kill(lab, 'n2', 'sshd');
    await run.progress('n4');
    const { status, stderr } = await run.letEnd();
    for (const { pid } of processesOf(lab, 'n2', 'rdstage')) signalProcess(pid, 'SIGCONT');
    expect(status, stderr).to.equal(0);
    expect(stderr).to.contain('lost n2');
    await run.expectCopies(['n2']);
    await eventually(() => expect(processesOf(lab, 'n2')).to.deep.equal([]));
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
