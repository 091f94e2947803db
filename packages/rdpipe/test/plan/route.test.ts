import { expect } from 'chai';
import type { PlanInput, SessionFacts } from '../../src/plan/facts.ts';
import { routeHop } from '../../src/plan/route.ts';
import { dataFor, inputFor, nic, rdmaPort, SESSIONS, settingsWith, ways, withHello } from './helpers.ts';

const { local, h1, h2 } = SESSIONS;
const WORDS = ['h1:a', 'h2:b', 'self:c'];

function route(from: SessionFacts, to: SessionFacts, settings: Partial<PlanInput['settings']> = {}) {
  return routeHop(from, to, inputFor(WORDS, { settings: settingsWith(settings) }));
}

/** Adds an RDMA port on its own network. */
function fast(session: SessionFacts, address: string, changes: Parameters<typeof rdmaPort>[2] = {}): SessionFacts {
  const addresses = [...session.hello.addresses, nic('ib0', address, { speed_mbps: 100_000 })];
  return withHello(session, { addresses, rdma: [rdmaPort('mlx5_0', 'ib0', changes)] });
}

const [fast1, fast2] = [fast(h1, '10.1.0.1/24'), fast(h2, '10.1.0.2/24')];

describe('route', () => {
  it('tries RDMA, then TCP on the fastest network, then the ssh address', () => {
    const found = route(fast1, fast2);
    expect(ways(found)).to.deep.equal([
      'rdma sender address 10.1.0.2 from 10.1.0.1: mlx5_0, RoCE v2, 100 Gb/s',
      'tcp sender address 10.1.0.2: common subnet',
      'tcp sender address 10.0.0.2: ssh address',
      'tcp receiver address 10.0.0.1: ssh address, receiver dials',
    ]);
    expect(found).to.deep.include({
      transport: 'rdma',
      encrypt: 'tcp',
      why: 'rdma mlx5_0 (RoCE v2, 100 Gb/s), authenticated, not encrypted (the default of RDMA)',
      bind: { sender: '10.0.0.1', receiver: null, rdma: '10.1.0.2' },
    });
  });

  it('keeps to the given transport', () => {
    const rdma = route(fast1, fast2, { transport: 'rdma' });
    expect(ways(rdma)).to.deep.equal(['rdma sender address 10.1.0.2 from 10.1.0.1: mlx5_0, RoCE v2, 100 Gb/s']);
    const tcp = route(fast1, fast2, { transport: 'tcp' });
    expect(ways(tcp).filter((way) => way.startsWith('rdma'))).to.deep.equal([]);
    expect(tcp).to.include({ transport: 'tcp', why: 'tcp (--transport tcp), encrypted (leaves the machine)' });
    expect(route(h1, fast2, { transport: 'rdma' }).candidates).to.deep.equal([]);
  });

  /** Adds a second RDMA port on a network of its own. */
  function faster(session: SessionFacts, address: string): SessionFacts {
    const addresses = [...session.hello.addresses, nic('ib1', address)];
    return withHello(session, { addresses, rdma: [...session.hello.rdma, rdmaPort('mlx5_1', 'ib1')] });
  }

  const SEVERAL: readonly (readonly [string, Record<string, string>])[] = [
    ['the receiver', { h2: '10.1.0.2,10.2.0.2' }],
    ['the sender', { h1: '10.1.0.1,10.2.0.1' }],
  ];

  for (const [whose, data] of SEVERAL) {
    it(`uses RDMA devices at the same time at given addresses of ${whose}`, () => {
      const found = route(faster(fast1, '10.2.0.1/24'), faster(fast2, '10.2.0.2/24'), { data: dataFor(data) });
      expect(found.candidates[0]).to.deep.include({
        transport: 'rdma',
        host: '10.1.0.2',
        from: '10.1.0.1',
        others: [{ host: '10.2.0.2', from: '10.2.0.1' }],
        device: 'mlx5_0 and mlx5_1',
      });
      expect(found.bind.rdma).to.equal(null);
    });
  }

  it('uses one RDMA device if only one of the given addresses has one', () => {
    const found = route(fast1, fast2, { data: dataFor({ h2: '10.1.0.2,10.0.0.2' }) });
    expect(found.candidates[0]).to.include({ transport: 'rdma', host: '10.1.0.2' }).and.not.have.property('others');
    expect(found.bind.rdma).to.equal('10.1.0.2');
  });

  const REASONS: readonly (readonly [string, SessionFacts, SessionFacts, string])[] = [
    ['no devices', h1, h2, 'tcp (no RDMA device on h1 or h2)'],
    ['one device', fast1, h2, 'tcp (no RDMA device on h2)'],
    ['this machine without a device', local, fast2, 'tcp (no RDMA device on this machine)'],
    ['a port that is down', fast1, fast(h2, '10.1.0.2/24', { state: 'down' }), 'tcp (port mlx5_0/1 is down on h2)'],
    [
      'a missing library',
      withHello(fast1, { rdma_lacks: 'librdmacm.so.1 cannot be opened (apt install librdmacm1)' }),
      fast2,
      'tcp (h1: librdmacm.so.1 cannot be opened)',
    ],
    [
      'lacks on both ends',
      fast(h1, '10.1.0.1/24', { gids: [] }),
      fast(h2, '10.1.0.2/24', { state: 'init' }),
      'tcp (no usable GID at mlx5_0/1 on h1; port mlx5_0/1 is init on h2)',
    ],
  ];
  for (const [name, from, to, why] of REASONS) {
    it(`reports why it is TCP: ${name}`, () => expect(route(from, to).why.split(',')[0]).to.equal(why));
  }

  it('uses loopback between two sessions of one machine, even if it has RDMA', () => {
    const same = withHello(fast2, { boot_id: 'boot-1' });
    const found = route(fast1, same);
    expect(ways(found)).to.deep.equal([
      'tcp sender address 127.0.0.1: same machine',
      'tcp receiver address 127.0.0.1: same machine, receiver dials',
    ]);
    expect(found).to.include({ encrypt: 'never', why: 'tcp, not encrypted (stays on the machine)' });
    expect(route(fast1, same, { transport: 'rdma' }).candidates).to.deep.equal([]);
  });

  it('treats another network namespace as another machine', () => {
    const container = withHello(h2, { boot_id: 'boot-1', net_ns: 1 });
    expect(route(h1, container).why).to.contain('encrypted (leaves the machine)');
    expect(ways(route(h1, container))[0]).to.equal('tcp sender address 10.0.0.2: ssh address');
  });

  it('treats two machines without a boot id as different', () => {
    const unknown = (session: SessionFacts) => withHello(session, { boot_id: '' });
    expect(route(unknown(h1), unknown(h2)).encrypt).to.equal('tcp');
  });

  describe('with --data', () => {
    const data = (entries: Readonly<Record<string, string>>) => ({ data: dataFor(entries) });

    it('tries only that address, over RDMA if a port has it, then over TCP', () => {
      const found = route(fast1, fast2, data({ h1: '10.1.0.1', h2: '10.1.0.2' }));
      expect(ways(found)).to.deep.equal([
        'rdma sender address 10.1.0.2 from 10.1.0.1: mlx5_0, RoCE v2, 100 Gb/s',
        'tcp sender address 10.1.0.2: --data',
        'tcp receiver address 10.1.0.1: --data, receiver dials',
      ]);
      expect(found.bind).to.deep.equal({ sender: '10.1.0.1', receiver: '10.1.0.2', rdma: '10.1.0.2' });
    });

    it('excludes RDMA if the address is in another network', () => {
      const found = route(fast1, fast2, data({ h2: '10.0.0.2' }));
      expect(ways(found)[0]).to.equal('tcp sender address 10.0.0.2: --data');
      expect(found.why).to.contain('tcp (10.0.0.2 is not the address of an RDMA port on h2)');
    });

    it('finds RDMA from the address of only one end', () => {
      expect(ways(route(fast1, fast2, data({ h2: '10.1.0.2' })))[0]).to.match(/^rdma sender address 10\.1\.0\.2 from/);
    });

    it('accepts any spelling of the address', () => {
      const [six1, six2] = [fast(h1, '2001:db8::1/64'), fast(h2, '2001:db8::2/64')];
      const found = route(six1, six2, data({ h2: '2001:DB8:0::2' }));
      expect(ways(found)[0]).to.match(/^rdma sender address 2001:db8::2 from 2001:db8::1/);
    });
  });

  it('encrypts as set', () => {
    expect(route(h1, h2, { encrypt: 'never' })).to.include({
      encrypt: 'never',
      why: 'tcp (no RDMA device on h1 or h2), not encrypted (--encrypt never)',
    });
    expect(route(h1, h1, { encrypt: 'always' })).to.include({
      encrypt: 'always',
      why: 'tcp, encrypted (--encrypt always)',
    });
    expect(route(h1, h2, { encrypt: 'auth' })).to.include({
      encrypt: 'auth',
      why: 'tcp (no RDMA device on h1 or h2), authenticated, not encrypted (--encrypt auth)',
    });
    expect(route(fast1, fast2, { encrypt: 'auth' }).why).to.match(
      /^rdma .*, authenticated, not encrypted \(--encrypt auth\)$/,
    );
    expect(route(fast1, fast2, { encrypt: 'always' }).why).to.match(/^rdma .*, encrypted \(--encrypt always\)$/);
  });
});
