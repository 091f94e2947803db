import { expect } from 'chai';
import { jsonObject } from '../../../../test/support/json-output.ts';
import type { Benchmark, Sample } from '../../src/model/benchmark.ts';
import { UsageError } from '../../src/model/errors.ts';
import { widthOf } from '../../src/model/width.ts';
import { benchLines } from '../../src/ui/bench-table.ts';
import { benchPage } from '../../src/ui/pages/bench.ts';
import { createJsonBenchView } from '../../src/ui/terminal/bench.ts';
import { createPage } from './helpers.ts';

const GIB = 1024 ** 3;

function sample(bytesPerSecond: number, changes: Partial<Sample> = {}): Sample {
  return {
    bytes: GIB,
    seconds: 1,
    bytesPerSecond,
    fromCpuS: 0.5,
    toCpuS: 0.25,
    roundTripUs: 20,
    pingPongUs: 95,
    ...changes,
  };
}

const BENCHMARK: Benchmark = {
  v: 1,
  status: 0,
  from: 'h1',
  to: 'h2',
  rounds: 3,
  methods: [
    { method: 'tcp', carrier: 'tcp, not encrypted', samples: [sample(2e9), sample(1e9), sample(3e9)] },
    {
      method: 'ssh',
      carrier: 'ssh on h1',
      samples: [sample(3e8, { toCpuS: null, roundTripUs: 250_000, pingPongUs: null })],
    },
  ],
  missing: [{ method: 'rdma', why: 'no RDMA device on \u001b[31mh2', failed: false }],
};

describe('the output of bench', () => {
  it('is one JSON object with --json, also of a failure', () => {
    const [done, failed, error] = [createPage(), createPage(), createPage()];
    createJsonBenchView(error, { color: false, ...done }).finished(BENCHMARK);
    createJsonBenchView(error, { color: false, ...failed }).failure(new UsageError('wrong'));
    expect(jsonObject(done.text, 'bench')).to.deep.equal(BENCHMARK);
    expect(jsonObject(failed.text, 'bench')).to.include({ status: 2, message: 'wrong' });
    expect(error.text).to.equal('');
  });

  it('is a table of medians, and the reasons for missing methods', () => {
    expect(benchLines(BENCHMARK)).to.deep.equal([
      'h1→h2, medians of 3 rounds',
      '     rate         lowest       highest      CPU s/GiB h1  CPU s/GiB h2  round trip     ping-pong  carried by',
      'tcp  1.863 GiB/s  953.7 MiB/s  2.794 GiB/s  0.50          0.25          20 µs          95 µs      tcp, not encrypted',
      'ssh  286.1 MiB/s  286.1 MiB/s  286.1 MiB/s  0.50                        0.3 s (login)             ssh on h1',
      'rdma: not measured: no RDMA device on ␛[31mh2',
    ]);
  });

  it('leaves out columns on a narrow terminal, and names them', () => {
    expect(benchLines(BENCHMARK, 80)).to.deep.equal([
      'h1→h2, medians of 3 rounds',
      '     rate         CPU s/GiB h1  CPU s/GiB h2  round trip     ping-pong',
      'tcp  1.863 GiB/s  0.50          0.25          20 µs          95 µs',
      'ssh  286.1 MiB/s  0.50                        0.3 s (login)',
      'not shown on 80 columns: lowest, highest, carried by',
      'rdma: not measured: no RDMA device on ␛[31mh2',
    ]);
    for (const columns of [60, 40])
      for (const line of benchLines(BENCHMARK, columns)) expect(widthOf(line)).to.be.at.most(columns);
  });

  it('is not a table if nothing was measured', () => {
    expect(benchLines({ ...BENCHMARK, methods: [], rounds: 1 })).to.have.lengthOf(2);
  });
});

describe('the page about a benchmark', () => {
  const began = new Date('2026-11-21T10:00:00Z');

  it('has the table, and a plot of rates, of CPU and of rounds', () => {
    const page = benchPage(BENCHMARK, began);
    expect(page).to.contain('<th scope="row">tcp</th><td>1.863 GiB/s</td>');
    expect(page.match(/<svg /g)).to.have.lengthOf(3);
    expect(page)
      .to.contain('rdma: not measured')
      .and.not.to.match(/\p{Cc}\[31m/u);
  });

  it('shows hostile names as text, and can be empty', () => {
    const page = benchPage({ ...BENCHMARK, from: '<script>x</script>', methods: [] }, began);
    expect(page).to.contain('&#60;script&#62;').and.not.to.contain('<script');
    expect(page).not.to.contain('<svg');
  });
});
