import { expect } from 'chai';
import fc from 'fast-check';
import { placeOf } from '../../src/plan/addresses.ts';
import type { PlanInput, SessionFacts } from '../../src/plan/facts.ts';
import { type TcpRoute, tcpRoute } from '../../src/plan/tcp-route.ts';
import { dataFor, inputFor, nic, SESSIONS, settingsWith, ways, withHello } from './helpers.ts';

const { local, h1, h2, self } = SESSIONS;
const WORDS = ['h1:a', 'h2:b', 'self:c'];

function route(from: SessionFacts, to: SessionFacts, data: Readonly<Record<string, string>> = {}): TcpRoute {
  const input: PlanInput = inputFor(WORDS, { settings: settingsWith({ data: dataFor(data) }) });
  return tcpRoute(placeOf(from, to, input), placeOf(to, from, input), false);
}

function withNics(session: SessionFacts, ...nics: readonly ReturnType<typeof nic>[]): SessionFacts {
  return withHello(session, { addresses: [...session.hello.addresses, ...nics] });
}

function bySsh(session: SessionFacts, connection: string | null): SessionFacts {
  return withHello(session, { ssh_connection: connection });
}

describe('tcp route', () => {
  it('dials the receiver first, then the sender, between two hosts', () => {
    const found = route(h1, h2);
    expect(ways(found)).to.deep.equal([
      'tcp sender address 10.0.0.2: ssh address',
      'tcp receiver address 10.0.0.1: ssh address, receiver dials',
    ]);
    expect(found.bind).to.deep.equal({ sender: '10.0.0.1', receiver: '10.0.0.2' });
  });

  it('falls back to a forward if one end is this machine', () => {
    const there = route(local, h1);
    expect(ways(there)).to.deep.equal([
      'tcp sender address 10.0.0.1: ssh address',
      'tcp receiver address 10.0.0.9: ssh address, receiver dials',
      'tcp sender forward 10.0.0.1: forwarded through ssh',
    ]);
    expect(there.bind).to.deep.equal({ sender: '10.0.0.9', receiver: '10.0.0.1' });
    expect(ways(route(h1, local))).to.deep.equal([
      'tcp sender address 10.0.0.9: ssh address',
      'tcp receiver address 10.0.0.1: ssh address, receiver dials',
      'tcp receiver forward 10.0.0.1: forwarded through ssh',
    ]);
  });

  it('relays last between two other hosts, if allowed', () => {
    const input = inputFor(WORDS, { settings: settingsWith({ relay: 'auto' }) });
    const found = (from: SessionFacts, to: SessionFacts) =>
      ways(tcpRoute(placeOf(from, to, input), placeOf(to, from, input), true)).slice(-2);
    expect(found(h1, h2)).to.deep.equal([
      'tcp sender relay 10.0.0.2: relayed over ssh through this machine',
      'tcp receiver relay 10.0.0.1: relayed over ssh through this machine, receiver dials',
    ]);
    expect(found(local, h1).at(-1)).to.equal('tcp sender forward 10.0.0.1: forwarded through ssh');
    expect(found(local, self).join()).not.to.contain('relay');
  });

  it('offers no forward through a session that cannot forward', () => {
    const [near, far] = [h1, h2].map((session) => ({ ...session, forwards: false })) as [SessionFacts, SessionFacts];
    const ofWay = (found: TcpRoute) => found.candidates.filter(({ way }) => way !== 'address');
    const input = inputFor(WORDS, { settings: settingsWith({ relay: 'auto' }) });
    for (const [from, to] of [
      [near, h2],
      [h1, far],
    ] as const) {
      expect(ofWay(tcpRoute(placeOf(from, to, input), placeOf(to, from, input), true))).to.deep.equal([]);
    }
    expect(ofWay(route(local, far))).to.deep.equal([]);
    expect(ofWay(route(near, local))).to.deep.equal([]);
  });

  it('is not dialled at an address that it does not have', () => {
    const behindNat = withHello(local, { addresses: [nic('eth0', '192.168.1.5/24')] });
    const found = route(h1, behindNat);
    expect(ways(found)).to.deep.equal([
      'tcp receiver address 10.0.0.1: ssh address, receiver dials',
      'tcp receiver forward 10.0.0.1: forwarded through ssh',
    ]);
    expect(found.bind).to.deep.equal({ sender: '10.0.0.1', receiver: null });
  });

  it('uses given addresses only, on any host, and binds those that the host has', () => {
    const found = route(h1, h2, { h1: '172.16.0.1', h2: '10.0.0.2' });
    expect(ways(found)).to.deep.equal([
      'tcp sender address 10.0.0.2: --data',
      'tcp receiver address 172.16.0.1: --data, receiver dials',
    ]);
    expect(found.bind).to.deep.equal({ sender: null, receiver: '10.0.0.2' });
    expect(ways(route(h1, local, { '': '198.51.100.7' }))[0]).to.equal('tcp sender address 198.51.100.7: --data');
  });

  it('uses all given addresses of a host at the same time, and listens on every address for that', () => {
    const found = route(h1, h2, { h2: '10.0.0.2,10.1.0.2' });
    expect(found.candidates[0]).to.deep.include({ host: '10.0.0.2', others: [{ host: '10.1.0.2', from: null }] });
    expect(found.bind.receiver).to.equal(null);
  });

  it('names this machine, reached over ssh on loopback, as the other host sees it', () => {
    expect(ways(route(self, h1))).to.deep.equal([
      'tcp sender address 10.0.0.1: ssh address',
      'tcp receiver address 10.0.0.9: ssh address, receiver dials',
    ]);
    expect(route(self, h1).bind.sender).to.equal('10.0.0.9');
  });

  it('reads an IPv4 address that is written as IPv6', () => {
    const mapped = bySsh(h2, '::ffff:10.0.0.9 1 ::ffff:10.0.0.2 22');
    expect(ways(route(h1, mapped))[0]).to.equal('tcp sender address 10.0.0.2: ssh address');
  });

  it('finds no path between hosts that report no address', () => {
    const silent = (session: SessionFacts) => withHello(session, { ssh_connection: null, addresses: [] });
    expect(route(silent(h1), silent(h2)).candidates).to.deep.equal([]);
    expect(route(silent(h1), withHello(h2, { ssh_connection: 'nonsense', addresses: [] })).candidates).to.deep.equal(
      [],
    );
  });

  describe('if ssh uses an address that other hosts cannot use', () => {
    const ADDRESSES = ['127.0.0.1', '::1', 'fe80::1', 'fe80::1%eth0', '169.254.1.1', 'UNKNOWN'];
    for (const address of ADDRESSES) {
      const tunnelled = bySsh(h2, `${address} 1 ${address} 22`);
      const alone = withHello(tunnelled, { addresses: [] });

      it(`${address}: offers none if no other is known`, () => {
        expect(ways(route(h1, alone))).to.deep.equal(['tcp receiver address 10.0.0.1: ssh address, receiver dials']);
        const fromHere = route(local, alone);
        expect(ways(fromHere)).to.deep.equal(['tcp sender forward 127.0.0.1: forwarded through ssh']);
        expect(fromHere.bind).to.deep.equal({ sender: null, receiver: '127.0.0.1' });
      });

      it(`${address}: offers the one on a common subnet`, () => {
        const found = route(h1, tunnelled);
        expect(ways(found)).to.deep.equal([
          'tcp sender address 10.0.0.2: common subnet',
          'tcp receiver address 10.0.0.1: ssh address, receiver dials',
        ]);
        expect(found.bind.receiver).to.equal('10.0.0.2');
      });
    }
  });

  describe('on a faster network', () => {
    const faster = { speed_mbps: 25_000 };
    const [to1, to2] = [nic('eth1', '10.1.0.1/24', faster), nic('eth1', '10.1.0.2/24', faster)];

    it('dials there first, and listens for both', () => {
      const found = route(withNics(h1, to1), withNics(h2, to2));
      expect(ways(found)).to.deep.equal([
        'tcp sender address 10.1.0.2: common subnet',
        'tcp sender address 10.0.0.2: ssh address',
        'tcp receiver address 10.0.0.1: ssh address, receiver dials',
      ]);
      expect(found.bind).to.deep.equal({ sender: '10.0.0.1', receiver: null });
    });

    it('prefers the fastest of several', () => {
      const more = [nic('eth2', '10.2.0.1/24', { speed_mbps: 100_000 }), nic('eth2', '10.2.0.2/24', faster)] as const;
      const best = [
        nic('eth3', '10.3.0.1/24', { speed_mbps: 40_000 }),
        nic('eth3', '10.3.0.2/24', { speed_mbps: 40_000 }),
      ];
      const found = route(
        withNics(h1, to1, more[0], ...best.slice(0, 1)),
        withNics(h2, to2, more[1], ...best.slice(1)),
      );
      expect(ways(found)[0]).to.equal('tcp sender address 10.3.0.2: common subnet');
    });

    it('tries two, each over its own interface', () => {
      const third = (host: number) => nic('eth2', `10.2.0.${host}/24`, { speed_mbps: 10_000 });
      const alias = (host: number) => nic('eth1', `10.3.0.${host}/24`, faster);
      const fourth = (host: number) => nic('eth3', `10.4.0.${host}/24`, { speed_mbps: 2500 });
      const found = route(
        withNics(h1, to1, alias(1), third(1), fourth(1)),
        withNics(h2, to2, alias(2), third(2), fourth(2)),
      );
      expect(ways(found).slice(0, -1)).to.deep.equal([
        'tcp sender address 10.1.0.2: common subnet',
        'tcp sender address 10.2.0.2: common subnet',
        'tcp sender address 10.0.0.2: ssh address',
      ]);
    });

    it('then forwards to every address', () => {
      const found = route(withNics(local, nic('eth1', '10.1.0.9/24', faster)), withNics(h2, to2));
      expect(ways(found).at(-1)).to.equal('tcp sender forward 127.0.0.1: forwarded through ssh');
    });

    const NOT: readonly (readonly [string, Partial<typeof to1>])[] = [
      ['is as fast as the one of ssh', { speed_mbps: 1000 }],
      ['has an unknown speed', { speed_mbps: null }],
      ['is down', { ...faster, up: false }],
      ['belongs to a bridge', { ...faster, kind: 'bridge' }],
      ['is loopback', { ...faster, kind: 'loopback' }],
      ['is another subnet', { ...faster, address: '10.2.0.2' }],
      ['is a subnet only according to one end', { ...faster, prefix: 32 }],
      ['has the address of the other end', { ...faster, address: '10.1.0.1' }],
    ];
    for (const [name, changes] of NOT) {
      it(`keeps to the ssh address if the other ${name}`, () => {
        const found = route(withNics(h1, to1), withNics(h2, { ...to2, ...changes }));
        expect(ways(found)[0]).to.equal('tcp sender address 10.0.0.2: ssh address');
      });
    }

    it('also uses an IPv6 network', () => {
      const [six1, six2] = [nic('eth1', 'fd00:1::1/64', faster), nic('eth1', 'fd00:1::2/64', faster)];
      expect(ways(route(withNics(h1, six1), withNics(h2, six2)))[0]).to.equal(
        'tcp sender address fd00:1::2: common subnet',
      );
    });

    it('names an address only once if ssh used it as well', () => {
      const aside = withNics(h1, nic('eth1', '10.0.0.11/24', faster));
      const found = route(aside, withHello(h2, { addresses: [nic('eth0', '10.0.0.2/24', faster)] }));
      expect(ways(found)).to.deep.equal([
        'tcp sender address 10.0.0.2: ssh address',
        'tcp receiver address 10.0.0.1: ssh address, receiver dials',
      ]);
    });
  });

  it('besides the ssh address, dials only interfaces that are up, faster and not bridges, and nothing twice', () => {
    const anyNic = fc
      .record({
        net: fc.integer({ min: 0, max: 3 }),
        host: fc.integer({ min: 1, max: 6 }),
        up: fc.boolean(),
        speed_mbps: fc.constantFrom(null, 100, 10_000, 100_000),
        kind: fc.constantFrom('physical' as const, 'virtual' as const, 'bridge' as const, 'loopback' as const),
      })
      .map(({ net, host, ...how }) => nic('eth1', `10.1.${net}.${host}/24`, how));
    const nics = fc.array(anyNic, { maxLength: 6 });
    fc.assert(
      fc.property(nics, nics, (first, second) => {
        const { candidates } = route(withNics(h1, ...first), withNics(h2, ...second));
        const hosts = candidates.map(({ host }) => host);
        const fastest = hosts.slice(0, -2);
        expect(hosts.slice(-2)).to.deep.equal(['10.0.0.2', '10.0.0.1']);
        expect(fastest.length).to.be.at.most(1); // eth1 of the receiver
        const usable = second.filter(({ up, kind }) => up && kind !== 'bridge' && kind !== 'loopback');
        const faster = usable.filter(({ speed_mbps }) => speed_mbps !== null && speed_mbps > 1000);
        expect(faster.map(({ address }) => address)).to.include.members(fastest);
      }),
    );
  });

  it('dials a bridge that ssh used itself', () => {
    const bridge = nic('br0', '10.0.0.2/24', { kind: 'bridge' });
    const onBridge = withHello(bySsh(h2, '127.0.0.1 1 10.0.0.2 22'), { addresses: [bridge] });
    expect(ways(route(h1, onBridge))[0]).to.equal('tcp sender address 10.0.0.2: ssh address');
  });
});
