import { expect } from 'chai';
import type { HopReport } from '../../../src/model/report.ts';
import { summaryLines } from '../../../src/ui/terminal/summary.ts';
import { copyReport, hopReport, report, stageReport } from '../helpers.ts';

function slowest(changes: Parameters<typeof report>[0]): string | undefined {
  return summaryLines(report(changes)).find((line) => line.startsWith('Slowest: '));
}

describe('summary', () => {
  it('begins with the rate, then hops, stages and the slowest part', () => {
    expect(summaryLines(report({ hops: [hopReport({ bytesPerSecond: 2_872_000_000 })] }))).to.deep.equal([
      'Bandwidth 2.675 GiB/s (3.0 GiB in 1.5 s)',
      'h1→h2  tcp aes-256-gcm (OpenSSL 3.5.9)  delivered  3.0 GiB  2.675 GiB/s  waited 0.1 s for input, 0.9 s for the network, 0.2 s for output',
      'stage 1  h1  succeeded  user 1.5 s, system 0.2 s, 2.0 MiB  produce',
      'stage 2  h2  succeeded  user 1.5 s, system 0.2 s, 2.0 MiB  consume',
      'Slowest: the network between h1 and h2',
    ]);
  });

  it('breaks lines on a terminal between cells and words', () => {
    const hops = [hopReport({ rttUs: 331, notes: ['10.0.0.2:4: no answer within the time limit (ssh address)'] })];
    expect(summaryLines(report({ hops, lost: [{ host: 'n7', message: 'unreachable' }] }), 60)).to.deep.equal([
      'Bandwidth 2.000 GiB/s (3.0 GiB in 1.5 s)',
      'h1→h2  tcp aes-256-gcm (OpenSSL 3.5.9)  delivered  3.0 GiB',
      '  2.000 GiB/s',
      '  waited 0.1 s for input, 0.9 s for the network,',
      '  0.2 s for output; round trip 331 µs',
      'h1→h2: 10.0.0.2:4: no answer within the time limit (ssh',
      '  address)',
      'stage 1  h1  succeeded  user 1.5 s, system 0.2 s, 2.0 MiB',
      '  produce',
      'stage 2  h2  succeeded  user 1.5 s, system 0.2 s, 2.0 MiB',
      '  consume',
      'Slowest: the network between h1 and h2',
      'Lost n7: unreachable',
    ]);
  });

  it('shows the device of RDMA, and the round trip', () => {
    const rdma = { transport: 'rdma', cipher: 'none', devices: ['mlx5_0', 'mlx5_0'], rttUs: 331 };
    const [, hop] = summaryLines(report({ hops: [hopReport(rdma)] }));
    expect(hop).to.match(/^h1→h2 {2}rdma mlx5_0 not encrypted {2}delivered .* 0\.2 s for output; round trip 331 µs$/);
    const [, other] = summaryLines(report({ hops: [hopReport({ ...rdma, devices: ['mlx5_0', 'rxe0'] })] }));
    expect(other).to.match(/^h1→h2 {2}rdma mlx5_0→rxe0 not encrypted {2}/);
  });

  it('shows both versions of OpenSSL if they differ', () => {
    const [, hop] = summaryLines(report({ hops: [hopReport({ openssl: ['3.5.9', '3.0.19'] })] }));
    expect(hop).to.match(/^h1→h2 {2}tcp aes-256-gcm \(OpenSSL 3\.5\.9, 3\.0\.19\) {2}delivered /);
  });

  it('shows that unencrypted data was authenticated', () => {
    for (const cipher of ['poly1305', 'aes-256-gmac']) {
      const [, hop] = summaryLines(report({ hops: [hopReport({ transport: 'rdma', cipher, devices: ['mlx5_0'] })] }));
      expect(hop).to.match(/^h1→h2 {2}rdma mlx5_0 authenticated \(OpenSSL 3\.5\.9\) {2}delivered /);
    }
  });

  for (const [numa, words] of [
    [[1, 1], 'node 1'],
    [[0, 1], 'node 0→1'],
    [[null, 1], 'node any→1'],
  ] as const)
    it(`shows the NUMA nodes of a hop's ends: ${words}`, () => {
      const rdma = { transport: 'rdma', cipher: 'none', devices: ['mlx5_0', 'mlx5_0'], numa };
      const [, hop] = summaryLines(report({ hops: [hopReport(rdma)] }));
      expect(hop).to.contain(`rdma mlx5_0 ${words} not encrypted  `);
    });

  it('shows how many connections a hop used, if there were several', () => {
    const carrier = (streams: number) => summaryLines(report({ hops: [hopReport({ cipher: 'none', streams })] }))[1];
    expect(carrier(4)).to.contain('tcp (4 streams) not encrypted  ');
    expect(carrier(1)).to.contain('tcp not encrypted  ');
  });

  for (const [reconnects, words] of [
    [1, 'reconnected once'],
    [50, 'reconnected 50 times'],
  ] as const)
    it(`shows that a hop ${words}`, () => {
      const [, hop] = summaryLines(report({ hops: [hopReport({ rttUs: 331, reconnects })] }));
      expect(hop).to.match(new RegExp(`; round trip 331 µs; ${words}$`));
    });

  it('uses the rate of the hop that carried most', () => {
    const hops = [hopReport({ bytes: 10, bytesPerSecond: 1 }), hopReport({ link: 2, bytes: 20, bytesPerSecond: 2000 })];
    expect(summaryLines(report({ hops }))[0]).to.equal('Bandwidth 1.953 KiB/s (20 B in 1.5 s)');
  });

  it('is about the hop that carries the contents of a copy', () => {
    const hops = [
      hopReport({ bytes: 20, bottleneck: 'output' }),
      hopReport({ link: 3, bytes: 10, bytesPerSecond: 2000, bottleneck: 'output' }),
    ];
    const copied = report({ hops, copy: copyReport({ link: 3 }) });
    expect(summaryLines(copied)[0]).to.equal('Bandwidth 1.953 KiB/s (10 B in 1.5 s)');
    expect(slowest({ ...copied })).to.equal('Slowest: the destination, h2');
    expect(slowest({ hops: [hopReport({ bottleneck: 'input' })], copy: copyReport({ link: 1 }) })).to.equal(
      'Slowest: the source, h1',
    );
    expect(summaryLines(report({ hops, copy: copyReport({ link: null }) }))[0]).to.equal(
      'Bandwidth not measured: the contents stayed on one host; the run took 2.0 s',
    );
  });

  it('reports that there was no hop', () => {
    expect(summaryLines(report({ hops: [] }))[0]).to.equal(
      'Bandwidth not measured: there was no data connection; the run took 2.0 s',
    );
  });

  it('shows notes and the results of hops', () => {
    const lines = summaryLines(
      report({
        hops: [
          hopReport({ result: 'not_connected', notes: ['10.0.0.2:4: refused\u0007 (ssh address)'] }),
          hopReport({ link: 2, from: 'h2', to: 'h3', cipher: 'none', result: 'closed', warnings: ['h3: shrunk'] }),
        ],
      }),
    );
    expect(lines[1]).to.match(/^h1→h2 {21}not connected {2}3.0 GiB/);
    expect(lines[2]).to.match(/^h2→h3 {2}tcp not encrypted {2}closed/);
    expect(lines[3]).to.equal('h1→h2: 10.0.0.2:4: refused␇ (ssh address)');
    expect(lines[4]).to.equal('h2→h3: h3: shrunk');
  });

  it('shows the time lost to the limit, if there is one', () => {
    const [, hop] = summaryLines(report({ hops: [hopReport({ limitMs: 700 })] }));
    expect(hop).to.contain('waited 0.1 s for input, 0.7 s for the rate limit, 0.9 s for the network, 0.2 s for output');
  });

  it('shows the bytes on the wire of a compressed hop, and how long it waited for its workers', () => {
    const compressed = hopReport({ compress: 1, wireBytes: 1024 ** 3, workerMs: 700 });
    const [bandwidth, hop] = summaryLines(report({ hops: [compressed] }));
    expect(bandwidth).to.contain('(3.0 GiB, 1.0 GiB on the wire in 1.5 s)');
    expect(hop)
      .to.contain('  3.0 GiB, 1.0 GiB on the wire  ')
      .and.to.contain('0.7 s for compression and encryption, 0.9 s for the network');
  });

  it('shows links within a host, and files, without values that they lack', () => {
    const file = stageReport({ command: '> out', userMs: 0, systemMs: 0, maxRssKib: 0 });
    const within = hopReport({ from: 'h1', to: 'h1', transport: 'local', cipher: 'none' });
    const [, hop = '', stage] = summaryLines(report({ hops: [within], stages: [file] }));
    expect(hop).to.match(/^within h1 {2}local {2}delivered {2}/);
    expect(stage).to.equal('stage 1  h1  succeeded    > out');
  });

  const ENDS: readonly (readonly [Parameters<typeof stageReport>[0], string])[] = [
    [{ code: 0 }, 'succeeded'],
    [{ code: 1 }, 'succeeded (exit 1)'],
    [{ code: null }, 'succeeded'],
    [{ state: 'failed', code: 1 }, 'failed (exit 1)'],
    [{ state: 'failed', code: null, signal: 9 }, 'failed (signal 9)'],
    [{ state: 'failed', code: null }, 'failed'],
    [{ state: 'stopped', code: null, signal: 9 }, 'stopped'],
    [{ state: 'consumer_closed', code: null, signal: 13 }, 'its reader closed'],
    [{ state: 'not_started', code: null }, 'not started'],
  ];
  for (const [stage, end] of ENDS) {
    it(`writes ${JSON.stringify(stage)} as ${end}`, () => {
      const lines = summaryLines(report({ hops: [], stages: [stageReport(stage)] }));
      expect(lines[1]?.split('  ')[2]).to.equal(end);
    });
  }

  describe('names the slowest part', () => {
    const stages = [1, 2, 3].map((stage) => stageReport({ stage, host: `h${stage}`, command: `c${stage}` }));
    const hop = (link: number, bottleneck: HopReport['bottleneck']) =>
      hopReport({ link, bottleneck, from: `h${link}`, to: `h${link + 1}` });

    it('between hops that wait for output and those that wait for input', () => {
      expect(slowest({ stages, hops: [hop(1, 'output'), hop(2, 'input')] })).to.equal('Slowest: stage 2 (h2: c2)');
    });
    it('before the first hop', () => {
      expect(slowest({ stages, hops: [hop(1, 'input'), hop(2, 'input')] })).to.equal('Slowest: stage 1 (h1: c1)');
    });
    it('after the last hop', () => {
      expect(slowest({ stages, hops: [hop(1, 'output'), hop(2, 'output')] })).to.equal('Slowest: stage 3 (h3: c3)');
    });
    it('among stages joined by a pipe', () => {
      expect(slowest({ stages, hops: [hop(1, 'output')] })).to.equal('Slowest: stage 2 (h2: c2) or stage 3 (h3: c3)');
    });
    it('on the network', () => {
      expect(slowest({ stages, hops: [hop(1, 'output'), hop(2, 'wire')] })).to.equal(
        'Slowest: the network between h2 and h3',
      );
    });
    for (const [what, limits, expected] of [
      ['send buffer', { sendBufferMs: 500 }, ' (the send buffer: --streams, sysctl net.ipv4.tcp_wmem on h2)'],
      [
        'receive window',
        { receiveWindowMs: 500 },
        ' (the receive window: --streams, --buffer, sysctl net.ipv4.tcp_rmem on h3)',
      ],
      ['loss', { sentAgain: 3000, receiveWindowMs: 400 }, ' (loss, 3000 segments were sent again: --streams)'],
      ['loss on several streams', { sentAgain: 3000, streams: 4 }, ' (loss, 3000 segments were sent again)'],
      [
        'send buffers of several streams',
        { sendBufferMs: 500, streams: 4 },
        ' (the send buffer: sysctl net.ipv4.tcp_wmem on h2)',
      ],
      ['little of each', { sentAgain: 1, receiveWindowMs: 400, sendBufferMs: 400 }, ''],
    ] as const)
      it(`on the network, by ${what}`, () => {
        const carrier = { ...hop(2, 'wire'), wireMs: 900, ...limits };
        expect(slowest({ stages, hops: [carrier] })).to.equal(`Slowest: the network between h2 and h3${expected}`);
      });
    it('at a limit', () => {
      expect(slowest({ stages, hops: [hop(1, 'limit'), hop(2, 'input')] })).to.equal(
        'Slowest: the rate limit of h1→h2 (--limit)',
      );
    });
    it('at compression and encryption', () => {
      expect(slowest({ stages, hops: [hop(1, 'output'), hop(2, 'worker')] })).to.equal(
        'Slowest: compression and encryption of h2→h3 (--jobs)',
      );
    });
    it("at the user's own descriptors", () => {
      expect(slowest({ stages, hops: [hop(0, 'input'), hop(1, 'input')] })).to.equal('Slowest: standard input');
      expect(slowest({ stages, hops: [hop(2, 'output'), hop(3, 'output')] })).to.equal('Slowest: standard output');
    });
    it('nowhere if nothing waited', () => {
      expect(slowest({ stages, hops: [hop(1, 'none')] })).to.equal(undefined);
      expect(slowest({ stages, hops: [] })).to.equal(undefined);
    });
  });

  describe('of a chain', () => {
    const chain = (outputs: readonly number[]) =>
      outputs.map((outputMs, rank) => {
        const bottleneck = outputMs > 1000 ? 'output' : 'none';
        const place = { link: 1 + 3 * rank, chain: 1, rank, from: `n${rank}`, to: `n${rank + 1}` };
        return hopReport({ ...place, bottleneck, wireMs: 0, outputMs });
      });
    const stages = (command: string) =>
      [0, 1, 2, 3].map((rank) => stageReport({ stage: 2, rank, host: `n${rank + 1}`, command }));

    it('names the slow host, and its slow part', () => {
      const hops = chain([100, 9000, 50, 0]);
      expect(slowest({ hops, stages: stages('> file') })).to.equal('Slowest: the disk of n2');
      expect(slowest({ hops, stages: stages('cat > file') })).to.equal('Slowest: the command of n2');
    });

    it('names none when all are equally slow', () => {
      const hops = chain([8000, 9000, 8500, 9100]);
      expect(slowest({ hops, stages: stages('> file') })).not.to.match(/the disk of/);
    });
  });
});
