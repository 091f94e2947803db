import { expect } from 'chai';
import type { Requirements } from '../../src/doctor/facts.ts';
import { checkRdma } from '../../src/doctor/rdma-checks.ts';
import type { Verdict } from '../../src/model/examination.ts';
import type { AgentHello, RdmaPort } from '../../src/model/protocol.ts';
import { rdmaPort } from '../plan/helpers.ts';
import { AUTO, expectFinding, hostFacts, RDMA, TCP, verdicts } from './samples.ts';

const MIB = 1024 ** 2;
const one = (changes: Partial<RdmaPort> = {}, said: Partial<AgentHello> = {}) =>
  hostFacts({}, { rdma: [rdmaPort('mlx5_0', 'eth0', changes)], ...said });
const unlisted = {
  address: '10.9.0.1',
  prefix: 24,
  interface: 'eth9',
  up: true,
  speed_mbps: null,
  kind: 'physical',
  mtu: 1500,
} as const;

type Row = readonly [string, Partial<RdmaPort>, Partial<AgentHello>, Requirements, string, Verdict, RegExp, RegExp?];
const ROWS: readonly Row[] = [
  [
    'a port',
    {},
    {},
    AUTO,
    'port mlx5_0/1',
    'ok',
    /^active, 100 Gb\/s, Ethernet eth0, IB\/RoCE v1, RoCE v2, path MTU 4096, NUMA node 0$/,
  ],
  ['a port that is down', { state: 'down' }, {}, AUTO, 'port mlx5_0/1', 'warn', /^down/, /ip link set eth0 up/],
  ['a port that is down, wanted', { state: 'down' }, {}, RDMA, 'port mlx5_0/1', 'fail', /^down/, /ip link set eth0 up/],
  [
    'InfiniBand without a manager',
    { state: 'init', link_layer: 'infiniband' },
    {},
    AUTO,
    'port mlx5_0/1',
    'warn',
    /^init/,
    /opensm/,
  ],
  [
    'InfiniBand',
    { link_layer: 'infiniband', gids: ['IB/RoCE v1'] },
    {},
    AUTO,
    'port mlx5_0/1',
    'ok',
    /InfiniBand eth0, path/,
  ],
  ['no GID', { gids: [] }, {}, AUTO, 'port mlx5_0/1', 'fail', /no usable GID/, /ip addr add .* dev eth0/],
  [
    'RoCE v1 only',
    { gids: ['IB/RoCE v1'] },
    {},
    AUTO,
    'port mlx5_0/1',
    'warn',
    /cannot be routed to another subnet/,
    /cma_roce_mode -d mlx5_0/,
  ],
  [
    'no address',
    {},
    { addresses: [unlisted] },
    AUTO,
    'port mlx5_0/1',
    'fail',
    /no IP address on its interface/,
    /ip addr add/,
  ],
  ['libraries', {}, {}, AUTO, 'rdma libraries', 'ok', /work/],
  [
    'no library: with the command that its own system has',
    {},
    { rdma_lacks: 'librdmacm.so.1 cannot be opened (zypper install rdma-core librdmacm1)' },
    AUTO,
    'rdma libraries',
    'fail',
    /^librdmacm\.so\.1 cannot be opened$/,
    /^run zypper install rdma-core librdmacm1$/,
  ],
  [
    'no kernel module',
    {},
    { rdma_lacks: 'cannot use the RDMA connection manager (is the kernel module rdma_ucm loaded?): No such device' },
    AUTO,
    'rdma libraries',
    'fail',
    /rdma_ucm loaded\?\): No such device$/,
    /^run modprobe rdma_ucm/,
  ],
  ['no limit', {}, { memlock: null }, AUTO, 'memlock', 'ok', /^unlimited$/],
  ['enough', {}, { memlock: 10 * MIB }, AUTO, 'memlock', 'ok', /^10\.0 MiB/],
  [
    'the usual limit',
    {},
    { memlock: 8 * MIB },
    AUTO,
    'memlock',
    'warn',
    /8\.0 MiB.*less than 10\.0 MiB/,
    /'ann - memlock unlimited' to \/etc\/security\/limits\.d\/rdma\.conf/,
  ],
  ['a low limit', {}, { memlock: 65536 }, AUTO, 'memlock', 'fail', /64\.0 KiB.*too little/, /limits\.d.*log in again/],
];

describe('checks of RDMA', () => {
  for (const [name, port, said, wanted, check, verdict, found, fix] of ROWS) {
    it(`judge ${name}: ${verdict}`, () => {
      const finding = checkRdma(one(port, said), wanted).find((candidate) => candidate.check === check);
      expectFinding(finding, verdict, found, fix);
    });
  }

  it('report a missing device as a failure only if RDMA is required', () => {
    expectFinding(checkRdma(hostFacts(), AUTO)[0], 'ok', /^no RDMA device; using TCP$/);
    const fix = /modprobe rdma_rxe && rdma link add rxe0 type rxe netdev eth0/;
    expectFinding(checkRdma(hostFacts(), RDMA)[0], 'fail', /^no RDMA device$/, fix);
  });

  it('accept a second port without a cable', () => {
    const rdma = [rdmaPort('mlx5_0', 'eth0'), rdmaPort('mlx5_1', 'eth1', { state: 'down', gids: [] })];
    expect(verdicts(checkRdma(hostFacts({}, { rdma }), RDMA))).to.deep.equal([
      'ok port mlx5_0/1',
      'ok port mlx5_1/1',
      'ok rdma libraries',
      'ok memlock',
    ]);
  });

  it('do not fail for a second port without an address', () => {
    const rdma = [rdmaPort('mlx5_0', 'eth0'), rdmaPort('mlx5_1', 'eth1')];
    const [, second] = checkRdma(hostFacts({}, { rdma }), RDMA);
    expectFinding(second, 'warn', /no IP address on its interface/, /ip addr add ADDRESS\/PREFIX dev eth1/);
  });

  it('are skipped for TCP, and without an agent', () => {
    expect(checkRdma(one(), TCP)).to.deep.equal([]);
    expect(checkRdma(hostFacts({}, null), RDMA)).to.deep.equal([]);
  });

  for (const [launcher, fix] of [
    ['podman', /podman run --cap-add IPC_LOCK --ulimit memlock=-1:-1/],
    ['docker', /docker run --cap-add IPC_LOCK/],
    ['kubectl', /IPC_LOCK to securityContext/],
    ['slurm', /PropagateResourceLimitsExcept=MEMLOCK/],
  ] as const) {
    it(`explain how to lock memory with ${launcher}`, () => {
      const findings = checkRdma({ ...one({}, { memlock: 65536 }), launcher }, AUTO);
      expect(findings.find(({ check }) => check === 'memlock')?.fix).to.match(fix);
    });
  }
});
