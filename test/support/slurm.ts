// SPDX-License-Identifier: Apache-2.0
// Runs a real Slurm on this machine: munged, slurmctld and several slurmd of Debian. Needs root.
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, hostname } from 'node:os';
import { join } from 'node:path';
import { execa, execaSync } from 'execa';
import { eventually } from './eventually.ts';
import { signalProcess } from './processes.ts';

/** Programs that a test needs to call `startSlurm`. */
export const SLURM_TOOLS = ['srun', 'slurmctld', 'slurmd', 'munged'] as const;

export interface Slurm {
  readonly nodes: readonly string[];
  /** Allocates all nodes; the result has the environment for programs in the allocation. */
  allocate(): Promise<Allocation>;
  /** Kills the daemons of a node, like a loss of power. */
  loseNode(node: string): void;
  close(): Promise<void>;
}

export interface Allocation {
  readonly environment: Readonly<Record<string, string>>;
  readonly job: string;
  scancel(...words: readonly string[]): Promise<unknown>;
  /** Sets the time limit to two seconds from now; Slurm checks it a few seconds later. */
  endSoon(): Promise<unknown>;
}

/** Starts nodes n1, n2, … as slurmd processes; all their files are below `directory`. */
export async function startSlurm(directory: string, count: number, ...more: readonly string[]): Promise<Slurm> {
  const nodes = Array.from({ length: count }, (_, index) => `n${index + 1}`);
  const munge = join(directory, 'munge');
  for (const name of [munge, join(directory, 'state'), ...nodes.map((node) => join(directory, node))]) {
    mkdirSync(name, { recursive: true });
  }
  chmodSync(directory, 0o755);
  const [uid, gid] = ['-u', '-g'].map((flag) => Number(execaSync('id', [flag, 'munge']).stdout));
  chownSync(munge, uid ?? 0, gid ?? 0);
  const conf = join(directory, 'slurm.conf');
  writeFileSync(conf, `${configuration(directory, nodes)}${more.map((line) => `${line}\n`).join('')}`);
  const environment = { SLURM_CONF: conf, PATH: `${process.env.PATH}:/usr/sbin:/sbin` };
  const run = (program: string, ...words: readonly string[]) => execa(program, words, { env: environment });
  const ids = ['--reuid', 'munge', '--regid', 'munge', '--clear-groups'];
  const place = [`--socket=${munge}/socket`, `--pid-file=${munge}/pid`, `--log-file=${munge}/log`];
  await run('setpriv', ...ids, 'munged', '--force', ...place, `--seed-file=${munge}/seed`);
  await run('slurmctld');
  for (const node of nodes) await run('slurmd', '-N', node);
  await eventually(async () => {
    const { stdout } = await run('sinfo', '-h', '-o', '%t');
    if (stdout.trim() !== 'idle') throw new Error(`the nodes are ${stdout}`);
  });
  return {
    nodes,
    async allocate() {
      const { stderr } = await run('salloc', '-N', `${count}`, '--no-shell');
      const job = /allocation (\d+)/.exec(stderr)?.[1];
      if (job === undefined) throw new Error(`no allocation: ${stderr}`);
      const list = { SLURM_JOB_ID: job, SLURM_JOB_NODELIST: `n[1-${count}]` };
      return {
        job,
        environment: { ...environment, ...list },
        scancel: (...words) => run('scancel', ...words),
        endSoon: () => run('scontrol', 'update', `JobId=${job}`, 'EndTime=now+2'),
      };
    },
    loseNode(node) {
      const daemon = Number(readFileSync(join(directory, `${node}.pid`), 'utf8'));
      for (const pid of [daemon, ...stepDaemonsOf(node, conf)]) signalProcess(pid, 'SIGKILL');
    },
    async close() {
      await run('scancel', '--user=root').catch(() => {});
      const files = [...nodes.map((node) => `${node}.pid`), 'ctld.pid', 'munge/pid'].map((name) =>
        join(directory, name),
      );
      const pids = files.filter((file) => existsSync(file)).map((file) => Number(readFileSync(file, 'utf8')));
      for (const pid of pids) signalProcess(pid, 'SIGTERM');
      await eventually(() => {
        if (pids.some((pid) => existsSync(`/proc/${pid}`))) throw new Error('a daemon of Slurm still runs');
      });
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Finds step daemons as the parents of tasks: they are not children of slurmd. */
function stepDaemonsOf(node: string, conf: string): readonly number[] {
  const tasks = readdirSync('/proc').filter((name) => {
    const words = /^\d+$/.test(name) ? readIfThere(`/proc/${name}/environ`).split('\0') : [];
    return words.includes(`SLURMD_NODENAME=${node}`) && words.includes(`SLURM_CONF=${conf}`);
  });
  const parents = tasks.map((task) => Number(/^PPid:\t(\d+)$/m.exec(readIfThere(`/proc/${task}/status`))?.[1]));
  return [...new Set(parents)].filter((pid) => readIfThere(`/proc/${pid}/comm`).startsWith('slurmstepd'));
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

function configuration(directory: string, nodes: readonly string[]): string {
  const host = hostname().split('.')[0];
  // Ports of this process only: four for each process that may run these tests.
  const port = 20_000 + (process.pid % 2000) * 4;
  return `ClusterName=c${port}
SlurmctldHost=${host}(127.0.0.1)
SlurmctldPort=${port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=${directory}/munge/socket
CredType=cred/munge
StateSaveLocation=${directory}/state
SlurmdSpoolDir=${directory}/%n
SlurmctldPidFile=${directory}/ctld.pid
SlurmdPidFile=${directory}/%n.pid
SlurmctldLogFile=${directory}/ctld.log
SlurmdLogFile=${directory}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
KillWait=2
MpiDefault=none
SwitchType=switch/none
${nodes.map((node, index) => `NodeName=${node} NodeHostname=${host} NodeAddr=127.0.0.1 Port=${port + 1 + index} CPUs=${cpus().length} State=UNKNOWN\n`).join('')}PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
`;
}
