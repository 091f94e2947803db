import { expect } from 'chai';
import type { Requirements } from '../../src/doctor/facts.ts';
import { checkPair, transportsBetween } from '../../src/doctor/pair-checks.ts';
import type { AgentHello } from '../../src/model/protocol.ts';
import { type HopEndAddresses, placeOf } from '../../src/plan/addresses.ts';
import type { SessionFacts } from '../../src/plan/facts.ts';
import { inputFor, nic, rdmaPort, SESSIONS, withHello } from '../plan/helpers.ts';
import { AUTO, expectFinding, RDMA, TCP, verdicts } from './samples.ts';

describe('checks of two neighbours', () => {
  it('name the common subnet and its MTU', () => {
    const [network, mtu, rdma] = checkPair(...places({}, {}), AUTO);
    expectFinding(network, 'ok', /^common subnet: 10\.0\.0\.1 \(eth0\) and 10\.0\.0\.2 \(eth0\)$/);
    expectFinding(mtu, 'ok', /^1500 on eth0 of h1 and eth0 of h2$/);
    expectFinding(rdma, 'ok', /^no RDMA device on h1 or h2; using TCP$/);
  });

  it('report which end has the smaller MTU', () => {
    const small = checkPair(...places({}, { addresses: [nic('eth0', '10.0.0.2/24', { mtu: 1400 })] }), TCP);
    expectFinding(small[1], 'warn', /^1500 on eth0 of h1, 1400 on eth0 of h2$/, /ip link set dev eth0 mtu 1500 on h2 /);
    const smaller = checkPair(...places({ addresses: [nic('eth0', '10.0.0.1/24', { mtu: 576 })] }, {}), TCP);
    expectFinding(smaller[1], 'warn', /576 on eth0 of h1/, /ip link set dev eth0 mtu 1500 on h1 /);
  });

  it('report a different MTU as a failure if RDMA uses it', () => {
    const jumbo = { addresses: [nic('eth0', '10.0.0.2/24', { mtu: 9000 })], rdma: [rdmaPort('mlx5_0', 'eth0')] };
    const findings = checkPair(...places({ rdma: [rdmaPort('mlx5_0', 'eth0', { mtu: 1024 })] }, jumbo), AUTO);
    expect(verdicts(findings)).to.deep.equal(['ok network', 'fail mtu', 'fail path mtu']);
    expectFinding(findings[2], 'fail', /^1024 at mlx5_0 of h1, 4096 at mlx5_0 of h2$/, /MTU/);
  });

  it('recognize a routed network', () => {
    const findings = checkPair(...places({}, { addresses: [nic('eth0', '10.7.0.2/24')] }), TCP);
    expect(findings).to.have.length(1);
    expectFinding(findings[0], 'ok', /no common subnet/);
  });

  it('recognize one machine', () => {
    const input = inputFor([':a', 'self:b']);
    const same = [
      placeOf(SESSIONS.local, SESSIONS.self, input),
      placeOf(SESSIONS.self, SESSIONS.local, input),
    ] as const;
    expect(verdicts(checkPair(...same, AUTO))).to.deep.equal(['ok network']);
    expect(verdicts(checkPair(...same, RDMA))).to.deep.equal(['ok network', 'fail rdma']);
  });

  it('report which end lacks a requirement of RDMA', () => {
    const one = places({ rdma: [rdmaPort('mlx5_0', 'eth0')] }, {});
    expectFinding(checkPair(...one, RDMA)[2], 'fail', /^no RDMA device on h2$/, /each host lacks/);
    expectFinding(checkPair(...one, AUTO)[2], 'ok', /^no RDMA device on h2; using TCP$/);
    const down = { rdma: [rdmaPort('mlx5_0', 'eth0', { state: 'down' })] };
    expectFinding(checkPair(...places(down, down), AUTO)[2], 'warn', /; using TCP$/, /each host lacks/);
  });

  const both: Partial<AgentHello> = { rdma: [rdmaPort('mlx5_0', 'eth0')] };
  const MEASURED: readonly (readonly [Requirements, Partial<AgentHello>, readonly string[]])[] = [
    [AUTO, both, ['rdma', 'tcp']],
    [RDMA, both, ['rdma']],
    [TCP, both, ['tcp']],
    [AUTO, {}, ['tcp']],
    [RDMA, {}, []],
  ];
  for (const [wanted, said, transports] of MEASURED) {
    it(`measure ${transports} with --transport ${wanted.transport} ${said === both ? 'with' : 'without'} RDMA`, () =>
      expect(transportsBetween(...places(both, said), wanted)).to.deep.equal(transports));
  }
});

function places(said1: Partial<AgentHello>, said2: Partial<AgentHello>): readonly [HopEndAddresses, HopEndAddresses] {
  const h1: SessionFacts = withHello(SESSIONS.h1, said1);
  const h2: SessionFacts = withHello(SESSIONS.h2, said2);
  const input = inputFor(['h1:a', 'h2:b'], { sessions: new Map([h1, h2].map((facts) => [facts.id, facts])) });
  return [placeOf(h1, h2, input), placeOf(h2, h1, input)];
}
