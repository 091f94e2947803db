import { expect } from 'chai';
import fc from 'fast-check';
import { HopError } from '../../src/model/errors.ts';
import type { Plan, PlannedLink } from '../../src/model/plan.ts';
import { LOCAL, type PlanInput } from '../../src/plan/facts.ts';
import { makePlan } from '../../src/plan/plan.ts';
import { dataFor, hello, inputFor, settingsWith } from './helpers.ts';

/** `0 hop local.stdin→1.stage`, `1 pipe 1`. */
function linkText(link: PlannedLink): string {
  const { number, kind } = link;
  if (kind === 'hop') return `${number} hop ${link.from}.${link.source}→${link.to}.${link.sink}`;
  if (kind === 'local') return `${number} local ${link.session}.${link.source}→${link.sink}`;
  return `${number} ${kind} ${link.session}`;
}

function linksOf(plan: Plan): readonly (readonly string[])[] {
  return plan.segments.map(({ links }) => links.map(linkText));
}

const BOTH = { stdin: 'send', stdout: 'arrive' } as const;
const NONE = { stdin: 'null', stdout: 'drop' } as const;

describe('plan', () => {
  const CASES: readonly (readonly [readonly string[], Pick<PlanInput, 'stdin' | 'stdout'>, readonly string[][]])[] = [
    [['h1:a', 'h2:b'], BOTH, [['0 hop local.stdin→1.stage', '1 hop 1.stage→2.stage', '2 hop 2.stage→local.stdout']]],
    [['h1:a', 'h2:b'], NONE, [['0 null 1', '1 hop 1.stage→2.stage', '2 null 2']]],
    [['h1:a', 'h1:b'], NONE, [['0 null 1', '1 pipe 1', '2 null 1']]],
    [[':a', ':b'], BOTH, [['0 stdin local', '1 pipe local', '2 stdout local']]],
    [
      ['h1:a', 'self:b', ':c'],
      NONE,
      [['0 null 1', '1 hop 1.stage→3.stage', '2 hop 3.stage→local.stage', '3 null local']],
    ],
    [['h1:< f', 'h1:a', 'h1:> g'], BOTH, [['1 local 1.stage→stage', '2 local 1.stage→stage']]],
    [['h1:< f', 'h2:> g'], BOTH, [['1 hop 1.stage→2.stage']]],
    [[':> f'], BOTH, [['0 local local.stdin→stage']]],
    [[':< f'], BOTH, [['1 local local.stage→stdout']]],
    [['h1:> f'], BOTH, [['0 hop local.stdin→1.stage']]],
    [['h1:> f'], NONE, [['0 local 1.null→stage']]],
    [['h1:< f'], NONE, [['1 local 1.stage→null']]],
    [['h1:< f'], BOTH, [['1 hop 1.stage→local.stdout']]],
    [
      ['h1:a', 'h1:< f', 'h1:b'],
      NONE,
      [
        ['0 null 1', '1 null 1'],
        ['2 local 1.stage→stage', '3 null 1'],
      ],
    ],
    [['h1:a', 'h2:> f', 'h1:< g'], NONE, [['0 null 1', '1 hop 1.stage→2.stage'], ['3 local 1.stage→null']]],
    [['h1:> f', 'h2:< g', 'h2:c'], NONE, [['0 local 1.null→stage'], ['2 local 2.stage→stage', '3 null 2']]],
  ];
  for (const [words, ends, links] of CASES) {
    it(`links ${words.join(' ')} (${ends.stdin}, ${ends.stdout})`, () => {
      expect(linksOf(makePlan(inputFor(words, ends)))).to.deep.equal(links);
    });
  }

  it('lists the sessions in the order of their first use', () => {
    expect(makePlan(inputFor(['h2:a', 'h1:b'], BOTH)).sessions).to.deep.equal([
      { id: LOCAL, label: 'this machine' },
      { id: '2', label: 'h2' },
      { id: '1', label: 'h1' },
    ]);
    expect(makePlan(inputFor(['h1:> f', 'h2:< g'])).sessions.map(({ id }) => id)).to.deep.equal(['1', '2']);
  });

  it('gives hops their settings', () => {
    const stream = {
      compressLevel: 3,
      jobs: 4,
      limitBytesPerS: 1000,
      numa: 'off',
      congestion: 'keep',
      streams: 3,
      bufferBytes: 65536,
    } as const;
    const times = { connectTimeoutMs: 1, stallTimeoutMs: 2 };
    const settings = settingsWith({ ...stream, ...times, ports: [7000, 7010], poll: true });
    const plan = makePlan(inputFor(['h1:a', 'h2:b'], { settings }));
    const sent = {
      compress: 3,
      jobs: 4,
      limit: 1000,
      numa: false,
      congestion: false,
      streams: 3,
      buffer: 65536,
      poll: true,
    };
    const open = { ...sent, connect_timeout_ms: 1, stall_timeout_ms: 2, encrypt: 'tcp', ports: [7000, 7010] };
    const link = plan.segments[0]?.links[1];
    expect(link?.kind === 'hop' && link.open).to.deep.include(open);
    expect(link).to.deep.include({
      transport: 'tcp',
      bind: { sender: '10.0.0.1', receiver: '10.0.0.2', rdma: null },
    });
  });

  it('gives a hop a connection for each given address of a host, unless their number is set', () => {
    const streamsWith = (streams: number) => {
      const settings = { ...settingsWith({ streams }), data: dataFor({ h2: '10.0.0.2,10.1.0.2,10.2.0.2' }) };
      const link = makePlan(inputFor(['h1:a', 'h2:b'], { settings })).segments[0]?.links[1];
      return link?.kind === 'hop' && link.open.streams;
    };
    expect([0, 2].map(streamsWith)).to.deep.equal([3, 2]);
  });

  it('reports what to do if no address is known', () => {
    const silent = (id: string, label: string, boot: string) =>
      [id, { id, label, hello: hello(boot, null), forwards: true }] as const;
    const sessions = new Map([silent('1', 'h1', 'a'), silent('2', 'h2', 'b')]);
    expect(() => makePlan(inputFor(['h1:a', 'h2:b'], { sessions }))).to.throw(
      HopError,
      'no address is known for a connection between h1 and h2 (give one with --data h2=ADDR)',
    );
  });

  it('plans any pipeline: every stage once, every link in one place, both ends of a stage known', () => {
    const host = fc.constantFrom('h1', 'h2', 'self', '');
    const command = fc.constantFrom('a', '< f', '> f', '>> f');
    const words = fc.array(fc.tuple(host, command), { minLength: 1, maxLength: 8 });
    const stdin = fc.constantFrom('send' as const, 'null' as const);
    const stdout = fc.constantFrom('arrive' as const, 'drop' as const);
    fc.assert(
      fc.property(words, stdin, stdout, (stages, input, output) => {
        // Only a source follows a sink.
        const written = stages.flatMap(([name, text], index) => {
          const isBehindSink = stages[index - 1]?.[1].startsWith('>') && text !== '< f';
          return [...(isBehindSink ? [`${name}:< f`] : []), `${name}:${text}`];
        });
        const plan = makePlan(inputFor(written, { stdin: input, stdout: output }));
        const planned = plan.segments.flatMap((segment) => segment.stages);
        expect(planned.map(({ stage }) => stage.number)).to.deep.equal(written.map((_, index) => index + 1));
        const numbers = plan.segments.flatMap(({ links }) => links.map(({ number }) => number));
        expect(new Set(numbers).size).to.equal(numbers.length);
        for (const { stage, in: before, out: after } of planned) {
          expect(before).to.equal(stage.kind === 'source' ? undefined : stage.number - 1);
          expect(after).to.equal(stage.kind === 'sink' ? undefined : stage.number);
        }
        for (const link of plan.segments.flatMap(({ links }) => links)) expectSound(link);
      }),
    );
  });

  it('is a program error when a session is missing', () => {
    expect(() => makePlan(inputFor(['h1:a'], { sessions: new Map() }))).to.throw(Error, 'session 1 is not open');
    expect(() => makePlan(inputFor(['h1:a'], { stageSessions: [] }))).to.throw(Error, 'stage 1 has no session');
  });
});

/** Hops join two sessions; the user's descriptors are only on this machine. */
function expectSound(link: PlannedLink): void {
  if (link.kind === 'hop') {
    expect(link.from).not.to.equal(link.to);
    if (link.source === 'stdin') expect(link.from).to.equal(LOCAL);
    if (link.sink === 'stdout') expect(link.to).to.equal(LOCAL);
    expect([link.source, link.sink]).not.to.contain('null');
    expect(link.candidates).not.to.have.lengthOf(0);
  }
  if (link.kind === 'stdin' || link.kind === 'stdout') expect(link.session).to.equal(LOCAL);
}
