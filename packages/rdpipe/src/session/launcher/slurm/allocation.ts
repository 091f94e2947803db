/** The Slurm allocation in which rdpipe runs: checks that the hosts are its nodes. */
import { SessionError } from '../../../model/errors.ts';
import type { HostRef } from '../../../model/pipeline.ts';
import { unlessAborted } from '../../abort.ts';
import { startChild } from '../../child-channel.ts';
import { findProgram } from '../../find-program.ts';
import { keepTail } from '../../text-tail.ts';
import { lastReason } from '../reason.ts';

/**
 * Checks that this machine can start a step of the job on every host.
 * @throws SessionError for the first host on which none can run.
 */
export async function checkAllocation(
  hosts: readonly HostRef[],
  signal: AbortSignal,
  environment: Readonly<NodeJS.ProcessEnv> = process.env,
): Promise<void> {
  const { SLURM_JOB_ID: job, SLURM_JOB_NODELIST: list } = environment;
  for (const host of hosts) {
    if (job === undefined)
      throw refusal(host, 'there is no Slurm allocation here (first run salloc -N 2, or use sbatch)');
    if (host.name === 'all') throw refusal(host, 'all is not a node (write a list of nodes: n[1-3])');
  }
  const [first] = hosts;
  if (first !== undefined && findProgram('srun') === undefined)
    throw refusal(first, 'srun: command not found (is this a node of the cluster?)');
  if (list === undefined || job === undefined) return;
  const nodes = await expand(list, signal);
  const foreign = hosts.find(({ name }) => !nodes.has(name));
  if (foreign !== undefined) throw refusal(foreign, `it is not a node of Slurm job ${job} (its nodes: ${list})`);
}

async function expand(list: string, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const scontrol = startChild(['scontrol', 'show', 'hostnames', list]);
  scontrol.stdin.end();
  const names = keepTail(scontrol.stdout, 16 * 1024 * 1024);
  const reason = keepTail(scontrol.stderr);
  const ended = Promise.all([scontrol.closed, new Promise((resolve) => scontrol.stdout.once('close', resolve))]);
  const [{ code }] = await unlessAborted(ended, signal);
  if (code === 0) return new Set(names().trim().split('\n'));
  const why =
    scontrol.startError() === undefined
      ? (lastReason(reason()) ?? `scontrol exited with status ${code}`)
      : 'scontrol: command not found (is this a node of the cluster?)';
  throw new SessionError('unreachable', list, `cannot read Slurm's list of nodes: ${why}`);
}

function refusal({ label }: HostRef, reason: string): SessionError {
  return new SessionError('unreachable', label, `cannot reach ${label}: ${reason}`);
}
