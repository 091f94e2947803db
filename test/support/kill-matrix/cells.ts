// SPDX-License-Identifier: Apache-2.0
// The kill matrix as pure data: every process of every pipeline, in every phase of a run, by TERM and by KILL.
import { commandsOf, type Host, hostsOf, LOCAL_SHAPES, linksOf, SHAPES, type Shape, slowStageOf } from './shapes.ts';

/**
 * login: a host does not answer yet. joining: the programs are there, not all are joined. before: everything runs, nothing was
 * sent. idle: something arrived at the far end, and the source is silent. flowing: it never stops. blocked: the last command does
 * not read, and the source has more. draining: the source has ended, the last command does not read. after: it saw the end and
 * goes on. late: the file has its name, and the run is about to end.
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

/** master: the ssh that holds a connection; leash: what ends it with rdpipe; channel: the ssh of an agent's channel. */
export type HostRole = 'master' | 'leash' | 'channel' | 'sshd' | 'guardian' | 'supervisor' | 'rdsend' | 'rdrecv';
/** command: the stage's shell; child: what it runs; grandchild: in a session of its own, and its shell does not miss it. */
export type StageRole = 'command' | 'child' | 'grandchild';

/** keeper: what removes rdpipe's private directory. */
export type Victim =
  | { readonly role: 'rdpipe' | 'keeper' }
  | { readonly role: HostRole; readonly host: Host }
  | { readonly role: StageRole; readonly stage: number };

export interface Cell {
  readonly shape: Shape;
  readonly session: Session;
  readonly phase: Phase;
  readonly victim: Victim;
  readonly signal: Signal;
}

/** Every cell that there can be. */
export function allCells(): Cell[] {
  const rows: (readonly [Session, readonly Shape[]])[] = [
    ['openssh', SHAPES],
    ['ssh2', SHAPES],
    ['local', LOCAL_SHAPES],
  ];
  return rows.flatMap(([session, shapes]) => shapes.flatMap((shape) => cellsOf(session, shape)));
}

export function titleOf({ shape, session, phase, victim, signal }: Cell): string {
  return `${session}: ${shape.name}: ${phase}: ${signal} to ${nameOf(victim)}`;
}

/** Nobody misses it: the run goes on and succeeds. */
export function isHidden({ victim }: Cell): boolean {
  return victim.role === 'grandchild' || victim.role === 'keeper';
}

function cellsOf(session: Session, shape: Shape): Cell[] {
  return PHASES.filter((phase) => isPossible(phase, session, shape)).flatMap((phase) =>
    victimsIn(phase, session, shape).flatMap((victim) =>
      (['SIGTERM', 'SIGKILL'] as const).map((signal) => ({ shape, session, phase, victim, signal })),
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

function victimsIn(phase: Phase, session: Session, shape: Shape): Victim[] {
  const rdpipe: Victim = { role: 'rdpipe' };
  if (phase === 'login') return [rdpipe, ...loginVictims(session, shape)];
  if (phase === 'late') return [rdpipe, ...sessionVictims(session, shape), ...programVictims(phase, shape)];
  const keeper: readonly Victim[] = phase === 'joining' ? [] : [{ role: 'keeper' }];
  return [
    rdpipe,
    ...keeper,
    ...sessionVictims(session, shape),
    ...programVictims(phase, shape),
    ...stageVictims(phase, shape),
  ];
}

/** The first host is logged in, the last one is silent. */
function loginVictims(session: Session, shape: Shape): Victim[] {
  const remote = hostsOf(shape).filter((host) => host !== '');
  if (session === 'ssh2') return remote.length < 2 ? [] : onHosts(['sshd'], remote.slice(0, 1));
  return [...onHosts(['master', 'leash'], remote), ...(remote.length < 2 ? [] : onHosts(['sshd'], remote.slice(0, 1)))];
}

function sessionVictims(session: Session, shape: Shape): Victim[] {
  const hosts = hostsOf(shape);
  const remote = hosts.filter((host) => host !== '');
  const ofSsh: readonly HostRole[] = session === 'openssh' ? ['master', 'leash', 'channel', 'sshd'] : ['sshd'];
  return [...onHosts(ofSsh, remote), ...onHosts(['guardian', 'supervisor'], hosts)];
}

function programVictims(phase: Phase, shape: Shape): Victim[] {
  const slow = slowStageOf(shape) ?? 0;
  const firstAlive = phase === 'draining' ? slow - 1 : phase === 'after' ? slow : 0;
  const links = linksOf(shape).filter(({ number }) => number >= firstAlive);
  const senders = new Set(links.map(({ from }) => from));
  const receivers = new Set(links.map(({ to }) => to));
  return [...onHosts(['rdsend'], [...senders]), ...onHosts(['rdrecv'], [...receivers])];
}

function stageVictims(phase: Phase, shape: Shape): Victim[] {
  if (phase === 'joining') return [];
  const slow = slowStageOf(shape);
  const isLate = phase === 'draining' || phase === 'after';
  const alive = commandsOf(shape).filter((stage) => !isLate || stage === slow);
  const readers = alive.filter((stage) => stage > 1 || shape.stdin);
  // The shell of the slow one waits for more than the child.
  const waitingFor = readers.filter((stage) => stage !== slow || !(isLate || phase === 'blocked'));
  return [...onStages('command', alive), ...onStages('child', waitingFor), ...onStages('grandchild', alive)];
}

function onHosts(roles: readonly HostRole[], hosts: readonly Host[]): Victim[] {
  return hosts.flatMap((host) => roles.map((role) => ({ role, host })));
}

function onStages(role: StageRole, stages: readonly number[]): Victim[] {
  return stages.map((stage) => ({ role, stage }));
}

function nameOf(victim: Victim): string {
  if ('host' in victim) return `${victim.role} of ${victim.host === '' ? 'this machine' : victim.host}`;
  return 'stage' in victim ? `${victim.role} of stage ${victim.stage}` : victim.role;
}
