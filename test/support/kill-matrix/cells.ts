// SPDX-License-Identifier: Apache-2.0
// The kill matrix as pure data: every process of every pipeline, every phase of a run, TERM and KILL.
import { commandsOf, type Host, hostsOf, LOCAL_SHAPES, linksOf, SHAPES, type Shape, slowStageOf } from './shapes.ts';

/**
 * login: a host does not answer yet. joining: the programs have started, but not all are connected. before: everything
 * runs, nothing was sent. idle: data arrived at the far end, and the source is silent. flowing: data flows endlessly.
 * blocked: the last command does not read, and the source has more data. draining: the source has ended, the last
 * command does not read. after: the last command saw the end and continues. late: the file has its final name, and the
 * run is about to end.
 */
export const PHASES = [
  'login',
  'joining',
  'before',
  'idle',
  'flowing',
  'blocked',
  'draining',
  'after',
  'late',
] as const;
export type Phase = (typeof PHASES)[number];

export type Session = 'openssh' | 'ssh2' | 'local';
export type Signal = 'SIGTERM' | 'SIGKILL';

/** master: the ssh of a connection; die-with-parent: ends it with rdpipe. */
export type HostRole = 'master' | 'die-with-parent' | 'sshd' | 'guardian' | 'supervisor' | 'rdsend' | 'rdrecv';
/** command: the stage's shell; child: its program; grandchild: in its own session, the shell does not wait for it. */
export type StageRole = 'command' | 'child' | 'grandchild';

/** keeper: the process that removes rdpipe's private directory. */
export type Target =
  | { readonly role: 'rdpipe' | 'keeper' }
  | { readonly role: HostRole; readonly host: Host }
  | { readonly role: StageRole; readonly stage: number };

export interface Cell {
  readonly shape: Shape;
  readonly session: Session;
  readonly phase: Phase;
  readonly target: Target;
  readonly signal: Signal;
}

/** All possible cells. */
export function allCells(): Cell[] {
  const rows: (readonly [Session, readonly Shape[]])[] = [
    ['openssh', SHAPES],
    ['ssh2', SHAPES],
    ['local', LOCAL_SHAPES],
  ];
  return rows.flatMap(([session, shapes]) => shapes.flatMap((shape) => cellsOf(session, shape)));
}

export function titleOf({ shape, session, phase, target, signal }: Cell): string {
  return `${session}: ${shape.name}: ${phase}: ${signal} to ${nameOf(target)}`;
}

/** Returns true if no process depends on the target: the run continues and succeeds. */
export function isHidden({ target }: Cell): boolean {
  return target.role === 'grandchild' || target.role === 'keeper';
}

function cellsOf(session: Session, shape: Shape): Cell[] {
  return PHASES.filter((phase) => isPossible(phase, session, shape)).flatMap((phase) =>
    targetsIn(phase, session, shape).flatMap((target) =>
      (['SIGTERM', 'SIGKILL'] as const).map((signal) => ({ shape, session, phase, target, signal })),
    ),
  );
}

function isPossible(phase: Phase, session: Session, shape: Shape): boolean {
  switch (phase) {
    case 'login':
      return session !== 'local';
    case 'joining':
      return linksOf(shape).length > 0;
    case 'before':
      return commandsOf(shape).length > 0;
    case 'idle':
      return true;
    case 'flowing':
      return !shape.stdin && shape.stages[0]?.kind === 'command';
    case 'late':
      return shape.stages.at(-1)?.kind === 'sink';
    default:
      return slowStageOf(shape) !== undefined;
  }
}

function targetsIn(phase: Phase, session: Session, shape: Shape): Target[] {
  const rdpipe: Target = { role: 'rdpipe' };
  if (phase === 'login') return [rdpipe, ...loginTargets(session, shape)];
  if (phase === 'late') return [rdpipe, ...sessionTargets(session, shape), ...programTargets(phase, shape)];
  const keeper: readonly Target[] = phase === 'joining' ? [] : [{ role: 'keeper' }];
  return [
    rdpipe,
    ...keeper,
    ...sessionTargets(session, shape),
    ...programTargets(phase, shape),
    ...stageTargets(phase, shape),
  ];
}

/** The first host has logged in, the last one is silent. */
function loginTargets(session: Session, shape: Shape): Target[] {
  const remote = hostsOf(shape).filter((host) => host !== '');
  if (session === 'ssh2') return remote.length < 2 ? [] : onHosts(['sshd'], remote.slice(0, 1));
  return [
    ...onHosts(['master', 'die-with-parent'], remote),
    ...(remote.length < 2 ? [] : onHosts(['sshd'], remote.slice(0, 1))),
  ];
}

function sessionTargets(session: Session, shape: Shape): Target[] {
  const hosts = hostsOf(shape);
  const remote = hosts.filter((host) => host !== '');
  const ofSsh: readonly HostRole[] = session === 'openssh' ? ['master', 'die-with-parent', 'sshd'] : ['sshd'];
  return [...onHosts(ofSsh, remote), ...onHosts(['guardian', 'supervisor'], hosts)];
}

function programTargets(phase: Phase, shape: Shape): Target[] {
  const slow = slowStageOf(shape) ?? 0;
  const firstAlive = phase === 'draining' ? slow - 1 : phase === 'after' ? slow : 0;
  const links = linksOf(shape).filter(({ number }) => number >= firstAlive);
  const senders = new Set(links.map(({ from }) => from));
  const receivers = new Set(links.map(({ to }) => to));
  return [...onHosts(['rdsend'], [...senders]), ...onHosts(['rdrecv'], [...receivers])];
}

function stageTargets(phase: Phase, shape: Shape): Target[] {
  if (phase === 'joining') return [];
  const slow = slowStageOf(shape);
  const isLate = phase === 'draining' || phase === 'after';
  const alive = commandsOf(shape).filter((stage) => !isLate || stage === slow);
  const readers = alive.filter((stage) => stage > 1 || shape.stdin);
  // The shell of the slow stage does not wait only for its child.
  const waitingFor = readers.filter((stage) => stage !== slow || !(isLate || phase === 'blocked'));
  return [...onStages('command', alive), ...onStages('child', waitingFor), ...onStages('grandchild', alive)];
}

function onHosts(roles: readonly HostRole[], hosts: readonly Host[]): Target[] {
  return hosts.flatMap((host) => roles.map((role) => ({ role, host })));
}

function onStages(role: StageRole, stages: readonly number[]): Target[] {
  return stages.map((stage) => ({ role, stage }));
}

function nameOf(target: Target): string {
  if ('host' in target) return `${target.role} of ${target.host === '' ? 'this machine' : target.host}`;
  return 'stage' in target ? `${target.role} of stage ${target.stage}` : target.role;
}
