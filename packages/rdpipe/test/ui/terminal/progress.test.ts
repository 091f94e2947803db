import { expect } from 'chai';
import { withGathers } from '../../../src/plan/gather-stages.ts';
import { makePlan } from '../../../src/plan/plan.ts';
import { createProgress, type Progress } from '../../../src/ui/terminal/progress.ts';
import { progressRows } from '../../../src/ui/terminal/progress-rows.ts';
import { DEFAULTS } from '../../default-settings.ts';
import { wideInputFor } from '../../plan/helpers.ts';
import { type Counters, counters, planFor } from '../helpers.ts';

describe('progress', () => {
  let now: number;
  let progress: Progress;
  const start = (words: readonly string[], expectedBytes?: number) => {
    now = 1000;
    progress = createProgress(expectedBytes, () => now);
    progress.planned(planFor(words));
    progress.segmentStarted(1);
  };
  const at = (time: number, ...events: readonly Partial<Counters>[]) => {
    now = time;
    for (const event of events) progress.counted(counters(event));
  };

  it('shows nothing before a plan, or without hops', () => {
    const empty = createProgress(undefined, () => 0);
    empty.segmentStarted(1);
    expect(empty.hops()).to.deep.equal([]);
    start(['h1:a', 'h1:b']);
    expect(progress.hops()).to.deep.equal([]);
  });

  it('names hops, and links to files within a host', () => {
    start(['h1:< f', 'h1:a', 'h2:b']);
    expect(progress.hops().map(({ name }) => name)).to.deep.equal(['within h1', 'h1→h2']);
  });

  it('counts what has arrived', () => {
    start(['h1:a', 'h2:b']);
    at(1000, { end: 'send', bytes: 500 }, { bytes: 100 });
    expect(progress.hops()[0]).to.include({ bytes: 100, bytesPerSecond: 0, waitsFor: undefined });
    at(2000, { bytes: 1100 });
    expect(progress.hops()[0]).to.include({ bytes: 1100, bytesPerSecond: 1000 });
    at(2500, { bytes: 900, link: 7 });
    expect(progress.hops()[0]).to.include({ bytes: 1100 });
  });

  it('lets the rate fall when no more counters arrive', () => {
    start(['h1:a', 'h2:b']);
    at(1000, { bytes: 0 });
    at(2000, { bytes: 1000 });
    const rateAt = (time: number) => {
      now = time;
      return progress.hops()[0]?.bytesPerSecond;
    };
    expect([rateAt(2900), rateAt(6000)]).to.deep.equal([1000, 200]);
  });

  it('computes the rate over three seconds', () => {
    start(['h1:a', 'h2:b']);
    for (let second = 1; second <= 10; second++) at(second * 1000, { bytes: second <= 5 ? second * 100 : 500 });
    expect(progress.hops()[0]).to.include({ bytes: 500, bytesPerSecond: 0 });
  });

  it('shows what a hop is waiting for', () => {
    start(['h1:a', 'h2:b']);
    const waits = () => progress.hops()[0]?.waitsFor;
    at(1000, { end: 'send', inputMs: 10, wireMs: 20 }, { outputMs: 10 });
    expect(waits()).to.equal(undefined);
    at(2000, { end: 'send', inputMs: 900, wireMs: 30 }, { outputMs: 20 });
    expect(waits()).to.equal('input');
    at(3000, { end: 'send', inputMs: 910, wireMs: 980 }, { outputMs: 30 });
    expect(waits()).to.equal('wire');
    at(4000, { end: 'send', inputMs: 920, wireMs: 1900 }, { outputMs: 900 });
    expect(waits()).to.equal('output');
    at(5000, { end: 'send', inputMs: 920, limitMs: 950, wireMs: 1910 }, { outputMs: 910 });
    expect(waits()).to.equal('limit');
    at(6000, { end: 'send', workerMs: 900, wireMs: 1920 }, { outputMs: 920 });
    expect(waits()).to.equal('worker');
  });

  it('estimates the time left if the size is known', () => {
    start(['h1:< f', 'h2:b']);
    progress.sizeKnown({ kind: 'size', link: 1, bytes: 4096 });
    progress.sizeKnown({ kind: 'size', link: 9, bytes: 1 });
    // A file is opened, and its size reported, before its segment starts.
    progress.segmentStarted(1);
    at(1000, { bytes: 0 });
    at(2000, { bytes: 1024 });
    expect(progress.hops()[0]).to.include({ size: 4096, secondsLeft: 3 });
    at(3000, { bytes: 5000 });
    expect(progress.hops()[0]?.secondsLeft).to.equal(undefined);
  });

  it('uses the expected size for the first hop', () => {
    start(['h1:a', 'h2:b', 'self:c'], 4096);
    expect(progress.hops().map(({ size }) => size)).to.deep.equal([4096, undefined]);
  });

  it('shows that a hop has no connection until both its ends have a new one', () => {
    start(['h1:a', 'h2:b', 'h1:c']);
    const broke = (end: 'send' | 'recv') =>
      progress.broke({ kind: 'hop_broken', link: 1, end, host: 'h', message: 'connection reset' });
    const resumed = (end: 'send' | 'recv') =>
      progress.resumed({ kind: 'hop_resumed', link: 1, end, host: 'h', bytes: 9 });
    const reconnecting = () => progress.hops().map((hop) => hop.reconnecting);
    expect(reconnecting()).to.deep.equal([false, false]);
    broke('send');
    broke('recv');
    resumed('send');
    expect(reconnecting()).to.deep.equal([true, false]);
    resumed('recv');
    expect(reconnecting()).to.deep.equal([false, false]);
  });

  it('shows the running segment', () => {
    start(['h1:a', 'h2:> f', 'h2:< g', 'h1:b']);
    expect(progress.hops().map(({ link }) => link)).to.deep.equal([1]);
    progress.segmentStarted(2);
    expect(progress.hops().map(({ link }) => link)).to.deep.equal([3]);
  });

  describe('of many hosts', () => {
    const startMany = () => {
      now = 1000;
      progress = createProgress(undefined, () => now);
      progress.planned(makePlan(wideInputFor(['h1:< f', 'n[01-32]:cat > f'])));
      progress.segmentStarted(1);
      const links = progress.hops().map(({ link }) => link);
      progress.sizeKnown({ kind: 'size', link: links[0] ?? 0, bytes: 10_000_000 });
      for (const second of [1, 2]) {
        const waits = (index: number) => (index === 6 ? { outputMs: second * 900 } : {});
        at(second * 1000, ...links.map((link, index) => ({ link, bytes: 1e6 * second + index, ...waits(index) })));
      }
      return links;
    };

    it('fits a terminal of 24 rows: totals, and the slowest three', () => {
      startMany();
      const rows = progressRows(progress.hops(), 100);
      expect(rows[0]).to.match(/^h1→32 hosts +61\.0 MiB +30\.\d+ MiB\/s +20% of 9\.5 MiB each +ETA 0:08$/);
      expect(rows.slice(1).map((row) => row.split(/ {2,}/)[1])).to.deep.equal(['n06→n07', 'h1→n01', 'n01→n02']);
      expect(rows[1]).to.match(/ waiting for output$/);
    });

    it('names those that are lost, and does not count them', () => {
      startMany();
      progress.lost('n07');
      const [sum = '', ...rest] = progressRows(progress.hops(), 100);
      expect(sum).to.match(/ 59\.1 MiB .* ETA 0:\d+$/);
      expect(rest.join()).not.to.contain('→n07');
      for (const host of ['n09', 'n08']) progress.lost(host);
      expect(progressRows(progress.hops(), 100)).to.have.length(5);
      expect(progressRows(progress.hops(), 100).at(-1)).to.equal('  lost n[07-09]');
    });

    it('names those whose commands failed, also if their output is gathered', () => {
      progress = createProgress(undefined, () => now);
      const input = wideInputFor(['n[01-32]:cat', 'h1:cat']);
      const pipeline = withGathers(input.pipeline, { stdout: 'drop' }, DEFAULTS);
      const stageSessions = pipeline.stages.map(({ host }) => host.name);
      progress.planned(makePlan({ ...input, pipeline, stageSessions }));
      progress.segmentStarted(1);
      const exited = (host: string, code: number | null, how: { stopped?: boolean; consumerClosed?: boolean } = {}) => {
        const signal = code === null ? 9 : null;
        const stage = Number(host.slice(1));
        const not = { stopped: false, consumerClosed: false };
        progress.exited({ kind: 'stage_exited', stage, host, code, signal, ...not, ...how });
      };
      exited('n01', 0);
      exited('n02', null, { consumerClosed: true });
      for (const host of ['n03', 'n05']) exited(host, 1);
      exited('n04', null);
      exited('n06', null, { stopped: true });
      progress.lost('n09');
      const rows = progressRows(progress.hops(), 100);
      expect(rows[0]).to.match(/^32 hosts→h1 /);
      expect(rows.slice(-2)).to.deep.equal(['  failed n[03-05]', '  lost n09']);
    });

    it('has one row per host for a few hosts', () => {
      now = 1000;
      progress = createProgress(undefined, () => now);
      progress.planned(makePlan(wideInputFor(['h1:< f', 'n[1-4]:cat'])));
      progress.segmentStarted(1);
      expect(progressRows(progress.hops(), 79)).to.have.length(4);
    });

    it('names the slow host, not those before it that wait for it', () => {
      const links = startMany().slice(0, 8);
      at(3000, ...links.map((link) => ({ end: 'send' as const, link, wireMs: 900 })));
      const waits = progress
        .hops()
        .slice(0, 8)
        .map(({ waitsFor }) => waitsFor);
      expect(waits.slice(0, 7)).to.deep.equal([...Array(6).fill(undefined), 'output']);
      expect(waits[7]).to.equal('wire');
    });
  });
});

describe('rows', () => {
  const hop = {
    link: 1,
    group: 0,
    name: 'h1→h2',
    from: 'h1',
    to: 'h2',
    host: 'h2',
    state: 'running',
    bytes: 1024,
    compress: 0,
    wireBytes: 1100,
    bytesPerSecond: 2_000_000,
    reconnecting: false,
  } as const;
  const unknown = { waitsFor: undefined, size: undefined, secondsLeft: undefined };

  it('shows bytes, rate, percentage and the reason for waiting', () => {
    const rows = progressRows(
      [
        { ...hop, waitsFor: 'output', size: 4096, secondsLeft: 65 },
        { ...hop, ...unknown, name: 'h2→standard output', waitsFor: 'wire' },
      ],
      200,
    );
    expect(rows).to.deep.equal([
      'h1→h2               1.0 KiB  1.907 MiB/s  25% of 4.0 KiB  ETA 1:05  waiting for output',
      'h2→standard output  1.0 KiB  1.907 MiB/s                            waiting for network',
    ]);
  });

  it('shows the bytes on the wire of a compressed hop', () => {
    expect(progressRows([{ ...hop, ...unknown, compress: 1, wireBytes: 300, waitsFor: 'worker' }], 80)).to.deep.equal([
      'h1→h2  1.0 KiB, 300 B on the wire  1.907 MiB/s  compressing or encrypting',
    ]);
  });

  it('shows that the host of a hop failed', () => {
    const rows = progressRows([{ ...hop, ...unknown, state: 'failed', reconnecting: true }], 80);
    expect(rows).to.deep.equal(['h1→h2  1.0 KiB  1.907 MiB/s  failed']);
  });

  it('shows that a hop is reconnecting, whatever it waited for', () => {
    const rows = progressRows([{ ...hop, ...unknown, waitsFor: 'wire', reconnecting: true }], 80);
    expect(rows).to.deep.equal(['h1→h2  1.0 KiB  1.907 MiB/s  reconnecting']);
  });

  it('omits unknown values and wrong estimates', () => {
    expect(progressRows([{ ...hop, ...unknown }], 80)).to.deep.equal(['h1→h2  1.0 KiB  1.907 MiB/s']);
    expect(progressRows([{ ...hop, ...unknown, size: 100 }], 80)).to.deep.equal(['h1→h2  1.0 KiB  1.907 MiB/s']);
    expect(progressRows([{ ...hop, ...unknown, size: 0 }], 80)).to.deep.equal(['h1→h2  1.0 KiB  1.907 MiB/s']);
  });

  it('fits the terminal', () => {
    expect(progressRows([{ ...hop, ...unknown }], 15)).to.deep.equal(['h1→h2  1.0 KiB']);
    expect(progressRows([{ ...hop, ...unknown }], 10)).to.deep.equal(['h1→h2  1.…']);
    const known = { ...hop, bytes: 3 * 1024 ** 3, waitsFor: 'output', size: 9 * 1024 ** 3, secondsLeft: 3700 } as const;
    const at = (columns: number) => progressRows([known], columns)[0];
    expect([80, 60, 40].map(at)).to.deep.equal([
      'h1→h2  3.0 GiB  1.907 MiB/s  33% of 9.0 GiB  ETA 1:01:40  waiting for output',
      'h1→h2  3.0 GiB  1.907 MiB/s  33% of 9.0 GiB  ETA 1:01:40',
      'h1→h2  3.0 GiB  33% of 9.0 GiB',
    ]);
    const long = { ...hop, ...unknown, name: 'storage-01.example.com→backup.example.com', waitsFor: 'wire' } as const;
    expect(progressRows([long, { ...hop, ...unknown, name: 'within h2' }], 60)).to.deep.equal([
      'storage-01.example…→backup.example.com  1.0 KiB  1.907 MiB/s',
      'within h2                               1.0 KiB  1.907 MiB/s',
    ]);
    expect(progressRows([{ ...long, name: 'within a-name-that-is-long' }], 30)).to.deep.equal([
      'within a-name-that-i…  1.0 KiB',
    ]);
  });
});
