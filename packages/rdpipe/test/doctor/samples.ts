import type { HostFacts, Requirements, SystemFacts } from '../../src/doctor/facts.ts';
import type { Finding, Verdict } from '../../src/model/examination.ts';
import type { AgentHello } from '../../src/model/protocol.ts';
import { hello, nic } from '../plan/helpers.ts';

export const AUTO: Requirements = { transport: 'auto', bufferBytes: 8 * 1024 ** 2 };
export const RDMA: Requirements = { ...AUTO, transport: 'rdma' };
export const TCP: Requirements = { ...AUTO, transport: 'tcp' };

export const SYSTEM: SystemFacts = {
  agentDirectory: `/home/ann/.cache/rdpipe/${'0123'.repeat(16)}`,
  programs: 'dynamic',
  openssl: '3.5.9',
  wideAes: true,
  pipeMostBytes: 1024 ** 2,
  pipeUserPages: 16384,
  sendBufferBytes: 4 * 1024 ** 2,
  interfaces: new Map([['all', { arpIgnore: 0, arpAnnounce: 0, rpFilter: 0 }]]),
  cache: { directory: '/home/ann/.cache', mountPoint: '/home', freeKib: 1024 ** 2, noexec: false },
  sudo: null,
};

/** h1, reached over ssh, with one network interface and without problems. */
export function hostFacts(
  changes: Partial<Omit<HostFacts, 'hello' | 'system'>> = {},
  said: Partial<AgentHello> | null = {},
  system: Partial<SystemFacts> | null = {},
): HostFacts {
  return {
    host: { name: 'h1', user: undefined, label: 'h1' },
    label: 'h1',
    ssh: { client: 'openssh', took: { connectMs: 60, loginMs: 250 } },
    session: '1',
    agentStartMs: 120,
    hello: said === null ? undefined : { ...hello('boot-1', null), addresses: [nic('eth0', '10.0.0.1/24')], ...said },
    system: system === null ? undefined : { ...SYSTEM, ...system },
    ...changes,
  };
}

/** The result of each check: `warn memlock`. */
export function verdicts(findings: readonly Finding[]): readonly string[] {
  return findings.map(({ check, result }) => `${result} ${check}`);
}

/** Expects a verdict, a text and a fix; without `fix`, expects none. */
export function expectFinding(finding: Finding | undefined, verdict: Verdict, found: RegExp, fix?: RegExp): void {
  const right = finding?.result === verdict && found.test(finding.found) && (fix ?? /^null$/).test(String(finding.fix));
  if (!right) throw new Error(`not ${verdict} ${found} ${fix}: ${JSON.stringify(finding)}`);
}
