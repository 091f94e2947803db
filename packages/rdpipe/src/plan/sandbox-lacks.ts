/** The protections of docs/adr/0012-a-sandbox.md that a kernel lacks. Pure. */
import type { AgentHello } from '../model/protocol.ts';

/** The first version of Landlock with each protection, and what a program that was taken over can do without it. */
const LANDLOCK = [
  { since: 1, allows: 'use any file of its user' },
  { since: 4, allows: 'connect to any TCP port' },
  { since: 6, allows: 'connect to abstract sockets' },
] as const;

/** Each missing protection with its consequence; empty: none. */
export function sandboxLacks({ seccomp, landlock }: Pick<AgentHello, 'seccomp' | 'landlock'>): readonly string[] {
  const allowed = LANDLOCK.filter(({ since }) => landlock < since).map(({ allows }) => allows);
  const name = landlock === 0 ? 'no Landlock' : `only version ${landlock} of Landlock`;
  return [
    ...(seccomp ? [] : ['no seccomp: a program that was taken over can make any system call']),
    ...(allowed.length === 0 ? [] : [`${name}: a program that was taken over can ${allowed.join(', ')}`]),
  ];
}
