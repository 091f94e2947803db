import { expect } from 'chai';
import type { HostFacts, InterfaceSettings } from '../../src/doctor/facts.ts';
import { checkPipes, checkSendBuffer, checkSharedSubnets } from '../../src/doctor/kernel-checks.ts';
import type { Verdict } from '../../src/model/examination.ts';
import { nic } from '../plan/helpers.ts';
import { expectFinding, hostFacts } from './samples.ts';

const pipes = (pipeMostBytes: number, pipeUserPages: number, uid = 1000) =>
  hostFacts({}, { uid }, { pipeMostBytes, pipeUserPages });

const PIPES: readonly (readonly [string, HostFacts, Verdict, RegExp, RegExp?])[] = [
  ['of a megabyte', pipes(1024 ** 2, 16384), 'ok', /^pipes of up to 1\.0 MiB$/],
  ['that are small', pipes(65536, 16384), 'warn', /64\.0 KiB/, /fs\.pipe-max-size=1048576/],
  ['that are few', pipes(1024 ** 2, 1024), 'warn', /4\.0 MiB for all/, /fs\.pipe-user-pages-soft/],
  ['without a limit of pages', pipes(1024 ** 2, 0), 'ok', /1\.0 MiB$/],
  ['of root, which has no such limit', pipes(1024 ** 2, 1024, 0), 'ok', /1\.0 MiB$/],
];

describe('a check of pipes', () => {
  for (const [name, facts, verdict, found, fix] of PIPES) {
    it(`judges pipes ${name}: ${verdict}`, () => expectFinding(checkPipes(facts)[0], verdict, found, fix));
  }

  it('has no finding for a host that does not report its limit', () =>
    expect(checkPipes(hostFacts({}, {}, { pipeMostBytes: null }))).to.deep.equal([]));
});

const ROWS: readonly (readonly [string, Partial<InterfaceSettings>, Partial<InterfaceSettings>, Verdict, RegExp])[] = [
  [
    'with kernel defaults',
    {},
    {},
    'warn',
    /eth1 and eth2 share the subnet of 10\.1\.0\.1\/24, and arp_ignore is 0, arp_announce is 0:/,
  ],
  ['set for every interface', { arpIgnore: 1, arpAnnounce: 2 }, {}, 'ok', /are set for it/],
  ['set for each interface', {}, { arpIgnore: 1, arpAnnounce: 2 }, 'ok', /are set for it/],
  ['with a strict filter', { arpIgnore: 1, arpAnnounce: 2, rpFilter: 1 }, {}, 'warn', /and rp_filter is 1:/],
  [
    'with a strict filter that is loose for all',
    { arpIgnore: 1, arpAnnounce: 2, rpFilter: 2 },
    { rpFilter: 1 },
    'ok',
    /set/,
  ],
];

describe('a check of interfaces that share a subnet', () => {
  const none: InterfaceSettings = { arpIgnore: 0, arpAnnounce: 0, rpFilter: 0 };
  const two = [nic('eth0', '10.0.0.1/24'), nic('eth1', '10.1.0.1/24'), nic('eth2', '10.1.0.2/24')];
  const facts = (all: Partial<InterfaceSettings>, own: Partial<InterfaceSettings>, addresses = two) => {
    const settings = { ...none, ...own };
    const interfaces = new Map([
      ['all', { ...none, ...all }],
      ['eth0', none],
      ['eth1', settings],
      ['eth2', settings],
    ]);
    return hostFacts({}, { addresses }, { interfaces });
  };
  for (const [name, all, own, verdict, found] of ROWS) {
    it(`judges two ${name}: ${verdict}`, () =>
      expectFinding(
        checkSharedSubnets(facts(all, own))[0],
        verdict,
        found,
        verdict === 'ok' ? undefined : /rp_filter=2/,
      ));
  }

  const ALONE = [
    ['one interface', [nic('eth0', '10.0.0.1/24'), nic('eth0', '10.0.0.2/24')]],
    ['two subnets', [nic('eth0', '10.0.0.1/24'), nic('eth1', '10.0.1.1/24')]],
    ['a bridge', [nic('eth0', '10.0.0.1/24'), nic('br0', '10.0.0.2/24', { kind: 'bridge' })]],
    ['an interface that is down', [nic('eth0', '10.0.0.1/24'), nic('eth1', '10.0.0.2/24', { up: false })]],
    ['IPv6', [nic('eth0', 'fd00::1/64'), nic('eth1', 'fd00::2/64')]],
  ] as const;
  for (const [name, addresses] of ALONE) {
    it(`has no finding for ${name}`, () => expect(checkSharedSubnets(facts({}, {}, [...addresses]))).to.deep.equal([]));
  }
});

describe('the check of the send buffer', () => {
  const path = {
    from: 'h1',
    to: 'h2',
    transport: 'tcp',
    bytesPerSecond: 1e9,
    rttUs: 100_000,
    nominalMbps: 10_000,
  } as const;
  const buffer = 4 * 1024 ** 2;

  it('names the setting for a path that holds more than the buffers of all connections', () => {
    expect(checkSendBuffer(path, buffer)).to.deep.equal([
      {
        check: 'send buffer h1→h2',
        result: 'warn',
        found: '4.0 MiB for each of 16 connections: at most 5.369 Gb/s',
        fix: "run sysctl -w net.ipv4.tcp_wmem='4096 65536 8388608' on h1, and add it to a file in /etc/sysctl.d/ to make it permanent",
      },
    ]);
  });

  for (const [name, other, bytes] of [
    ['a shorter path', { rttUs: 50_000 }, buffer],
    ['RDMA', { transport: 'rdma' }, buffer],
    ['an unknown rate', { nominalMbps: null }, buffer],
    ['an unknown buffer', {}, null],
  ] as const)
    it(`has no finding for ${name}`, () => expect(checkSendBuffer({ ...path, ...other }, bytes)).to.deep.equal([]));
});
