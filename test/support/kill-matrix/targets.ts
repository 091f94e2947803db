// SPDX-License-Identifier: Apache-2.0
// Finds the process that a cell kills.
import type { Lab } from '../lab.ts';
import { childrenOf, type MarkedProcess } from '../processes.ts';
import type { HostRole, Target } from './cells.ts';
import type { Host } from './shapes.ts';

/** The target's pid; throws while the target does not exist. */
export function findTarget(lab: Lab, rdpipe: number, target: Target): number {
  const pid = lookForTarget(lab, rdpipe, target);
  if (pid === undefined) throw new Error(`the process to kill is not there: ${JSON.stringify(target)}`);
  return pid;
}

export function lookForTarget(lab: Lab, rdpipe: number, target: Target): number | undefined {
  return target.role === 'rdpipe' ? rdpipe : candidates(lab, target)[0];
}

/** The shell that leads a stage, while it runs. */
export function stageShell(processes: readonly MarkedProcess[], stage: number): MarkedProcess | undefined {
  const shells = processes.filter(
    ({ command }) => command.includes(`: stage ${stage};`) && command.startsWith('sh -c'),
  );
  const pids = new Set(shells.map(({ pid }) => pid));
  return shells.find(({ parent }) => !pids.has(parent));
}

function candidates(lab: Lab, target: Exclude<Target, { role: 'rdpipe' }>): number[] {
  if (target.role === 'sshd') return childrenOf(lab.host(target.host).pid);
  const processes = lab.processes();
  if ('host' in target) return pidsOf(ofHost(lab, processes, target.role, target.host));
  if ('stage' in target) return pidsOf(ofStage(processes, target));
  return pidsOf(processes.filter(({ command }) => command.startsWith('sh -c read -r nothing')));
}

function pidsOf(processes: readonly MarkedProcess[]): number[] {
  return processes.map(({ pid }) => pid);
}

function ofHost(lab: Lab, processes: readonly MarkedProcess[], role: HostRole, host: Host): MarkedProcess[] {
  const home = host === '' ? lab.homes : lab.host(host).home;
  switch (role) {
    case 'die-with-parent':
      return processes.filter(({ command }) => command.includes(' --die-with-parent ') && leadsTo(command, host));
    case 'master':
      return processes.filter(({ command }) => /^\S*ssh -M /.test(command) && leadsTo(command, host));
    case 'sshd':
      return [];
    default:
      return ofAgent(
        processes.filter((process) => process.home === home),
        role,
      );
  }
}

/** The two processes of a host's agent, and the programs of its hops. */
export type AgentRole = 'guardian' | 'supervisor' | 'rdsend' | 'rdrecv';

export function ofAgent<Process extends Pick<MarkedProcess, 'pid' | 'parent' | 'program' | 'command'>>(
  here: readonly Process[],
  role: AgentRole,
): Process[] {
  const agents = here.filter(({ program, command }) => program === 'rdstage' && command.includes(' --agent '));
  const guardians = agents.filter(({ parent }) => !agents.some(({ pid }) => pid === parent));
  if (role === 'guardian') return guardians;
  if (role === 'supervisor') return agents.filter((process) => !guardians.includes(process));
  return here.filter(({ program, command }) => program === role && command.includes(' --agent-fd '));
}

function leadsTo(command: string, host: Host): boolean {
  return command.endsWith(` ${host}`);
}

function ofStage(
  processes: readonly MarkedProcess[],
  { role, stage }: Extract<Target, { stage: number }>,
): MarkedProcess[] {
  const grandchildren = processes.filter(({ command }) => command === `sleep 90${stage}`);
  if (role === 'grandchild') return grandchildren;
  const shell = stageShell(processes, stage);
  if (shell === undefined) return [];
  if (role === 'command') return [shell];
  return processes.filter(({ parent, program }) => parent === shell.pid && program === 'tee');
}
