// SPDX-License-Identifier: Apache-2.0
// One process of a run is killed: the run fails with one line,
// and no reader takes a cut stream for a complete one.
import { readlinkSync } from 'node:fs';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { useLab } from '../support/lab.ts';
import { needsSightOfPrograms } from '../support/needs.ts';
import { type MarkedProcess, signalProcess } from '../support/processes.ts';
import { leaseSoon, limitWords } from '../support/run-limits.ts';

describe('a run', () => {
  before(function () {
    needsSightOfPrograms(this);
  });
  const lab = useLab();

  for (const program of ['rdsend', 'rdrecv', 'rdstage', 'ssh']) {
    for (const which of ['first', 'last'] as const) {
      it(`fails when its ${which} ${program} is killed`, async () => {
        const consumer = `h2:'cat > ${lab.directory}/seen; touch ${lab.directory}/committed'`;
        const running = lab.start(`exec rdpipe h1:'echo begun; sleep 1000' ${consumer} h3:'> ${lab.directory}/target'`);
        await eventually(async () => expect((await lab.read('seen')).toString()).to.equal('begun\n'));
        const candidates = lab.processes().filter((process) => process.program === program);
        expect(candidates).to.have.length.at.least(2);
        kill(which === 'first' ? candidates[0] : candidates.at(-1));
        const result = await running.result;
        expect(result.status).to.equal(125);
        expect(result.stderr).to.match(/^rdpipe: .*h[123]/);
        expect(result.stderr.trimEnd().split('\n'), result.stderr).to.have.length(1);
        expect(await lab.list()).to.deep.equal(['seen']);
      });
    }
  }

  it('fails when a host falls silent, which ends its part when it resumes', async () => {
    const consumer = `h2:'cat; touch ${lab.directory}/committed'`;
    const running = lab.start(`exec rdpipe ${limitWords(leaseSoon())} h1:'echo begun; sleep 1000' ${consumer}`);
    await running.printed('begun\n');
    const silent = lab.processes().filter((process) => process.home === lab.host('h2').home);
    for (const { pid } of silent) signalProcess(pid, 'SIGSTOP');
    const result = await running.result;
    expect(result.status).to.equal(125);
    expect(result.stderr).to.match(/^rdpipe: .*h2/);
    for (const { pid } of silent) signalProcess(pid, 'SIGCONT');
    await lab.expectNothingLeft();
    expect(await lab.list()).not.to.include('committed');
  });

  it("fails when a stage's consumer is killed", async () => {
    const running = lab.start("exec rdpipe h1:'echo begun; sleep 1000' h2:'exec cat'");
    await running.printed('begun\n');
    kill(lab.processes().find((process) => process.program === 'cat'));
    const result = await running.result;
    expect(result.status).to.equal(137);
    expect(result.stderr).to.match(/^rdpipe: stage 2 \(h2: exec cat\).*SIGKILL.*stage 1 was stopped/);
  });

  it('does not wait for a reader that is not its process, such as zfs-fuse', async () => {
    const running = lab.start("exec rdpipe h1:'echo begun; sleep 1000' h2:'echo $; exec cat'");
    await running.printed('');
    const pid = await eventually(() => catOf(lab.processes()));
    const outsider = lab.start(`exec cat < /proc/${pid}/fd/0`, { env: { RDPIPE_TEST_MARK: 'none' } });
    await eventually(() => expect(readlinkSync(`/proc/${outsider.pid}/exe`)).to.match(/cat$/));
    kill(lab.processes().find((process) => process.pid === pid));
    expect((await running.result).status).to.equal(137);
    await lab.expectNothingLeft();
    expect((await outsider.result).status).to.equal(0);
  });
});

function catOf(processes: readonly MarkedProcess[]): number {
  const pid = processes.find((process) => process.program === 'cat')?.pid;
  if (pid === undefined) throw new Error('cat does not run yet');
  return pid;
}

function kill(target: MarkedProcess | undefined): void {
  if (target === undefined) throw new Error('the process to kill is not there');
  process.kill(target.pid, 'SIGKILL');
}
