import { expect } from 'chai';
import type { PlanInput, SessionFacts } from '../../src/plan/facts.ts';
import { type Route, routeHop } from '../../src/plan/route.ts';
import { dataFor, hello, inputFor, SESSIONS } from './helpers.ts';

const { local, h1, h2, self } = SESSIONS;
const WORDS = ['h1:a', 'h2:b', 'self:c'];

function route(from: SessionFacts, to: SessionFacts, changes: Partial<PlanInput> = {}): Route {
  return routeHop(from, to, inputFor(WORDS, changes));
}

function withData(entries: Readonly<Record<string, string>>): Partial<PlanInput> {
  return { settings: { ...inputFor(WORDS).settings, data: dataFor(entries) } };
}

/** `sender dials 10.0.0.2: address of ssh`. */
function ways({ candidates }: Route): readonly string[] {
  return candidates.map(({ dialler, way, host, why }) => `${dialler} ${way} ${host}: ${why}`);
}

describe('route', () => {
  it('dials the receiver first, then the sender, between two hosts', () => {
    const found = route(h1, h2);
    expect(ways(found)).to.deep.equal([
      'sender address 10.0.0.2: address of ssh',
      'receiver address 10.0.0.1: address of ssh, receiver dials',
    ]);
    expect(found.bind).to.deep.equal({ sender: '10.0.0.1', receiver: '10.0.0.2' });
  });

  it('falls back to a forward where one end is this machine', () => {
    const there = route(local, h1);
    expect(ways(there)).to.deep.equal([
      'sender address 10.0.0.1: address of ssh',
      'receiver address 10.0.0.9: address of ssh, receiver dials',
      'sender forward 10.0.0.1: forwarded through ssh',
    ]);
    expect(there.bind).to.deep.equal({ sender: '10.0.0.9', receiver: '10.0.0.1' });
    expect(ways(route(h1, local))).to.deep.equal([
      'sender address 10.0.0.9: address of ssh',
      'receiver address 10.0.0.1: address of ssh, receiver dials',
      'receiver forward 10.0.0.1: forwarded through ssh',
    ]);
  });

  it('does not have itself dialled under an address that it has not', () => {
    const behindNat = { localAddresses: ['127.0.0.1', '192.168.1.5'] };
    const found = route(h1, local, behindNat);
    expect(ways(found)).to.deep.equal([
      'receiver address 10.0.0.1: address of ssh, receiver dials',
      'receiver forward 10.0.0.1: forwarded through ssh',
    ]);
    expect(found.bind).to.deep.equal({ sender: '10.0.0.1', receiver: null });
  });

  it('uses given addresses first, on any host', () => {
    const found = route(h1, h2, withData({ h1: '172.16.0.1', h2: '172.16.0.2' }));
    expect(ways(found)).to.deep.equal([
      'sender address 172.16.0.2: --data',
      'receiver address 172.16.0.1: --data, receiver dials',
    ]);
    expect(found.bind).to.deep.equal({ sender: '172.16.0.1', receiver: '172.16.0.2' });
  });

  it('binds a given address of its own only where it has it', () => {
    const outside = route(h1, local, withData({ '': '198.51.100.7' }));
    expect(ways(outside)[0]).to.equal('sender address 198.51.100.7: --data');
    expect(outside.bind.receiver).to.equal(null);
    expect(route(h1, local, withData({ '': '10.0.0.9' })).bind.receiver).to.equal('10.0.0.9');
  });

  it('stays on loopback between two sessions of one machine', () => {
    const same = { ...h2, hello: { ...h2.hello, boot_id: 'boot-1' } };
    const found = route(h1, same);
    expect(ways(found)).to.deep.equal([
      'sender address 127.0.0.1: same machine',
      'receiver address 127.0.0.1: same machine, receiver dials',
    ]);
    expect(found).to.include({ encrypt: false, why: 'tcp, not encrypted (stays on the machine)' });
  });

  it('takes another network namespace for another machine', () => {
    const container = { ...h2, hello: { ...h2.hello, boot_id: 'boot-1', net_ns: 1 } };
    expect(route(h1, container)).to.include({ encrypt: true, why: 'tcp, encrypted (leaves the machine)' });
    expect(ways(route(h1, container))[0]).to.equal('sender address 10.0.0.2: address of ssh');
  });

  it('takes two machines that do not know their boot id for two', () => {
    const unknown = (session: SessionFacts) => ({ ...session, hello: { ...session.hello, boot_id: '' } });
    expect(route(unknown(h1), unknown(h2)).encrypt).to.equal(true);
  });

  it('names this machine, reached by ssh over loopback, as the other host sees it', () => {
    expect(ways(route(self, h1))).to.deep.equal([
      'sender address 10.0.0.1: address of ssh',
      'receiver address 10.0.0.9: address of ssh, receiver dials',
    ]);
    expect(route(self, h1).bind.sender).to.equal('10.0.0.9');
  });

  it('has no use for a loopback address of another machine', () => {
    const tunnelled = { ...h2, hello: hello('boot-2', '127.0.0.1 1 127.0.0.1 22') };
    expect(ways(route(h1, tunnelled))).to.deep.equal(['receiver address 10.0.0.1: address of ssh, receiver dials']);
    const toTunnelled = route(local, tunnelled);
    expect(ways(toTunnelled)).to.deep.equal(['sender forward 127.0.0.1: forwarded through ssh']);
    expect(toTunnelled.bind).to.deep.equal({ sender: null, receiver: '127.0.0.1' });
  });

  const UNROUTABLE = ['::1', 'fe80::1', 'fe80::1%eth0', '169.254.1.1', 'UNKNOWN'];
  for (const address of UNROUTABLE) {
    it(`does not offer ${address} to another machine`, () => {
      const odd = { ...h2, hello: hello('boot-2', `${address} 1 ${address} 22`) };
      expect(ways(route(h1, odd))).to.deep.equal(['receiver address 10.0.0.1: address of ssh, receiver dials']);
    });
  }

  it('reads an IPv4 address that is written as IPv6', () => {
    const mapped = { ...h2, hello: hello('boot-2', '::ffff:10.0.0.9 1 ::ffff:10.0.0.2 22') };
    expect(ways(route(h1, mapped))[0]).to.equal('sender address 10.0.0.2: address of ssh');
  });

  it('finds no way between hosts that say nothing', () => {
    const silent = (session: SessionFacts) => ({ ...session, hello: { ...session.hello, ssh_connection: null } });
    expect(route(silent(h1), silent(h2)).candidates).to.deep.equal([]);
    const broken = { ...h2, hello: { ...h2.hello, ssh_connection: 'nonsense' } };
    expect(ways(route(silent(h1), broken))).to.deep.equal([]);
  });

  it('encrypts as it is told', () => {
    const encrypt = (mode: 'always' | 'never') => ({ settings: { ...inputFor(WORDS).settings, encrypt: mode } });
    expect(route(h1, h2, encrypt('never'))).to.include({ encrypt: false, why: 'tcp, not encrypted (--encrypt never)' });
    expect(route(h1, h1, encrypt('always'))).to.include({ encrypt: true, why: 'tcp, encrypted (--encrypt always)' });
  });
});
