import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../../../../../test/support/eventually.ts';
import { startChild } from '../../../src/session/child-channel.ts';
import { watchLog } from '../../../src/session/launcher/slurm/step-log.ts';
import { time } from '../../frozen-time.ts';

const STEP = 'slurmstepd-n1: error: *** STEP 1.0 ON n1 CANCELLED AT 2026-11-23T04:33:24 DUE TO TIME LIMIT ***';
const ABORTED = 'srun: Job step aborted: Waiting up to 4 seconds for job step to finish.';
const TASK = 'srun: error: n1: task 0: Killed';

/** Returns the reason of a step, and those of its nodes, if its srun is a shell that runs the script. */
async function reasonsOf(script: string, onLost = () => {}): Promise<readonly [string, readonly string[]]> {
  const nodes: string[] = [];
  const log = watchLog(startChild(['sh', '-c', script]), (node, reason) => {
    nodes.push(`${node}: ${reason}`);
    onLost();
  });
  log.setStep('1.0');
  return [await log.ended, nodes];
}

function printed(...lines: readonly string[]): string {
  return lines.map((line) => `echo '${line}' >&2`).join('\n');
}

describe('the messages of a Slurm step', () => {
  const directory = mkdtempSync(join(tmpdir(), 'rdpipe-scontrol-'));
  const path = process.env.PATH;
  const place = (state: string) => {
    writeFileSync(join(directory, 'scontrol'), `#!/bin/sh\necho "JobId=$4 JobName=x JobState=${state} Reason=None"\n`, {
      mode: 0o755,
    });
  };
  before(() => {
    process.env.PATH = `${directory}:${path}`;
  });
  afterEach(() => time.reset());
  after(() => {
    process.env.PATH = path;
    rmSync(directory, { recursive: true, force: true });
  });

  it('give the line of the step as the reason, whether it comes before or after that of a task', async () => {
    const reason = 'STEP 1.0 ON n1 CANCELLED AT 2026-11-23T04:33:24 DUE TO TIME LIMIT';
    time.freeze(); // The reasons of nodes wait only for a limited time for the reason of the step.
    expect(await reasonsOf(printed(STEP, ABORTED, TASK))).to.deep.equal([reason, []]);
    expect(await reasonsOf(printed(ABORTED, TASK, STEP))).to.deep.equal([reason, []]);
  });

  it('wait for srun if the step was cancelled, however late its line arrives', async () => {
    const [reason, nodes] = await reasonsOf(`${printed(ABORTED, TASK)}\nsleep 0.8\n${printed(STEP)}`);
    // On a busy machine the line is read before the wait is over: then it is the reason of the node as well.
    for (const text of [reason, ...nodes]) expect(text).to.match(/ DUE TO TIME LIMIT$/);
  });

  it('may lack the line of the step: then rdpipe asks Slurm for the state of the job', async () => {
    time.freeze(); // Slurm's answer may take longer than the time limit.
    place('RUNNING');
    expect(await reasonsOf(printed(ABORTED, TASK))).to.deep.equal(['STEP 1.0 CANCELLED', []]);
    place('TIMEOUT');
    expect(await reasonsOf(printed(ABORTED, TASK))).to.deep.equal([
      'STEP 1.0 CANCELLED (its job is in state TIMEOUT)',
      [],
    ]);
  });

  it('report one node that is lost while the others continue', async () => {
    const told = join(directory, 'told');
    const goesOn = `until test -e '${told}'; do sleep 0.05; done`;
    const [, nodes] = await reasonsOf(`${printed(TASK)}\n${goesOn}`, () => writeFileSync(told, ''));
    expect(nodes).to.deep.equal(['n1: n1: task 0: Killed']);
  });

  it('report a node that failed before the others of its step end', async () => {
    place('NODE_FAIL');
    const [, nodes] = await reasonsOf(printed('srun: error: Node failure on n1', ABORTED));
    expect(nodes).to.deep.equal(['n1: Node failure on n1']);
  });

  it('may be missing: srun was killed, and its step is cancelled', async () => {
    const asked = join(directory, 'asked');
    writeFileSync(join(directory, 'scancel'), `#!/bin/sh\necho "$@" >'${asked}'\n`, { mode: 0o755 });
    expect(await reasonsOf('kill -9 $$')).to.deep.equal(['srun was killed by SIGKILL', []]);
    await eventually(() => expect(`${readFileSync(asked)}`).to.equal('1.0\n'));
  });
});
