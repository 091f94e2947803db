import { expect } from 'chai';
import { makeSettings } from '../../src/config/settings.ts';
import { judgeProbe, type ProbeEnds, probePipeline, probeSettings } from '../../src/doctor/probe.ts';
import { hello, nic, rdmaPort } from '../plan/helpers.ts';
import { hopReport, report } from '../ui/helpers.ts';
import { expectFinding } from './samples.ts';

const ENDS: ProbeEnds = {
  from: 'h1',
  to: 'h2',
  hellos: [
    {
      ...hello('boot-1', null),
      addresses: [nic('eth0', '10.0.0.1/24', { speed_mbps: 10_000 })],
      rdma: [rdmaPort('mlx5_0', 'eth0')],
    },
    { ...hello('boot-2', null), addresses: [nic('eth0', 'fd00::2/64', { speed_mbps: 25_000 })] },
  ],
};
const HOP = { bytesPerSecond: 1_121_000_000, rttUs: 85, local: '10.0.0.1:50000', peer: '[fd00::2]:40000' };

describe('a probe', () => {
  it('leaves the stream unchanged, whatever the configuration of streams', () => {
    const settings = makeSettings(
      { compressLevel: 3, limitBytesPerS: 5, lenient: true },
      { defaults: {}, hosts: new Map() },
    );
    expect(probeSettings(settings, 'tcp')).to.include({
      transport: 'tcp',
      compressLevel: 0,
      limitBytesPerS: 0,
      lenient: false,
      timeoutMs: 60_000,
    });
  });

  it('is a pipeline that ends on its own', () => {
    const host = (name: string) => ({ name, user: undefined, label: name });
    const { stages } = probePipeline(host('h1'), host('h2'));
    expect(stages.map((stage) => [stage.number, stage.host.name, stage.text])).to.deep.equal([
      [1, 'h1', 'timeout 1 cat /dev/zero; exit $?'],
      [2, 'h2', 'cat >/dev/null'],
    ]);
    expect(stages[0]).to.have.deep.property('ok', [0, 124, 143]);
  });

  it("reports the rate, its share of the slower end's capacity, and the round trip", () => {
    const { finding, measured } = judgeProbe('tcp', ENDS, report({ hops: [hopReport(HOP)] }));
    expect(finding.check).to.equal('tcp h1→h2');
    expectFinding(finding, 'ok', /^8\.968 Gb\/s of 10 Gb\/s \(90 %\), round trip 0\.09 ms, aes-256-gcm$/);
    expect(measured).to.deep.equal({
      from: 'h1',
      to: 'h2',
      transport: 'tcp',
      bytesPerSecond: 1_121_000_000,
      rttUs: 85,
      nominalMbps: 10_000,
    });
  });

  it("reports the port's rate over RDMA, and warnings of the ends", () => {
    const hop = hopReport({ ...HOP, cipher: 'none', transport: 'rdma', warnings: ['h2: the buffer is 4.0 MiB'] });
    const { finding, measured } = judgeProbe('rdma', ENDS, report({ hops: [hop] }));
    expectFinding(
      finding,
      'ok',
      /of 100 Gb\/s \(9 %\), round trip 0\.09 ms, not encrypted, h2: the buffer is 4\.0 MiB$/,
    );
    expect(measured?.nominalMbps).to.equal(100_000);
  });

  it('reports no share of a link of unknown speed', () => {
    const hop = hopReport({ ...HOP, rttUs: null, local: '/run/forward', peer: null });
    const { finding, measured } = judgeProbe('tcp', ENDS, report({ hops: [hop] }));
    expectFinding(finding, 'ok', /^1\.044 GiB\/s, aes-256-gcm$/);
    expect(measured).to.deep.include({ rttUs: null, nominalMbps: null });
  });

  it('reports a refused path as a firewall', () => {
    const hop = hopReport({ ...HOP, notes: ['10.0.0.2:40000: no answer (ssh address)', 'connected by 10.0.0.1:7'] });
    const { finding } = judgeProbe('tcp', ENDS, report({ hops: [hop] }));
    expectFinding(finding, 'warn', /Gb\/s.*; 10\.0\.0\.2:40000: no answer/, /-p 40000-40100.*--data h2=ADDRESS/);
  });

  it('finds a pair without a direct path, with each direction that was tried and what --relay does', () => {
    const relayed = 'relayed over ssh through this machine, receiver dials';
    const refused = ['10.0.0.2:40000: no answer (ssh address)', '10.0.0.1:40001: no answer (receiver dials)'];
    const found = (notes: readonly string[]) =>
      judgeProbe('tcp', ENDS, report({ hops: [hopReport({ ...HOP, notes })] })).finding;
    expectFinding(
      found([...refused, relayed]),
      'warn',
      /^no direct path: 10\.0\.0\.2:40000: .*; 10\.0\.0\.1:40001: .*; relayed over ssh through this machine: 8\.968 Gb/,
      /use --relay HOST to send .*; use --relay never to fail instead$/,
    );
    expectFinding(found([relayed]), 'warn', /^no direct path: no address is known; relayed over ssh/, /--data/);
  });

  it('fails with the message of the run', () => {
    const failed = report({ status: 125, cause: 'rdpipe', message: 'cannot connect h1 to h2: refused' });
    expectFinding(judgeProbe('tcp', ENDS, failed).finding, 'fail', /^cannot connect h1 to h2: refused$/, /firewalls/);
    expectFinding(judgeProbe('rdma', ENDS, failed).finding, 'fail', /refused/, /UDP port 4791/);
    expect(judgeProbe('tcp', ENDS, failed).measured).to.equal(undefined);
  });
});
