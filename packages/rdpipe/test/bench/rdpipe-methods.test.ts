import { expect } from 'chai';
import { methodSettings, rdpipeMethods, sampleOf, streamPipeline } from '../../src/bench/rdpipe-methods.ts';
import { makeSettings } from '../../src/config/settings.ts';
import type { HostRef } from '../../src/model/pipeline.ts';
import { hopReport, report, stageReport } from '../ui/helpers.ts';

const host = (name: string): HostRef => ({ name, user: undefined, label: name });
const settings = makeSettings(
  { compressLevel: 3, limitBytesPerS: 5, lenient: true },
  { defaults: {}, hosts: new Map() },
);

describe('the methods of rdpipe', () => {
  it('are those that --transport allows', () => {
    expect(rdpipeMethods('auto')).to.deep.equal(['rdma', 'tcp', 'tcp encrypted']);
    expect(rdpipeMethods('tcp')).to.deep.equal(['tcp', 'tcp encrypted']);
    expect(rdpipeMethods('rdma')).to.deep.equal(['rdma']);
  });

  it('differ in transport and encryption, and leave the stream unchanged', () => {
    const plain = { compressLevel: 0, limitBytesPerS: 0, lenient: false };
    expect(methodSettings(settings, 'rdma')).to.include({ transport: 'rdma', encrypt: 'auto', ...plain });
    expect(methodSettings(settings, 'tcp')).to.include({ transport: 'tcp', encrypt: 'never', ...plain });
    expect(methodSettings(settings, 'tcp encrypted')).to.include({ transport: 'tcp', encrypt: 'always', ...plain });
  });

  it('are a pipeline that ends on its own and keeps nothing', () => {
    const { stages } = streamPipeline(host('h1'), host('h2'), 1000);
    expect(stages.map((stage) => [stage.number, stage.kind, stage.host.name, stage.text])).to.deep.equal([
      [1, 'command', 'h1', 'head -c 1000 /dev/zero'],
      [2, 'sink', 'h2', '> /dev/null'],
    ]);
  });

  it('count the CPU time of stage and programs at each end', () => {
    const stages = [stageReport({ userMs: 100, systemMs: 200 }), stageReport({ stage: 2, maxRssKib: 0 })];
    const hop = hopReport({ bytes: 1000, seconds: 2, bytesPerSecond: 500, rttUs: 12 });
    const sample = sampleOf(report({ stages, hops: [hop] }), 1000);
    const figures = { bytes: 1000, seconds: 2, bytesPerSecond: 500, roundTripUs: 12 };
    expect(sample).to.deep.equal({ ...figures, fromCpuS: 1.3, toCpuS: 1.1 });
    const unreported = report({ stages, hops: [{ ...hop, sender: null, receiver: null }] });
    expect(sampleOf(unreported, 1000)).to.include({ fromCpuS: null, toCpuS: null });
  });

  it('give no sample if not everything arrived', () => {
    expect(() => sampleOf(report({ status: 125, message: 'a hop broke' }), 1000)).to.throw('a hop broke');
    expect(() => sampleOf(report({ hops: [hopReport({ bytes: 999 })] }), 1000)).to.throw('did not arrive completely');
  });
});
