/** All checks of one host, in the order of the output. */
import type { Finding, HostExamination } from '../model/examination.ts';
import type { HostFacts, Requirements } from './facts.ts';
import { checkPipes, checkSharedSubnets } from './kernel-checks.ts';
import { checkRdma } from './rdma-checks.ts';
import { checkSandbox } from './sandbox-check.ts';
import { checkAgent, checkDisk, checkEncryption, checkSsh, checkSudo, checkSystem } from './session-checks.ts';

/** A check has no findings if its facts were not requested, or are unknown because an earlier check failed. */
type HostCheck = (facts: HostFacts, wanted: Requirements) => readonly Finding[];

const CHECKS: readonly HostCheck[] = [
  checkSsh,
  checkSudo,
  checkAgent,
  checkEncryption,
  checkSandbox,
  checkSystem,
  checkDisk,
  checkPipes,
  checkSharedSubnets,
  checkRdma,
];

/** The findings of all checks of a host. */
export function examineHost(facts: HostFacts, wanted: Requirements): HostExamination {
  return { host: facts.label, checks: CHECKS.flatMap((check) => check(facts, wanted)) };
}
