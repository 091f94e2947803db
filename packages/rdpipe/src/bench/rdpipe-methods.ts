/** The benchmark methods of rdpipe itself, each an ordinary pipeline. Pure. */
import type { MethodName, Sample } from '../model/benchmark.ts';
import { RdpipeError } from '../model/errors.ts';
import { commandStage, type HostRef, type Pipeline } from '../model/pipeline.ts';
import type { HopReport, ProgramUsage, Report } from '../model/report.ts';
import { forMeasuring, type Settings } from '../model/settings.ts';

export type RdpipeMethod = Exclude<MethodName, 'ssh'>;

/** The methods that --transport allows. */
export function rdpipeMethods(transport: Settings['transport']): readonly RdpipeMethod[] {
  const tcp = ['tcp', 'tcp encrypted'] as const;
  if (transport === 'auto') return ['rdma', ...tcp];
  return transport === 'rdma' ? ['rdma'] : tcp;
}

/** The settings of a method: transport and encryption; options that distort a measurement are off. */
export function methodSettings(settings: Settings, method: RdpipeMethod): Settings {
  return {
    ...forMeasuring(settings),
    transport: method === 'rdma' ? 'rdma' : 'tcp',
    encrypt: method === 'rdma' ? settings.encrypt : method === 'tcp' ? 'never' : 'always',
  };
}

/** A stream of `bytes` zeros; the receiver itself writes to /dev/null, without another process. */
export function streamPipeline(from: HostRef, to: HostRef, bytes: number): Pipeline {
  const text = `head -c ${bytes} /dev/zero`;
  const sink = {
    kind: 'sink',
    number: 2,
    host: to,
    text: '> /dev/null',
    word: Buffer.from('/dev/null'),
    append: false,
  } as const;
  return { stages: [commandStage(1, from, text), sink] };
}

/** The sample of a finished run. @throws RdpipeError if the stream did not arrive completely. */
export function sampleOf(report: Report, bytes: number): Omit<Sample, 'pingPongUs'> {
  const hop = hopOf(report, bytes);
  const [producer] = report.stages;
  const producerMs = (producer?.userMs ?? 0) + (producer?.systemMs ?? 0);
  const { seconds, bytesPerSecond, rttUs: roundTripUs, sender, receiver } = hop;
  const fromCpuS = sender === null ? null : (producerMs + cpuMs(sender)) / 1000;
  const toCpuS = receiver === null ? null : cpuMs(receiver) / 1000;
  return { bytes, seconds, bytesPerSecond, fromCpuS, toCpuS, roundTripUs };
}

function hopOf(report: Report, bytes: number): HopReport {
  const hop = report.hops.find(({ link }) => link === 1);
  if (report.status !== 0 || hop === undefined || hop.bytes !== bytes) {
    throw new RdpipeError('bench', 125, 'rdpipe', report.message ?? 'the stream did not arrive completely');
  }
  return hop;
}

function cpuMs({ userMs, systemMs }: ProgramUsage): number {
  return userMs + systemMs;
}
