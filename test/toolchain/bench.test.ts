// SPDX-License-Identifier: Apache-2.0
// The benchmark reads the output of programs, and prints tables of its runs.
import { expect } from 'chai';
import type { Case, Goal } from '../bench/case.ts';
import { withResults } from '../bench/docs.ts';
import { type Figures, spreadOf } from '../bench/figures.ts';
import { LAB_TABLES } from '../bench/lab/tables.ts';
import { withCubic } from '../bench/loopback/congestion.ts';
import { LOOPBACK_TABLES } from '../bench/loopback/tables.ts';
import { workBetween } from '../bench/processors.ts';
import {
  ofChain,
  ofCopy,
  ofDrain,
  ofDrains,
  ofLines,
  ofPingPong,
  ofRdpipe,
  ofRdsend,
  ofRstreamLatency,
  ofSendBandwidth,
  ofSendLatency,
  ofTrips,
  ofWrites,
} from '../bench/readings.ts';
import { type Ground, runRounds } from '../bench/rounds.ts';
import { type Column, goalsOf, markdownOf } from '../bench/tables.ts';
import { wordsOf } from '../bench/words.ts';

const MIB = 1024 * 1024;
const SENT = `rdsend: sent ${MIB} bytes in 0.500 s\nrdsend: to 10.77.0.2:4711 over rdma rxe0, cipher none\n`;

describe('the benchmark', () => {
  it('reads the output of its peers', () => {
    const bandwidth =
      ' #bytes     #iterations    BW peak[MB/sec]\n 1048576    64               40.00              38.00  \t\t   0.000039\n';
    const latency =
      ' #bytes #iterations\n 64      1000          290.92         14479.59      636.35   \t       683.60      \t318.98 \t\t2003.25\n';
    const rstream =
      'name      bytes   xfers\ncustom    64      1       1k      125k        2.63s      0.00    1250.00\n';
    expect(ofSendBandwidth(bandwidth).mb_per_s).to.be.closeTo(39.8, 0.1);
    expect(ofSendLatency(latency)).to.include({ half_trip_us: 683.6, median_us: 636.35 });
    expect(ofRstreamLatency(rstream)).to.deep.equal({ half_trip_us: 1250, trips_per_s: 400 });
    expect(() => ofSendBandwidth('Unable to connect')).to.throw('ib_send_bw did not say');
  });

  it('accepts no run that was shorter or took another path', () => {
    expect(ofRdsend(SENT, 'rdma', MIB).mb_per_s).to.be.closeTo(2.1, 0.01);
    const compressed = SENT.replace('bytes', 'bytes (1.7 MiB on the wire)');
    expect(ofRdsend(compressed, 'rdma', MIB)).to.deep.equal(ofRdsend(SENT, 'rdma', MIB));
    const oneLine = SENT.replace(' in 0.500 s\nrdsend: to 10.77.0.2:4711', ' to 10.77.0.2:4711 in 0.500 s');
    expect(ofRdsend(oneLine, 'rdma', MIB)).to.deep.equal(ofRdsend(SENT, 'rdma', MIB));
    expect(() => ofRdsend(SENT, 'tcp', MIB)).to.throw('rdsend did not say');
    expect(() => ofRdsend(SENT, 'rdma', 2 * MIB)).to.throw('not 2097152');
    const report = (transport: string) => JSON.stringify({ hops: [{ transport, bytes: MIB, seconds: 1 }] });
    expect(ofRdpipe(`{}\n${report('rdma')}\n`, 'rdma', MIB).mb_per_s).to.be.closeTo(1.05, 0.01);
    expect(() => ofRdpipe(report('tcp'), 'rdma', MIB)).to.throw('not over rdma but tcp');
  });

  it('accepts no incomplete copy', () => {
    const report = (failed: number) => JSON.stringify({ stages: [{ maxRssKib: 2048 }], hops: [], copy: { failed } });
    expect(ofCopy(`rdcp: x\n${report(0)}\n`)).to.deep.equal({ native_rss_mib: 2 });
    expect(() => ofCopy(report(1))).to.throw('1 paths were not copied');
  });

  it('measures a chain by the processor time that one hop needs', () => {
    const hop = (seconds: number, bytes = 512 * MIB) => {
      const [sender, receiver] = [
        { userMs: 100, systemMs: 150 },
        { userMs: 50, systemMs: 200 },
      ];
      return { transport: 'tcp', bytes, seconds, sender, receiver };
    };
    const report = (...hops: object[]) => JSON.stringify({ hops });
    expect(ofChain(report(hop(3)), 512 * MIB, 2)).to.deep.equal({ gib_per_core_s: 1 });
    expect(ofChain(report(hop(1), hop(2)), 512 * MIB, 2)).to.deep.equal({ gib_per_core_s: 0.25 });
    expect(() => ofChain(report(hop(1), hop(1, 2)), 512 * MIB, 2)).to.throw('rdpipe moved 2 bytes');
  });

  it('times bytes from the first to the last, and small writes from the first write', () => {
    const words = `writes: from 10.000000 s\ndrain: ${MIB} bytes in 0.500000 s from 10.500000 s\n`;
    expect(ofDrain(words, MIB).mb_per_s).to.be.closeTo(2.1, 0.01);
    expect(ofDrain(words, MIB, 10.25).first_byte_s).to.equal(0.25);
    expect(ofWrites(words, MIB).mb_per_s).to.be.closeTo(1.05, 0.01);
    expect(() => ofDrain(words, MIB + 1)).to.throw('not 1048577');
    const second = `drain: ${MIB} bytes in 0.500000 s from 11.000000 s\n`;
    expect(ofDrains(words + second, 2, MIB).mb_per_s).to.be.closeTo(2.1, 0.01);
    expect(() => ofDrains(words, 2, MIB)).to.throw('1 ended, not 2');
    const lines = 'lines: 100 lines, median 10.5 us, 99 of 100 within 20.0 us\n';
    expect(ofLines(lines, 100)).to.deep.equal({ median_us: 10.5, most_us: 20 });
    expect(() => ofLines(lines, 101)).to.throw('not 101');
  });

  it('understands tables and options, and writes a page only for complete grounds', () => {
    expect(wordsOf(['--quick', 'rdma', 'pipe'])).to.deep.include({ rounds: 3, loopback: ['pipe'], lab: LAB_TABLES });
    const copies = ['copy-file', 'copy-tree', 'copy-again', 'copy-empty'];
    const fanOut = ['fan-out-width', 'fan-out-loss', 'fan-out-hosts', 'fan-out-tools'];
    expect(wordsOf(['fan-out'])).to.deep.include({ loopback: fanOut, lab: [] });
    expect(wordsOf(['copy'])).to.deep.include({ loopback: copies, lab: [] });
    expect(wordsOf(['--write-docs'])).to.deep.include({ writeDocs: true, loopback: LOOPBACK_TABLES, lab: [] });
    expect(wordsOf(['--installed', '/opt', 'pipe'])).to.include({ installed: '/opt' });
    for (const words of [
      ['pipes'],
      ['--rounds', '0'],
      ['--write-docs', 'pipe'],
      ['--write-docs', '--against', '.'],
      ['--installed', '/opt', 'rdma'],
    ])
      expect(() => wordsOf(words), words.join(' ')).to.throw('usage: npm run bench');
  });

  it('repeats failed runs on a replaceable ground, and reports them; three times per round', async () => {
    const rounds = (ground: Ground) => runRounds({ ground, cases: [caseOf('ours')], rounds: 2, seed: 1 }, () => {});
    const broken = (failures: number): Ground & { renewals: number } => {
      const ground = {
        renewals: 0,
        renew: async () => {
          ground.renewals += 1;
        },
        runOnce: async () => {
          if (ground.renewals < failures) throw new Error('dead');
          return { mb_per_s: 1 };
        },
      };
      return ground;
    };
    const { results, repeated, failure } = await rounds(broken(3));
    expect({ runs: [...results.values()], repeated, failure }).to.deep.equal({
      runs: [[{ mb_per_s: 1 }, { mb_per_s: 1 }]],
      repeated: ['ours: dead', 'ours: dead', 'ours: dead'],
      failure: undefined,
    });
    expect((await rounds(broken(4))).failure?.message).to.equal('ours: dead');
    const { renew: _, ...fixed } = broken(1);
    expect(await rounds(fixed))
      .to.deep.include({ repeated: [] })
      .and.to.have.property('failure');
  });

  it('replaces the results of one ground in its page', () => {
    const page = 'Before\n<!-- results: lab -->\nold\n<!-- end of results: lab -->\nAfter\n';
    const marks = ['<!-- results: lab -->', '<!-- end of results: lab -->'];
    expect(withResults(page, 'lab', 'new')).to.equal(`Before\n${marks[0]}\n\nnew\n\n${marks[1]}\nAfter\n`);
    expect(() => withResults(page, 'loopback', 'new')).to.throw('no place for results');
  });

  it('halves the round trips of ping-pong', () => {
    const words = 'ping-pong: 500.0 round trips/s, mean 2000.0 us, median 1800.0 us\n';
    expect(ofPingPong(SENT + words, 'rdma')).to.deep.equal({ half_trip_us: 1000, median_us: 900, trips_per_s: 500 });
    expect(ofTrips(words)).to.deep.equal({ median_us: 1800, trips_per_s: 500 });
  });

  it('counts the time of processors from /proc/stat', () => {
    const work = workBetween('cpu  100 0 50 1000 0 0 0 0 0 0', 'cpu  200 0 100 1040 10 0 100 0 0 0');
    expect(work).to.deep.equal({ userS: 1, sysS: 1.5, busy: 250 / 300 });
  });

  it('prints medians, ratios of runs of the same round, and the state of the goals', () => {
    const peer = caseOf('peer');
    const goals: readonly Goal[] = [
      { figure: 'mb_per_s', base: peer, bound: 'at least', value: 0.5 },
      { figure: 'mb_per_s', base: peer, bound: 'at least', value: 0.9, limit: { value: 0.7, by: 'a disk' } },
      { figure: 'mb_per_s', bound: 'at most', value: 16, limit: { value: 17, by: 'a disk' } },
      { figure: 'mb_per_s', bound: 'at most', value: 17 },
    ];
    const ours = { ...caseOf('ours'), goals };
    const results = new Map([
      [peer, rates(10, 100, 20)],
      [ours, rates(8, 40, 18)],
    ]);
    const column: Column = { title: 'MB/s', figure: 'mb_per_s', digits: 1 };
    const columns = [column, { ...column, title: '× peer', base: peer, digits: 2 }];
    expect(rowsOf(markdownOf({ title: 'Speed', cases: [peer, ours], columns }, results))).to.deep.equal([
      ['', 'MB/s', '× peer'],
      ['peer', '20.0 (10.0–100.0)', '1'],
      ['ours', '18.0 (8.0–40.0)', '0.80 (0.40–0.90)'],
    ]);
    expect(rowsOf(goalsOf(results))).to.deep.equal([
      ['', 'goal', 'bound', 'measured', ''],
      ['ours', 'at least 0.5 × peer', '', '0.80 (0.40–0.90)', 'reached'],
      ['ours', 'at least 0.9 × peer', '0.7: a disk', '0.80 (0.40–0.90)', 'bound reached'],
      ['ours', 'at most 16 MB/s', '17: a disk', '18.00 (8.00–40.00)', '**missed**'],
      ['ours', 'at most 17 MB/s', '', '18.00 (8.00–40.00)', '**missed**'],
    ]);
  });

  it('repeats tables with cubic, compared within the same congestion control', () => {
    const peer = caseOf('peer');
    const goal: Goal = { figure: 'mb_per_s', base: peer, bound: 'at least', value: 1 };
    const ours = { ...caseOf('ours'), goals: [goal] };
    const columns: Column[] = [
      { title: '× peer', figure: 'mb_per_s', base: peer, digits: 1 },
      { title: '÷ ours', figure: 'mb_per_s', base: new Map([[peer, ours]]), digits: 1 },
    ];
    const table = { title: 'Speed', cases: [peer, ours], columns };
    const other = { title: 'Other', cases: [peer], columns: [] };
    const [first, double, alone, again, againDouble] = withCubic([
      { table, isDoubled: true },
      { table: other, isDoubled: false },
      { table: other, isDoubled: true },
    ]);
    expect([first, alone, again]).to.deep.equal([table, other, other]);
    expect(double?.title).to.equal('Speed, cubic');
    const [cubicPeer, cubicOurs] = double?.cases ?? [];
    expect(cubicPeer).to.include({ name: 'peer, cubic', congestion: 'cubic' });
    expect(cubicOurs?.goals?.[0]?.base).to.equal(cubicPeer);
    expect(double?.columns.map(({ title, base }) => ({ title, base }))).to.deep.equal([
      { title: '× peer, cubic', base: cubicPeer },
      { title: '÷ ours', base: new Map([[cubicPeer, cubicOurs]]) },
    ]);
    expect(againDouble?.cases[0]).to.equal(cubicPeer);
  });

  it('uses the middle of an even number of runs', () => {
    expect(spreadOf([4, 1, 3, 2])).to.deep.equal({ median: 2.5, least: 1, most: 4 });
  });
});

function caseOf(name: string): Case {
  return { name, parts: [], read: () => ({}) };
}

function rates(...numbers: readonly number[]): Figures[] {
  return numbers.map((mb_per_s) => ({ mb_per_s }));
}

/** The cells of a Markdown table. */
function rowsOf(markdown: string): string[][] {
  const rows = markdown.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| ---'));
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}
