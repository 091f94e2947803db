/** The check of the protections with which the programs give up rights. Pure. */
import type { Finding } from '../model/examination.ts';
import { sandboxLacks } from '../plan/sandbox-lacks.ts';
import { type HostFacts, known } from './facts.ts';
import { ok, warn } from './finding.ts';

/** Runs work without them: only a program that was taken over could do more. */
export function checkSandbox({ hello }: HostFacts): readonly Finding[] {
  const facts = known(hello);
  if (facts === undefined) return [];
  const lacks = sandboxLacks(facts);
  if (lacks.length === 0) return [ok('sandbox', `seccomp, and version ${facts.landlock} of Landlock`)];
  return [warn('sandbox', lacks.join('; '), facts.landlock === 0 ? TURN_ON : LATER_KERNEL)];
}

const LATER_KERNEL = 'a later kernel has them (docs/threat-model.md)';
const TURN_ON = 'add landlock to the list lsm= of the kernel command line, or use a kernel that has it';
