import { expect } from 'chai';
import fc from 'fast-check';
import type { HostAddress, RdmaPort } from '../../src/model/protocol.ts';
import { placeOf } from '../../src/plan/addresses.ts';
import type { SessionFacts } from '../../src/plan/facts.ts';
import { rdmaCandidates, rdmaLacks } from '../../src/plan/rdma-route.ts';
import { inputFor, nic, rdmaPort, SESSIONS, withHello } from './helpers.ts';

const WORDS = ['h1:a', 'h2:b'];

interface Machine {
  readonly nics: readonly HostAddress[];
  readonly ports: readonly RdmaPort[];
}

function machine(session: SessionFacts, { nics, ports }: Machine): SessionFacts {
  return withHello(session, { addresses: [...session.hello.addresses, ...nics], rdma: ports });
}

function placesOf(first: Machine, second: Machine) {
  const [from, to] = [machine(SESSIONS.h1, first), machine(SESSIONS.h2, second)];
  const input = inputFor(WORDS);
  return [placeOf(from, to, input), placeOf(to, from, input)] as const;
}

/** `10.1.0.1→10.1.0.2 mlx5_0 RoCE v2, 100 Gb/s`. */
function pairs(first: Machine, second: Machine): readonly string[] {
  const found = rdmaCandidates(...placesOf(first, second));
  return found.map(({ from, host, device, why }) => `${from}→${host} ${device} ${why}`);
}

function lacks(first: Machine, second: Machine): readonly string[] {
  return rdmaLacks(...placesOf(first, second));
}

/** One port and its address. */
function one(address: string, changes: Partial<RdmaPort> = {}, link: Partial<HostAddress> = {}): Machine {
  return { nics: [nic('ib0', address, link)], ports: [rdmaPort('mlx5_0', 'ib0', changes)] };
}

function both(...machines: readonly Machine[]): Machine {
  const renamed = machines.map(({ nics, ports }, index) => ({
    nics: nics.map((entry) => ({ ...entry, interface: `ib${index}` })),
    ports: ports.map((port) => ({ ...port, device: `mlx5_${index}`, interface: `ib${index}` })),
  }));
  return { nics: renamed.flatMap(({ nics }) => nics), ports: renamed.flatMap(({ ports }) => ports) };
}

const [A1, A2] = [one('10.1.0.1/24'), one('10.1.0.2/24')];
const INFINIBAND = { link_layer: 'infiniband', gids: ['IB/RoCE v1'] } as const;
const V1 = { gids: ['IB/RoCE v1'] };

describe('rdma route', () => {
  const FOUND: readonly (readonly [string, Machine, Machine, readonly string[]])[] = [
    ['a common subnet', A1, A2, ['10.1.0.1→10.1.0.2 mlx5_0 RoCE v2, 100 Gb/s']],
    [
      'InfiniBand',
      one('10.1.0.1/24', INFINIBAND),
      one('10.1.0.2/24', INFINIBAND),
      ['10.1.0.1→10.1.0.2 mlx5_0 InfiniBand, 100 Gb/s'],
    ],
    ['RoCE v1', one('10.1.0.1/24', V1), A2, ['10.1.0.1→10.1.0.2 mlx5_0 RoCE v1 or iWARP, 100 Gb/s']],
    ['IPv6', one('fd00::1/64'), one('fd00::2/64'), ['fd00::1→fd00::2 mlx5_0 RoCE v2, 100 Gb/s']],
    [
      'the slower of two rates',
      A1,
      one('10.1.0.2/24', { rate_mbps: 2500 }),
      ['10.1.0.1→10.1.0.2 mlx5_0 RoCE v2, 2.5 Gb/s'],
    ],
    ['a rate that is not known', A1, one('10.1.0.2/24', { rate_mbps: 0 }), ['10.1.0.1→10.1.0.2 mlx5_0 RoCE v2']],
    [
      'devices of two names',
      A1,
      { nics: A2.nics, ports: [rdmaPort('rxe0', 'ib0')] },
      ['10.1.0.1→10.1.0.2 mlx5_0→rxe0 RoCE v2, 100 Gb/s'],
    ],
    ['a route between subnets', A1, one('10.2.0.2/24'), ['10.1.0.1→10.2.0.2 mlx5_0 RoCE v2, 100 Gb/s, routed']],
    [
      'a route of InfiniBand',
      one('10.1.0.1/24', INFINIBAND),
      one('10.2.0.2/24', INFINIBAND),
      ['10.1.0.1→10.2.0.2 mlx5_0 InfiniBand, 100 Gb/s, routed'],
    ],
    [
      'the fastest first',
      both(A1, one('10.2.0.1/24', { rate_mbps: 200_000 })),
      both(A2, one('10.2.0.2/24', { rate_mbps: 200_000 })),
      [
        '10.2.0.1→10.2.0.2 mlx5_1 RoCE v2, 200 Gb/s',
        '10.1.0.1→10.1.0.2 mlx5_0 RoCE v2, 100 Gb/s',
        '10.1.0.1→10.2.0.2 mlx5_0→mlx5_1 RoCE v2, 100 Gb/s, routed',
        '10.2.0.1→10.1.0.2 mlx5_1→mlx5_0 RoCE v2, 100 Gb/s, routed',
      ],
    ],
    [
      'a common subnet before a faster route',
      both(one('10.1.0.1/24', { rate_mbps: 10_000 }), one('10.2.0.1/24')),
      both(one('10.1.0.2/24', { rate_mbps: 10_000 }), one('10.3.0.2/24')),
      [
        '10.1.0.1→10.1.0.2 mlx5_0 RoCE v2, 10 Gb/s',
        '10.2.0.1→10.3.0.2 mlx5_1 RoCE v2, 100 Gb/s, routed',
        '10.1.0.1→10.3.0.2 mlx5_0→mlx5_1 RoCE v2, 10 Gb/s, routed',
      ],
    ],
    [
      'each port of one subnet once before any again',
      both(A1, one('10.1.0.11/24')),
      both(A2, one('10.1.0.12/24')),
      [
        '10.1.0.1→10.1.0.2 mlx5_0 RoCE v2, 100 Gb/s',
        '10.1.0.11→10.1.0.12 mlx5_1 RoCE v2, 100 Gb/s',
        '10.1.0.1→10.1.0.12 mlx5_0→mlx5_1 RoCE v2, 100 Gb/s',
        '10.1.0.11→10.1.0.2 mlx5_1→mlx5_0 RoCE v2, 100 Gb/s',
      ],
    ],
  ];
  for (const [name, first, second, expected] of FOUND) {
    it(`finds ${name}`, () => expect(pairs(first, second)).to.deep.equal(expected));
  }

  it('names two interfaces once, whatever addresses and devices they have', () => {
    const twice = (host: number): Machine => ({
      nics: [nic('ib0', `10.1.0.${host}/24`), nic('ib0', `fd00::${host}/64`), nic('ib0', `10.2.0.${host}/24`)],
      ports: [rdmaPort('mlx5_0', 'ib0'), rdmaPort('rxe0', 'ib0')],
    });
    expect(pairs(twice(1), twice(2))).to.deep.equal(['10.1.0.1→10.1.0.2 mlx5_0 RoCE v2, 100 Gb/s']);
  });

  it('of two equally fast ports, takes the one whose address ssh uses', () => {
    const [sshPort1, sshPort2] = [rdmaPort('mlx5_9', 'eth0'), rdmaPort('mlx5_9', 'eth0')];
    const first = { nics: A1.nics, ports: [...A1.ports, sshPort1] };
    const second = { nics: A2.nics, ports: [...A2.ports, sshPort2] };
    expect(pairs(first, second)[0]).to.equal('10.0.0.1→10.0.0.2 mlx5_9 RoCE v2, 100 Gb/s');
  });

  const MISSING: readonly (readonly [string, Machine, Machine, readonly string[]])[] = [
    ['no device anywhere', { nics: [], ports: [] }, { nics: [], ports: [] }, ['no RDMA device on h1 or h2']],
    ['a device at one end only', A1, { nics: [], ports: [] }, ['no RDMA device on h2']],
    ['a port that is down', one('10.1.0.1/24', { state: 'down' }), A2, ['port mlx5_0/1 is down on h1']],
    [
      'ports that are down',
      both(one('10.1.0.1/24', { state: 'down' }), one('10.2.0.1/24', { state: 'armed' })),
      A2,
      ['no RDMA port is active on h1'],
    ],
    ['no usable GID', A1, one('10.1.0.2/24', { gids: [] }), ['no usable GID at mlx5_0/1 on h2']],
    ['an interface that is down', A1, one('10.1.0.2/24', {}, { up: false }), ['interface ib0 is down on h2']],
    ['a port without an address', A1, { nics: [], ports: A2.ports }, ['no usable IP address for mlx5_0/1 on h2']],
    [
      'soft-RoCE on loopback',
      A1,
      one('127.0.0.9/8', {}, { kind: 'loopback' }),
      ['no usable IP address for mlx5_0/1 on h2'],
    ],
    ['a port of a bridge', A1, one('10.1.0.2/24', {}, { kind: 'bridge' }), ['no usable IP address for mlx5_0/1 on h2']],
    [
      'one address on both',
      A1,
      A1,
      ['no usable IP address for mlx5_0/1 on h1', 'no usable IP address for mlx5_0/1 on h2'],
    ],
    ['InfiniBand and Ethernet', A1, one('10.1.0.2/24', INFINIBAND), ['no RDMA network connects h1 and h2']],
    ['RoCE v1 on two subnets', one('10.1.0.1/24', V1), one('10.2.0.2/24', V1), ['no RDMA network connects h1 and h2']],
    [
      'RoCE v1 and RoCE v2',
      one('10.1.0.1/24', V1),
      one('10.1.0.2/24', { gids: ['RoCE v2'] }),
      ['no RDMA network connects h1 and h2'],
    ],
    ['IPv4 and IPv6', A1, one('fd00::2/64'), ['no RDMA network connects h1 and h2']],
  ];
  for (const [name, first, second, expected] of MISSING) {
    it(`finds none with ${name}, and reports why`, () => {
      expect(pairs(first, second)).to.deep.equal([]);
      expect(lacks(first, second)).to.deep.equal(expected);
    });
  }

  it('names the packages to install, and the host', () => {
    const [from, to] = placesOf(A1, A2);
    const lack = 'librdmacm.so.1 cannot be opened (apt install librdmacm1)';
    const bare = { ...to, facts: withHello(to.facts, { rdma_lacks: lack }) };
    expect(rdmaCandidates(from, bare)).to.deep.equal([]);
    expect(rdmaLacks(from, bare)).to.deep.equal([`h2: ${lack}`]);
  });

  it('names a memory limit that is too small', () => {
    const [from, to] = placesOf(A1, A2);
    const limited = (memlock: number) => ({ ...to, facts: withHello(to.facts, { memlock }) });
    expect(rdmaCandidates(from, limited(256 * 1024))).to.have.lengthOf(1);
    expect(rdmaCandidates(from, limited(64 * 1024))).to.have.lengthOf(0);
    expect(rdmaLacks(from, limited(64 * 1024))).to.deep.equal([
      'the memlock limit of 64.0 KiB is too small for RDMA on h2 ' +
        "(add '* - memlock unlimited' to /etc/security/limits.d/rdma.conf there and log in again)",
    ]);
  });

  describe('between any two hosts', () => {
    const address = fc.record({
      address: fc
        .tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 1, max: 6 }))
        .map(([net, host]) => `10.1.${net}.${host}`),
      prefix: fc.constantFrom(16, 24, 32),
      interface: fc.constantFrom('ib0', 'ib1', 'docker0'),
      up: fc.boolean(),
      speed_mbps: fc.constant(null),
      kind: fc.constantFrom('physical' as const, 'virtual' as const, 'bridge' as const),
      mtu: fc.constant(1500),
    });
    const port = fc.record({
      device: fc.constantFrom('mlx5_0', 'mlx5_1'),
      port: fc.integer({ min: 1, max: 2 }),
      state: fc.constantFrom('active' as const, 'down' as const),
      rate_mbps: fc.constantFrom(10_000, 100_000),
      link_layer: fc.constantFrom('ethernet' as const, 'infiniband' as const),
      mtu: fc.constant(4096),
      interface: fc.constantFrom('ib0', 'ib1', 'docker0', null),
      numa: fc.constant(null),
      gids: fc.subarray(['IB/RoCE v1', 'RoCE v2']),
    });
    const anyMachine = fc.record({
      nics: fc.array(address, { maxLength: 5 }),
      ports: fc.array(port, { maxLength: 4 }),
    });

    it('dials only interfaces that are up and not bridges, nothing twice, few in all, near ones before routed ones', () => {
      fc.assert(
        fc.property(anyMachine, anyMachine, (first, second) => {
          const [from, to] = placesOf(first, second);
          const found = rdmaCandidates(from, to);
          for (const way of found) {
            expectUsable(way.from, first);
            expectUsable(way.host, second);
          }
          expect(found.length).to.be.at.most(4);
          expect(new Set(found.map(({ from: dialer, host }) => `${dialer} ${host}`)).size).to.equal(found.length);
          const near = found.filter(({ why }) => !why.endsWith('routed'));
          expect(near.every(({ why }) => rateIn(why) <= rateIn(near[0]?.why))).to.equal(true);
          const routed = found.map(({ why }) => why.endsWith('routed'));
          expect(routed).to.deep.equal([...routed].sort());
          if (found.length === 0) expect(rdmaLacks(from, to)).not.to.have.lengthOf(0);
        }),
      );
    });
  });
});

function rateIn(why = ''): number {
  return Number(/, (\d+) Gb\/s/.exec(why)?.[1]);
}

function expectUsable(address: string | null, { nics, ports }: Machine): void {
  const entries = nics.filter((entry) => entry.address === address && entry.up && entry.kind !== 'bridge');
  const interfaces = entries.map((entry) => entry.interface);
  const active = ports.filter(({ state, gids }) => state === 'active' && gids.length > 0);
  expect(active.some((entry) => entry.interface !== null && interfaces.includes(entry.interface))).to.equal(true);
}
