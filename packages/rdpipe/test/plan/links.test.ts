import { expect } from 'chai';
import type { Segment } from '../../src/model/plan.ts';
import { LOCAL, type PlanInput } from '../../src/plan/facts.ts';
import { agentLinks, agentStages, keyedLinks } from '../../src/plan/links.ts';
import { makePlan } from '../../src/plan/plan.ts';
import { OPEN } from '../run/sample.ts';
import { copyFor, inputFor, treeStage } from './helpers.ts';

const KEYS = { links: new Map([0, 1, 2, 3].map((link) => [link, String(link).repeat(64)])), chains: new Map() };

function firstSegment(words: readonly string[], changes: Partial<PlanInput> = {}): Segment {
  const [segment] = makePlan(inputFor(words, changes)).segments;
  if (segment === undefined) throw new Error('no segment');
  return segment;
}

function withRdmaInLastHop(segment: Segment): Segment {
  const last = segment.links.findLast(({ kind }) => kind === 'hop');
  const links = segment.links.map((link) => {
    if (link !== last || link.kind !== 'hop') return link;
    return { ...link, candidates: link.candidates.map((candidate) => ({ ...candidate, transport: 'rdma' as const })) };
  });
  return { ...segment, links };
}

describe('links', () => {
  it('gives each end of a hop its part', () => {
    const segment = firstSegment(['h1:a', 'h2:b'], { stdin: 'send' });
    const open = (hop: number, bind: string) => ({ run: 'r', ...OPEN, hop, key: String(hop).repeat(64), bind });
    expect(agentLinks(segment, LOCAL, KEYS, 'r')).to.deep.equal([
      { link: 0, kind: 'hop', end: 'send', source: 'stdin', open: open(0, '10.0.0.9') },
    ]);
    expect(agentLinks(segment, '1', KEYS, 'r')).to.deep.equal([
      { link: 0, kind: 'hop', end: 'recv', sink: 'stage', open: open(0, '10.0.0.1') },
      { link: 1, kind: 'hop', end: 'send', source: 'stage', open: open(1, '10.0.0.1') },
    ]);
    expect(agentLinks(segment, '2', KEYS, 'r')).to.deep.equal([
      { link: 1, kind: 'hop', end: 'recv', sink: 'stage', open: open(1, '10.0.0.2') },
      { link: 2, kind: 'null' },
    ]);
    expect(agentLinks(segment, '3', KEYS, 'r')).to.deep.equal([]);
  });

  it('says at both ends whether RDMA may be used, in a chain for all of its hops', () => {
    for (const words of [
      ['h1:a', 'h2:b'],
      [':< f', 'h1,h2:> g'],
    ]) {
      const segment = firstSegment(words);
      const keys = { ...KEYS, links: new Map(keyedLinks(segment).map((link) => [link, '0'.repeat(64)])) };
      const rdma = (of: Segment) =>
        [LOCAL, '1', '2']
          .flatMap((session) => agentLinks(of, session, keys, 'r'))
          .flatMap((link) => (link.kind === 'hop' ? [link.rdma] : []));
      expect(new Set(rdma(segment))).to.deep.equal(new Set([undefined]));
      expect(new Set(rdma(withRdmaInLastHop(segment)))).to.deep.equal(new Set([true]));
    }
  });

  it('describes pipes and local links', () => {
    const segment = firstSegment(['h1:< f', 'h1:a', 'h1:b']);
    const { buffer, connect_timeout_ms, stall_timeout_ms } = OPEN;
    const options = { buffer, connect_timeout_ms, stall_timeout_ms };
    const open = { run: 'r', key: '1'.repeat(64), hop: 1, encrypt: 'never', ...options };
    expect(agentLinks(segment, '1', KEYS, 'r')).to.deep.equal([
      { link: 1, kind: 'local', source: 'stage', sink: 'stage', open },
      { link: 2, kind: 'pipe' },
      { link: 3, kind: 'null' },
    ]);
    expect(keyedLinks(segment)).to.deep.equal([1]);
  });

  it('tells the ends of a chain how many hosts follow them', () => {
    const segment = firstSegment([':< f', 'h1,h2:> g']);
    const keys = { ...KEYS, links: new Map(keyedLinks(segment).map((link) => [link, '0'.repeat(64)])) };
    const links = [LOCAL, '1', '2'].map((session) => agentLinks(segment, session, keys, 'r'));
    const behind = links.map((own) => own.flatMap((link) => ('open' in link ? [link.open.behind] : [])));
    expect(behind).to.deep.equal([[2], [1, 1], [0]]);
  });

  it('describes only the stages of one session, their bytes in hexadecimal', () => {
    const segment = firstSegment(['h1:< ~/f', 'h2:cat', 'h1:>> g']);
    expect(agentStages(segment, '1')).to.deep.equal([
      { stage: 1, kind: 'source', word: Buffer.from('~/f').toString('hex'), out: 1 },
      { stage: 3, kind: 'sink', word: '67', append: true, in: 2 },
    ]);
    expect(agentStages(segment, '2')).to.deep.equal([
      { stage: 2, kind: 'command', command: '636174', shell: 'sh', ok: [0], in: 1, out: 2 },
    ]);
  });

  it('joins the programs of a copy as commands, by hops and pipes', () => {
    const [segment] = makePlan(copyFor()).segments;
    expect(segment?.links.map(({ number, kind }) => [number, kind])).to.deep.equal([
      [0, 'null'],
      [1, 'hop'],
      [2, 'hop'],
      [3, 'hop'],
      [4, 'null'],
    ]);
    expect(segment && agentStages(segment, '2')).to.deep.equal([
      { stage: 2, kind: 'tree', settings: { role: 'compare', run: 'a-1' }, in: 1, out: 2 },
      { stage: 4, kind: 'tree', settings: { role: 'write', run: 'a-1' }, in: 3, out: 4 },
    ]);
    const within = makePlan(
      copyFor([
        ['scan', 'h1'],
        ['compare', 'h1'],
        ['copy', 'h1'],
      ]),
    );
    expect(within.segments[0]?.links.map(({ kind }) => kind)).to.deep.equal(['null', 'pipe', 'pipe', 'null']);
  });

  it("gives a copy the user's input and output if requested", () => {
    const [remote] = makePlan(copyFor(undefined, { stdin: 'send', stdout: 'arrive' })).segments;
    expect(remote?.links.map(({ kind }) => kind)).to.deep.equal(['hop', 'hop', 'hop', 'hop', 'hop']);
    expect(remote?.links[0]).to.include({ source: 'stdin', sink: 'stage' });
    expect(remote?.links[4]).to.include({ source: 'stage', sink: 'stdout' });
    const stages = [treeStage(1, '', 'scan'), treeStage(2, '', 'compare')] as const;
    const here = { pipeline: { stages }, stageSessions: [LOCAL, LOCAL], stdin: 'send', stdout: 'arrive' } as const;
    const [local] = makePlan(inputFor(['h1:true'], here)).segments;
    expect(local?.links.map(({ kind }) => kind)).to.deep.equal(['stdin', 'pipe', 'stdout']);
  });

  it('fails without a key', () => {
    expect(() => agentLinks(firstSegment(['h1:a', 'h2:b']), '1', { ...KEYS, links: new Map() }, 'r')).to.throw(
      'link 1 has no key',
    );
  });
});
