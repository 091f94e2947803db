import { expect } from 'chai';
import fc from 'fast-check';
import { describePlan } from '../../src/plan/describe.ts';
import { LOCAL, type PlanInput } from '../../src/plan/facts.ts';
import { makePlan } from '../../src/plan/plan.ts';
import { parse } from '../parse/helpers.ts';
import { dataFor, hello, inputFor, nic, SESSIONS, settingsWith, withHello } from './helpers.ts';

/** The machine and the addresses of each host of the pipeline: `machine 10.0.0.1/24 …`. */
type Hosts = Readonly<Record<string, string>>;

function inputOf(words: readonly string[], hosts: Hosts, changes: Partial<PlanInput['settings']> = {}): PlanInput {
  const pipeline = parse([...words]);
  const sessions = Object.entries(hosts).map(([name, place]) => {
    const [machine = '', ...own] = place.split(' ');
    const addresses = own.map((address, index) => nic(`eth${index}`, address, { speed_mbps: 1000 * (index + 1) }));
    const ssh = `192.0.2.1 999 ${own[0]?.split('/')[0]} 22`;
    return withHello({ id: name, label: name, hello: hello(machine, ssh), forwards: true }, { addresses });
  });
  return inputFor(['h1:true'], {
    pipeline,
    stageSessions: pipeline.stages.map(({ host }) => host.name),
    sessions: new Map([SESSIONS.local, ...sessions].map((session) => [session.id, session])),
    settings: settingsWith({ order: 'near', ...changes }),
  });
}

/** Returns the hosts of the plan's chain, from the first sender. */
function chainOf(input: PlanInput): readonly string[] {
  const [segment] = makePlan(input).segments;
  const hops = segment?.links.flatMap((link) => (link.kind === 'hop' && link.chain ? [link] : [])) ?? [];
  expect(hops.slice(1).map(({ chain }) => chain?.relay)).to.deep.equal(hops.slice(0, -1).map(({ number }) => number));
  expect(hops.map(({ chain }) => chain?.receivers)).to.deep.equal(hops.map((_, index) => hops.length - index));
  expect(new Set(hops.map(({ chain }) => chain?.head))).to.deep.equal(new Set([hops[0]?.number]));
  return [hops[0]?.from ?? '', ...hops.map(({ to }) => to)];
}

const H1 = { h1: 'm0 10.0.1.1/24' };

describe('hosts in near order', () => {
  for (const [what, hosts, expected] of [
    [
      'by address, as numbers',
      { a: 'm1 10.0.1.20/24', b: 'm2 10.0.1.100/24', c: 'm3 10.0.1.3/24' },
      ['h1', 'c', 'a', 'b'],
    ],
    [
      'subnet by subnet',
      { a: 'm1 10.0.3.1/24', b: 'm2 10.0.2.1/24', c: 'm3 10.0.3.2/24', d: 'm4 10.0.2.2/24' },
      ['h1', 'b', 'd', 'a', 'c'],
    ],
    [
      "the sender's subnet first",
      { a: 'm1 10.0.0.1/24', b: 'm2 10.0.1.9/24', c: 'm3 10.0.2.1/24' },
      ['h1', 'b', 'a', 'c'],
    ],
    ["the sender's machine before that", { a: 'm1 10.0.1.2/24', b: 'm0 10.0.1.9/24' }, ['h1', 'b', 'a']],
    [
      'with hosts of one machine together',
      { a: 'm1 10.0.1.2/24', b: 'm2 10.0.1.3/24', c: 'm1 10.0.1.4/24' },
      ['h1', 'a', 'c', 'b'],
    ],
    [
      "by each host's fastest address",
      { a: 'm1 10.0.1.2/24 10.9.0.2/24', b: 'm2 10.0.1.3/24 10.9.0.1/24' },
      ['h1', 'b', 'a'],
    ],
    [
      'with IPv4 before IPv6',
      { a: 'm1 2001:db8::1/64', b: 'm2 10.0.2.1/24', c: 'm3 2001:db8::/64' },
      ['h1', 'b', 'c', 'a'],
    ],
  ] as const satisfies readonly (readonly [string, Hosts, readonly string[]])[]) {
    it(`are sorted ${what}`, () => {
      const words = ['h1:< f', `${Object.keys(hosts).join(',')}:> f`];
      expect(chainOf(inputOf(words, { ...H1, ...hosts }))).to.deep.equal(expected);
      const written = inputOf(words, { ...H1, ...hosts }, { order: 'written' });
      expect(chainOf(written)).to.deep.equal(['h1', ...Object.keys(hosts)]);
    });
  }

  it('are sorted by the addresses that the user gives', () => {
    const hosts = { ...H1, a: 'm1 10.0.1.2/24', b: 'm2 10.0.1.3/24' };
    const data = dataFor({ a: '10.7.0.2', b: '10.7.0.1' });
    expect(chainOf(inputOf(['h1:< f', 'a,b:> f'], hosts, { data }))).to.deep.equal(['h1', 'b', 'a']);
  });

  it('get data from this machine starting with the nearest', () => {
    const hosts = { a: 'm1 10.0.7.2/24', b: 'm2 10.0.0.3/24' };
    const input = { ...inputOf(['a,b:> f'], hosts), stdin: 'send' } as const;
    expect(chainOf(input)).to.deep.equal([LOCAL, 'b', 'a']);
  });

  it('are shown in that order, before the stages', () => {
    const hosts = { ...H1, a: 'm1 10.0.1.5/24', b: 'm2 10.0.1.3/24' };
    const lines = describePlan(makePlan(inputOf(['h1:< f', 'a,b:> g'], hosts))).filter((line) => !line.startsWith(' '));
    expect(lines).to.have.length(4);
    expect(lines[0]).to.equal('stage 1 h1: < f');
    expect(lines[1]).to.match(/^h1→b→a: chain/);
    expect(lines.slice(2)).to.deep.equal(['stage 2 a: > g', 'stage 2 b: > g']);
  });

  it('are all present, and each subnet is visited once', () => {
    const places = fc.uniqueArray(fc.tuple(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 2, max: 200 })), {
      minLength: 2,
      maxLength: 12,
      selector: ([net, host]) => `${net}.${host}`,
    });
    fc.assert(
      fc.property(places, (drawn) => {
        const hosts = Object.fromEntries(
          drawn.map(([net, host], index) => [`n${index}`, `m${index + 1} 10.0.${net}.${host}/24`]),
        );
        const names = Object.keys(hosts);
        const [, ...chain] = chainOf(inputOf(['h1:< f', `${names.join(',')}:> f`], { ...H1, ...hosts }));
        expect([...chain].sort()).to.deep.equal([...names].sort());
        const nets = chain.map((name) => hosts[name]?.replace(/\.\d+\/24$/, '').replace(/^\S+ /, ''));
        const changes = nets.filter((net, index) => net !== nets[index - 1]);
        expect(changes).to.have.length(new Set(nets).size);
        if (nets.includes('10.0.1')) expect(nets[0]).to.equal('10.0.1');
      }),
    );
  });
});
