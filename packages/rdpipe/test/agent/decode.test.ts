import { expect } from 'chai';
import { decodeEvent, decodeHello } from '../../src/agent/decode.ts';
import type { HostAddress, RdmaPort } from '../../src/model/protocol.ts';
import { HELLO } from './fake-agent.ts';

const ADDRESS: HostAddress = {
  address: 'fd00::1',
  prefix: 64,
  interface: 'eth0',
  up: true,
  speed_mbps: 100_000,
  kind: 'physical',
  mtu: 9000,
};
const PORT: RdmaPort = {
  device: 'mlx5_0',
  port: 1,
  state: 'active',
  rate_mbps: 100_000,
  link_layer: 'ethernet',
  mtu: 4096,
  interface: 'eth0',
  numa: 0,
  gids: ['IB/RoCE v1', 'RoCE v2'],
};
const FULL = { ...HELLO, memlock: 8_388_608, rdma_lacks: 'librdmacm.so.1', addresses: [ADDRESS], rdma: [PORT] };
const UNKNOWN = { mtu: null, interface: null, numa: null };

describe('a hello', () => {
  const decode = (hello: object) => decodeHello(Buffer.from(JSON.stringify(hello)));
  const withAddress = (changes: object) => ({ ...FULL, addresses: [{ ...ADDRESS, ...changes }] });
  const withPort = (changes: object) => ({ ...FULL, rdma: [{ ...PORT, ...changes }] });

  for (const [what, hello] of [
    ['of a host with everything', FULL],
    ['of a host with nothing', HELLO],
    ['whose kernel reports little', { ...withPort(UNKNOWN), addresses: [{ ...ADDRESS, speed_mbps: null }] }],
    ['of the largest allowed size', { ...FULL, addresses: Array(256).fill(ADDRESS), rdma: Array(64).fill(PORT) }],
  ] as const)
    it(`${what} is accepted unchanged`, () => expect(decode(hello)).to.deep.equal(hello));

  for (const [what, hello] of [
    ['too many addresses', { ...FULL, addresses: Array(257).fill(ADDRESS) }],
    ['too many ports', { ...FULL, rdma: Array(65).fill(PORT) }],
    ['an invalid address', withAddress({ address: 'eth0' })],
    ['an address with a command in it', withAddress({ address: '10.0.0.1; reboot' })],
    ['an invalid prefix', withAddress({ prefix: 129 })],
    ['an unknown kind of interface', withAddress({ kind: 'wormhole' })],
    ['a negative speed', withAddress({ speed_mbps: -1 })],
    ['an unknown state of a port', withPort({ state: 'asleep' })],
    ['an unknown link layer', withPort({ link_layer: 'token ring' })],
    ['a rate in words', withPort({ rate_mbps: '100 Gb/sec' })],
    ['endless kinds of GIDs', withPort({ gids: Array(17).fill('RoCE v2') })],
    ['half a byte of locked memory', { ...FULL, memlock: 0.5 }],
    ['no list of missing parts', { ...FULL, rdma_lacks: undefined }],
    ['nothing about filters', { ...FULL, seccomp: undefined }],
    ['a negative version of Landlock', { ...FULL, landlock: -1 }],
  ] as const)
    it(`with ${what} is refused`, () => expect(decode(hello)).to.equal(undefined));
});

describe('a message about a broken connection', () => {
  const decode = (event: object) => decodeEvent(Buffer.from(JSON.stringify(event)));
  const broken = { event: 'broken', link: 1, end: 'send', message: 'connection reset' };
  const resumed = { event: 'resumed', link: 1, end: 'recv', epoch: 2, bytes: 8_589_934_592 };

  for (const event of [broken, resumed])
    it(`${event.event} is accepted unchanged`, () => expect(decode(event)).to.deep.equal(event));

  for (const [what, event] of [
    ['broken without a message', { ...broken, message: undefined }],
    ['broken without an end', { ...broken, end: 'middle' }],
    ['resumed at a negative offset', { ...resumed, bytes: -1 }],
    ['resumed without an epoch', { ...resumed, epoch: '2' }],
  ] as const)
    it(`${what} is refused`, () => expect(decode(event)).to.equal(undefined));
});
