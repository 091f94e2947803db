// SPDX-License-Identifier: Apache-2.0
// Runs and copies over each launcher: a real container, real Slurm nodes, a template,
// and a stand-in for kubectl.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { placeStandIns } from '../support/exec-stand-in.ts';
import { useLab } from '../support/lab.ts';
import { needsRoot, needsTool } from '../support/needs.ts';
import { type Container, PODMAN_TOOLS, startContainer } from '../support/podman.ts';
import { MARK_VARIABLE, signalProcess } from '../support/processes.ts';
import { failed, succeeded } from '../support/shell.ts';
import { type Allocation, SLURM_TOOLS, type Slurm, startSlurm } from '../support/slurm.ts';

const LAUNCHERS = { c1: 'podman', n1: 'slurm', n2: 'slurm', t1: 'command:sh', 'prod/p1': 'kubectl' };
type Host = keyof typeof LAUNCHERS;
const HOSTS = Object.keys(LAUNCHERS) as Host[];
const FOREVER = 'echo begun; exec sleep 600';

/** The command rdpipe with the launchers of these hosts. */
function rdpipe(...hosts: readonly Host[]): string {
  return ['rdpipe', ...hosts.map((host) => `--launcher ${host}=${LAUNCHERS[host]}`)].join(' ');
}

describe('a run over launchers', () => {
  const lab = useLab();
  const directory = mkdtempSync(join(tmpdir(), 'rdpipe-launchers-'));
  let container: Container | undefined;
  let slurm: Slurm | undefined;
  let job: Allocation;
  let environment: NodeJS.ProcessEnv;

  before(async function () {
    needsTool(this, ...PODMAN_TOOLS, ...SLURM_TOOLS);
    needsRoot(this);
    const [variable = '', mark = ''] = lab.markSetting.split('=');
    expect(variable).to.equal(MARK_VARIABLE);
    container = await startContainer(join(directory, 'podman'), 'c1', { [variable]: mark });
    slurm = await startSlurm(mkdtempSync(join(tmpdir(), 'rdpipe-slurm-')), 2);
    job = await slurm.allocate();
    const bins = [container.bin, placeStandIns(directory)].join(':');
    environment = { ...job.environment, PATH: `${bins}:${lab.environment.PATH}` };
  });
  after(async () => {
    await container?.close();
    await slurm?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const sh = (script: string) => lab.sh(script, environment);
  const start = (script: string, env: NodeJS.ProcessEnv = {}) => lab.start(script, { env: { ...environment, ...env } });

  it('carries binary bytes through all of them', async () => {
    const bytes = Buffer.concat([Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)), randomBytes(1 << 20)]);
    await lab.write('in', bytes);
    succeeded(await sh(`${rdpipe(...HOSTS)} ${HOSTS.map((host) => `${host}:cat`).join(' ')} <in >out`), '');
    expect((await lab.read('out')).equals(bytes)).to.equal(true);
  });

  it('copies directories between nodes of a job, and from a pod', async () => {
    succeeded(await sh('mkdir -p from/sub && head -c 1M /dev/urandom >from/sub/a && echo b >from/b'), '');
    succeeded(await sh('rdcp -r --launcher slurm n1:$PWD/from/ n2:$PWD/nodes && diff -r from nodes'), '');
    succeeded(await sh('rdcp -r --launcher kubectl prod/p1:$PWD/from/ pod && diff -r from pod'), '');
  });

  it('ends with the status of a command there', async () => {
    const results = await Promise.all(HOSTS.map((host, index) => sh(`${rdpipe(host)} ${host}:'exit ${index + 3}'`)));
    expect(results.map(({ status }) => status)).to.deep.equal([3, 4, 5, 6, 7]);
  });

  for (const [what, line, status] of [
    ['an agent that does not exist', 'rdpipe --agent /nonexistent --launcher kubectl prod/p1:true', 125],
    ['a run', 'rdpipe --launcher kubectl prod/p1:true', 0],
  ] as const) {
    it(`leaves nothing of ${what} if the launcher does not pass on the end of its input`, async () => {
      const result = await lab.sh(line, { ...environment, EXEC_NO_HALF_CLOSE: '1' });
      expect(result.status, result.stderr).to.equal(status);
      await lab.expectNothingLeft();
    });
  }

  it('fails if the channel is cut with status 0', async () => {
    const cut = join(lab.directory, 'cut');
    const running = start(`${rdpipe('prod/p1', 't1')} prod/p1:'${FOREVER}' t1:cat`, { EXEC_CUT: cut });
    await running.printed('begun');
    await lab.write('cut', Buffer.alloc(0));
    failed(await running.result, 125, /prod\/p1/);
  });

  for (const signal of ['SIGKILL', 'SIGINT'] as const) {
    it(`leaves nothing after ${signal}`, async () => {
      const stages = HOSTS.slice(1).map((host) => `${host}:cat`);
      const running = start(`exec ${rdpipe(...HOSTS)} c1:'${FOREVER}' ${stages.join(' ')}`);
      await running.printed('begun');
      await eventually(() => expect(lab.processes('sleep')).to.have.length(1));
      // Ctrl-C reaches the process group; kill -9 reaches a single process.
      if (signal === 'SIGINT') process.kill(-running.pid, signal);
      else running.kill(signal);
      await running.result;
      await lab.expectNothingLeft();
    });
  }

  /** Starts a run with a stage on n1; also returns its step, in Slurm's notation. */
  async function startOnNode() {
    const running = start(
      `rm -f step; ${rdpipe('n1', 't1')} n1:'echo $SLURM_STEP_ID; exec sleep 600' t1:'tee ${lab.directory}/step'`,
    );
    const step = await eventually(async () => {
      const text = `${await lab.read('step')}`;
      expect(text).to.match(/^\d+\n$/);
      return text.trim();
    });
    return { running, step: `${job.job}.${step}` };
  }

  it('fails when scancel ends its step, and names the node', async () => {
    const { running, step } = await startOnNode();
    await job.scancel(step);
    failed(await running.result, 125, /n1.*Slurm step ended: .*CANCELLED/);
    await lab.expectNothingLeft();
  });

  it('fails when its srun is killed, and leaves no step', async () => {
    const { running, step } = await startOnNode();
    const pids = lab.processes('srun');
    expect(pids).not.to.have.length(0);
    for (const { pid } of pids) signalProcess(pid, 'SIGKILL');
    failed(await running.result, 125, /n1.*Slurm step ended: srun was killed by SIGKILL/);
    await lab.expectNothingLeft();
    await eventually(async () => succeeded(await sh(`squeue -s -h -o %i | grep -Fx ${step} || :`), ''));
  });

  it('fails when scancel ends its job', async () => {
    const { running } = await startOnNode();
    await job.scancel(job.job);
    failed(await running.result, 125, /n1.*Slurm step ended: .*CANCELLED/);
    await lab.expectNothingLeft();
  });
});
