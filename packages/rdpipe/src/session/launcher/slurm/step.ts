/** One Slurm step for all nodes of a run: an srun whose tasks run the channels. */
import { SessionError } from '../../../model/errors.ts';
import type { HostRef } from '../../../model/pipeline.ts';
import { settlesWithin, unlessAborted } from '../../abort.ts';
import { type ChildChannel, startChild } from '../../child-channel.ts';
import type { HostSession } from '../../host-session.ts';
import type { SessionSettings } from '../../settings.ts';
import { refuseUser } from '../words.ts';
import { checkAllocation } from './allocation.ts';
import { createNodeChannels, type NodeChannels } from './node-channels.ts';
import { watchLog } from './step-log.ts';
import { TASK_SCRIPT } from './task-script.ts';

export interface SlurmStep {
  /** @throws SessionError with Slurm's reason and the next step. */
  connect(host: HostRef): Promise<HostSession>;
  /** Closes the step's input, which ends everything that the step runs. Takes a bounded time. Idempotent. */
  close(): Promise<void>;
}

type StepSettings = Pick<SessionSettings, 'connectTimeoutMs' | 'dieAfterParent' | 'signal'>;

/** Starts the step when the first host is connected. */
export function createSlurmStep(hosts: readonly HostRef[], settings: StepSettings): SlurmStep {
  let starting: Promise<RunningStep> | undefined;
  return {
    async connect(host) {
      starting ??= startStep(hosts, settings);
      return (await starting).connect(host);
    },
    async close() {
      await starting?.then((step) => step.close()).catch(() => {});
    },
  };
}

interface RunningStep extends SlurmStep {}

/** Longest wait for the programs of the step, which end with its input. An agent needs 8 s at most. */
const END_LIMIT_MS = 10_000;
const KILL_LIMIT_MS = 2000;

async function startStep(hosts: readonly HostRef[], settings: StepSettings): Promise<RunningStep> {
  for (const host of hosts) refuseUser({ kind: 'slurm' }, host);
  await checkAllocation(hosts, settings.signal);
  const names = [...new Set(hosts.map(({ name }) => name))];
  const began = performance.now();
  const srun = startChild([...settings.dieAfterParent(END_LIMIT_MS), ...srunWords(names)], OWN_OPTIONS_ONLY);
  const log = watchLog(srun, (node, reason) => nodes.get(node)?.lose(reason));
  const nodes = new Map(names.map((name) => [name, createNodeChannels(name, srun)] as const));
  readOutput(srun, nodes, log.setStep);
  void log.ended.then((reason) => {
    for (const node of nodes.values()) node.lose(reason);
  });
  const close = () => closeStep(srun);
  return {
    close,
    async connect(host) {
      const node = nodes.get(host.name);
      if (node === undefined) throw new Error(`${host.label} is not in the step`);
      await untilReady(node, host, settings).catch(async (error: unknown) => {
        await stopStep(srun);
        throw error;
      });
      return sessionOf(host, node, performance.now() - began);
    },
  };
}

/**
 * `--overlap` and `--mem=0`: the step shares the resources of the job's other steps and does not wait for them.
 * `--cpu-bind=none`: programs may use every CPU of the job on the node, not one per task. `--kill-on-bad-exit=0` and
 * `--wait=0`: the run ends through the session of a lost node, so the other nodes have time to end as usual.
 */
function srunWords(names: readonly string[]): readonly string[] {
  const count = names.length;
  const words =
    `srun --overlap --mem=0 --cpu-bind=none --mpi=none --nodes=${count} --ntasks=${count} --ntasks-per-node=1 ` +
    '--input=all --output=all --kill-on-bad-exit=0 --wait=0 --job-name=rdpipe';
  return [...words.split(' '), `--nodelist=${names.join(',')}`, 'sh', '-c', TASK_SCRIPT];
}

/**
 * Options of srun that its environment would add: they label, split or redirect the lines of the tasks and of srun, run
 * programs that share srun's input, take the environment away, or exclude the options above.
 */
const OWN_OPTIONS_ONLY: Readonly<Record<string, undefined>> = Object.fromEntries(
  [
    ...['SLURM_LABELIO', 'SLURM_UNBUFFEREDIO', 'SLURM_STDINMODE', 'SLURM_STDOUTMODE', 'SLURM_STDERRMODE'],
    ...['SLURM_DEBUG', 'SRUN_DEBUG', 'SLURM_PROLOG', 'SLURM_EPILOG', 'SLURM_SRUN_MULTI', 'SLURM_BCAST'],
    ...['SLURM_EXPORT_ENV', 'SRUN_EXPORT_ENV', 'SLURM_EXCLUSIVE', 'SLURM_NO_KILL', 'SLURM_NTASKS_PER_GPU'],
  ].map((name) => [name, undefined]),
);

async function untilReady(
  node: NodeChannels,
  host: HostRef,
  { connectTimeoutMs, signal }: StepSettings,
): Promise<void> {
  const late = AbortSignal.timeout(connectTimeoutMs);
  try {
    await unlessAborted(node.ready, AbortSignal.any([signal, late]));
  } catch (error) {
    signal.throwIfAborted();
    const limit = `Slurm did not start a step there within ${connectTimeoutMs / 1000} s (list the steps: squeue -s)`;
    const reason = late.aborted ? limit : (error as Error).message;
    throw new SessionError('unreachable', host.label, `cannot reach ${host.label}: ${reason}`);
  }
}

function sessionOf(host: HostRef, node: NodeChannels, tookMs: number): HostSession {
  let closing = false;
  return {
    kind: 'launcher',
    launcher: 'slurm',
    label: host.label,
    took: { connectMs: tookMs, loginMs: 0 },
    checkCommand: `srun --overlap -w ${host.name} -N1 -n1 true`,
    ended: node.ended,
    openShell: (signal) => node.open(signal),
    failure() {
      const reason = closing ? undefined : node.lost();
      if (reason === undefined) return undefined;
      return new SessionError('session_lost', host.label, `lost ${host.label}: its Slurm step ended: ${reason}`);
    },
    async close() {
      closing = true;
      node.close();
    },
  };
}

/** Reads the lines of all tasks; no line is split. */
function readOutput(
  srun: ChildChannel,
  nodes: ReadonlyMap<string, NodeChannels>,
  setStep: (step: string) => void,
): void {
  let rest = '';
  srun.stdout.on('data', (data: Buffer) => {
    const lines = `${rest}${data.toString('latin1')}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const [name = '', slot = '', verb = '', text = ''] = line.split(' ');
      if (verb === 'ready' && isOwnStep(text)) setStep(text);
      nodes.get(name)?.receive(Number(slot), verb, text);
    }
  });
}

/** Checks the step's name, which a node prints and which becomes an argument of scancel. */
function isOwnStep(step: string, { SLURM_JOB_ID: job = '' }: NodeJS.ProcessEnv = process.env): boolean {
  return step.startsWith(`${job}.`) && /^\d+\.\d+$/.test(step);
}

async function closeStep(srun: ChildChannel): Promise<void> {
  srun.stdin.end();
  if (!(await settlesWithin(srun.closed, END_LIMIT_MS))) await stopStep(srun);
}

/** srun passes SIGTERM to its tasks; if srun is killed, its tasks remain. */
async function stopStep(srun: ChildChannel): Promise<void> {
  srun.stdin.end();
  srun.terminate();
  if (!(await settlesWithin(srun.closed, KILL_LIMIT_MS))) srun.kill();
}
