import { expect } from 'chai';
import type { PlannedLink } from '../../src/model/plan.ts';
import { describeOpenssl, describePlan } from '../../src/plan/describe.ts';
import type { PlanInput, SessionFacts } from '../../src/plan/facts.ts';
import { makePlan } from '../../src/plan/plan.ts';
import { inputFor, nic, rdmaPort, SESSIONS, settingsWith, withHello } from './helpers.ts';

function lines(words: readonly string[], changes: Partial<PlanInput> = {}): readonly string[] {
  return describePlan(makePlan(inputFor(words, changes)));
}

/** Returns link 1 with RDMA instead of TCP, and other links unchanged. */
function overRdma(link: PlannedLink): PlannedLink {
  if (link.kind !== 'hop' || link.number !== 1) return link;
  return { ...link, candidates: link.candidates.map((candidate) => ({ ...candidate, transport: 'rdma' as const })) };
}

describe('describe', () => {
  it('shows stages and hops in the order of the data', () => {
    expect(lines(['h1:tr a-z A-Z', 'h2:rev'], { stdout: 'arrive' })).to.deep.equal([
      'no input (end of file at once)',
      'stage 1 h1: tr a-z A-Z',
      'h1→h2 tcp (no RDMA device on h1 or h2), encrypted (leaves the machine)',
      '  h1 dials 10.0.0.2 (ssh address)',
      '  otherwise h2 dials 10.0.0.1 (ssh address, receiver dials)',
      'stage 2 h2: rev',
      'h2→standard output tcp (no RDMA device on h2 or this machine), encrypted (leaves the machine)',
      '  h2 dials 10.0.0.9 (ssh address)',
      '  otherwise this machine dials 10.0.0.2 (ssh address, receiver dials)',
      '  otherwise this machine forwarded through ssh',
    ]);
  });

  for (const [hops, words, changes, text] of [
    ['over TCP', ['h1:a', 'h2:b'], {}, ['hops have OpenSSL 3.5.9']],
    ['that are not protected', ['h1:a', 'h2:b'], { encrypt: 'never' }, []],
    ['within one host', ['h1:a', 'h1:b'], {}, []],
  ] as const)
    it(`names the OpenSSL of hops ${hops}`, () => {
      const plan = makePlan(inputFor(words, { settings: settingsWith(changes) }));
      expect(describeOpenssl(plan, '3.5.9')).to.deep.equal(text);
    });

  it('names the OpenSSL of hops of both transports', () => {
    const plan = makePlan(inputFor(['h1:a', 'h2:b', 'h1:c']));
    const segments = plan.segments.map((segment) => ({ ...segment, links: segment.links.map(overRdma) }));
    expect(describeOpenssl({ ...plan, segments }, '3.5.9')).to.deep.equal([
      'hops that may use RDMA have the OpenSSL of their hosts, others OpenSSL 3.5.9',
    ]);
  });

  it('shows the devices of RDMA', () => {
    const fast = (session: SessionFacts, address: string) =>
      withHello(session, {
        addresses: [...session.hello.addresses, nic('ib0', address)],
        rdma: [rdmaPort('mlx5_0', 'ib0')],
      });
    const [h1, h2] = [fast(SESSIONS.h1, '10.1.0.1/24'), fast(SESSIONS.h2, '10.1.0.2/24')];
    const sessions = new Map([h1, h2].map((session) => [session.id, session]));
    expect(lines(['h1:a', 'h2:b'], { sessions }).slice(2, -2)).to.deep.equal([
      'h1→h2 rdma mlx5_0 (RoCE v2, 100 Gb/s), authenticated, not encrypted (the default of RDMA)',
      '  h1 dials 10.1.0.2 from 10.1.0.1 (rdma mlx5_0, RoCE v2, 100 Gb/s)',
      '  otherwise h1 dials 10.0.0.2 (tcp, ssh address)',
      '  otherwise h2 dials 10.0.0.1 (tcp, ssh address, receiver dials)',
    ]);
  });

  it('shows encryption and compression of the stream', () => {
    const hopLine = (settings: PlanInput['settings']) => lines(['h1:a', 'h2:b'], { settings })[2];
    const why = 'h1→h2 tcp (no RDMA device on h1 or h2), encrypted (leaves the machine)';
    expect(hopLine(settingsWith({ compressLevel: 3 }))).to.equal(`${why}, compressed (zstd, level 3)`);
    expect(hopLine(settingsWith({ limitBytesPerS: 1.5 * 1024 ** 3 }))).to.equal(`${why}, at most 1.5 GiB/s`);
    expect(hopLine(settingsWith({ compressLevel: 1, limitBytesPerS: 500 }))).to.equal(
      `${why}, compressed (zstd, level 1), at most 500 B/s`,
    );
  });

  it('shows data that stays on one host', () => {
    expect(lines([':a', ':b', ':> f'], { stdin: 'send' })).to.deep.equal([
      'standard input, directly',
      'stage 1 this machine: a',
      'local pipe on this machine',
      'stage 2 this machine: b',
      'within this machine, acknowledged to the end',
      'stage 3 this machine: > f',
    ]);
    expect(lines([':a']).at(-1)).to.equal('output is discarded');
    expect(lines([':a'], { stdout: 'arrive' }).at(-1)).to.equal('standard output, directly');
    expect(lines([':> f'])[0]).to.equal('nothing→this machine, acknowledged to the end');
  });

  it('shows segments that run one after another', () => {
    expect(lines(['h1:a', 'h1:< f']).filter((line) => line.startsWith('part'))).to.deep.equal([
      'part 1 of 2',
      'part 2 of 2',
    ]);
  });
});
