// SPDX-License-Identifier: Apache-2.0
// A launcher that hangs, and runs in a job of a real Slurm: two at once, the end of the job's time limit, a lost node.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { placeStandIns } from '../support/exec-stand-in.ts';
import { useLab } from '../support/lab.ts';
import { needsRoot, needsTool } from '../support/needs.ts';
import { patience } from '../support/patience.ts';
import { type Container, PODMAN_TOOLS, startContainer } from '../support/podman.ts';
import { failed, succeeded } from '../support/shell.ts';
import { type Allocation, SLURM_TOOLS, type Slurm, startSlurm } from '../support/slurm.ts';

const RUN = 'rdpipe --launcher slurm';

describe('a launcher that hangs', () => {
  const lab = useLab();

  it('ends after a run that was killed', async () => {
    const running = lab.start("exec rdpipe --launcher 'command:sleep 600' h1:true");
    await eventually(() => expect(lab.processes('sleep')).to.have.length(1));
    running.kill('SIGKILL');
    await running.result;
    await lab.expectNothingLeft();
  });
});

describe('rdpipe doctor, with a launcher that does not pass on the end of its input', () => {
  const lab = useLab();

  it('leaves nothing', async () => {
    const PATH = `${placeStandIns(lab.directory)}:${lab.environment.PATH}`;
    const result = await lab.sh('rdpipe doctor --launcher kubectl prod/p1', { PATH, EXEC_NO_HALF_CLOSE: '1' });
    expect(result.status, `${result.stdout}`).to.equal(0);
    await lab.expectNothingLeft();
  });
});

describe('rdpipe doctor, in a container that has only busybox', () => {
  const lab = useLab();
  let directory = '';
  let container: Container | undefined;

  before(async function () {
    needsTool(this, ...PODMAN_TOOLS);
    needsRoot(this);
    directory = mkdtempSync(join(tmpdir(), 'rdpipe-podman-'));
    container = await startContainer(directory, 'c1', Object.fromEntries([lab.markSetting.split('=')]));
  });
  after(async () => {
    await container?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it('measures in both directions', async () => {
    const environment = { PATH: `${container?.bin}:${lab.environment.PATH}` };
    const result = await lab.sh('rdpipe doctor --launcher podman --transport tcp c1', environment);
    expect(result.status, `${result.stdout}`).to.equal(0);
  });
});

describe('a run in a job of Slurm', () => {
  const lab = useLab({ longestMs: patience(600_000) });
  let slurm: Slurm;
  let job: Allocation;

  before(function () {
    needsTool(this, ...SLURM_TOOLS);
    needsRoot(this);
  });
  // Each test ends its job or loses a node.
  beforeEach(async () => {
    slurm = await startSlurm(mkdtempSync(join(tmpdir(), 'rdpipe-slurm-')), 3, 'SlurmdTimeout=6');
    job = await slurm.allocate();
  });
  afterEach(() => slurm.close());

  const environment = () => ({ ...job.environment, PATH: lab.environment.PATH });
  const sh = (script: string) => lab.sh(script, environment());

  async function begin() {
    const running = lab.start(`exec ${RUN} n1:'echo begun; exec sleep 600' n2:cat`, { env: environment() });
    await running.printed('begun\n');
    return running;
  }

  it('has its own step next to another run', async () => {
    const line = `${RUN} n1:'head -c 30M /dev/urandom | tee $0.$$ | sha256sum >&2; cat $0.$$; rm $0.$$' n2:cat n3:sha256sum`;
    const result =
      await sh(`for n in 1 2 3; do ${line.replaceAll('$0', `${lab.directory}/part`)} 2>err$n >out$n & done; wait
      for n in 1 2 3; do cmp <(sed 's/^n1: //' err$n) out$n && echo same; done`);
    succeeded(result, 'same\nsame\nsame\n');
  });

  it("ends with the time limit of the job, with Slurm's message", async () => {
    const running = await begin();
    await job.endSoon();
    failed(await running.result, 125, /^rdpipe: lost n\d: its Slurm step ended: STEP .*CANCELLED.*TIME/m);
    await lab.expectNothingLeft();
  });

  it('ends with a node that is lost: its hops notice first, Slurm after SlurmdTimeout', async () => {
    const running = await begin();
    slurm.loseNode('n1');
    failed(await running.result, 125, /^rdpipe: lost n1: .*$/m);
    await lab.expectNothingLeft();
  });

  it('has a stage on each node of a list, and refuses all', async () => {
    for (const list of ['n[1-3]', 'n1,n2']) succeeded(await sh(`${RUN} '${list}:true'`), '');
    failed(await sh(`${RUN} all:true`), 125, /all is not a node \(write a list of nodes/);
  });
});
