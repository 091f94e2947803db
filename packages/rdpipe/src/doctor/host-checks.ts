/** All checks of one host, in the order in which they are shown. */
import type { Finding, HostExamination } from '../model/examination.ts';
import type { HostFacts, Requirements } from './facts.ts';
import { checkPipes, checkSharedSubnets } from './kernel-checks.ts';
import { checkRdma } from './rdma-checks.ts';
import { checkAgent, checkDisk, checkSsh, checkSudo, checkSystem } from './session-checks.ts';

/** A check finds nothing about facts that were not requested, or are unknown because an earlier one failed. */
type HostCheck = (facts: HostFacts, wanted: Requirements) => readonly Finding[];

const CHECKS: readonly HostCheck[] = [
  checkSsh,
  checkSudo,
  checkAgent,
  checkSystem,
  checkDisk,
  checkPipes,
  checkSharedSubnets,
  checkRdma,
];

export function examineHost(facts: HostFacts, wanted: Requirements): HostExamination {
  return { host: facts.label, checks: CHECKS.flatMap((check) => check(facts, wanted)) };
}
