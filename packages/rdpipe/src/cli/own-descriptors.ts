/** Stages and lists that are a descriptor of rdpipe itself: `< /dev/fd/63`, from bash's `<(…)`. */
import { fstatSync } from 'node:fs';
import { isatty } from 'node:tty';
import { UsageError } from '../model/errors.ts';
import {
  byPosition,
  commandStage,
  type Pipeline,
  positionOf,
  type SinkStage,
  type SourceStage,
} from '../model/pipeline.ts';
import type { UserStreams } from '../run/open-hosts.ts';

export interface Connected {
  readonly pipeline: Pipeline;
  readonly streams: UserStreams;
}

/**
 * Connects the descriptors that the first and the last stage name in place of standard input and output. A program of
 * the pipeline could not open them: it has descriptors of its own.
 * @throws UsageError for a descriptor of any other stage, or one that is not open.
 */
export function connectDescriptors({ pipeline, streams }: Connected): Connected {
  const stages = pipeline.stages.map((stage) => ({ stage, descriptor: descriptorOfStage(stage) }));
  if (stages.every(({ descriptor }) => descriptor === undefined)) return { pipeline, streams };
  const positions = byPosition(pipeline.stages).length;
  let connected = streams;
  const [first, ...rest] = stages.map(({ stage, descriptor }) => {
    if (descriptor === undefined || (stage.kind !== 'source' && stage.kind !== 'sink')) return stage;
    const isFirst = stage.kind === 'source' && positionOf(stage) === 1;
    const isLast = stage.kind === 'sink' && positionOf(stage) === positions;
    if (stage.host.name !== '' || stage.part !== undefined || !(isFirst || isLast)) throw notOurs(stage);
    checkOpen(descriptor, stage.text);
    connected = isFirst ? withInput(connected, descriptor) : withOutput(connected, descriptor);
    return { ...commandStage(stage.number, stage.host, 'exec cat'), text: stage.text };
  });
  if (first === undefined) throw new Error('a pipeline without a stage');
  return { pipeline: { stages: [first, ...rest] }, streams: connected };
}

/** The streams with input from this descriptor. @throws UsageError if it is not open, or a terminal. */
export function withInput(streams: UserStreams, descriptor: number): UserStreams {
  if (isatty(descriptor))
    throw new UsageError(`the input is a terminal: descriptor ${descriptor} (redirect it from a file or a pipe)`);
  return { ...streams, stdin: 'send', descriptors: [descriptor, streams.descriptors?.[1] ?? 1] };
}

/** The number in a path that names a descriptor of the program that opens it; undefined: another file. */
export function descriptorOf(path: string): number | undefined {
  const [, name = '', number = name] =
    /^\/(?:dev|proc\/self)\/(?:(stdin|stdout|stderr)|fd\/(\d{1,7}))$/.exec(path) ?? [];
  if (number === '') return undefined;
  const standard = ['stdin', 'stdout', 'stderr'].indexOf(number);
  return standard < 0 ? Number(number) : standard;
}

/** @throws UsageError if rdpipe does not have the descriptor, or only for itself. */
export function checkOpen(descriptor: number, shown: string): void {
  try {
    const stats = fstatSync(descriptor);
    if (stats.isFile() || stats.isFIFO() || stats.isSocket() || stats.isCharacterDevice()) return;
  } catch {
    // Not open.
  }
  throw new UsageError(
    `${shown}: descriptor ${descriptor} is not open for data (write it in the same command line as <(…))`,
  );
}

function withOutput(streams: UserStreams, descriptor: number): UserStreams {
  return { ...streams, stdout: 'arrive', descriptors: [streams.descriptors?.[0] ?? 0, descriptor] };
}

function descriptorOfStage(stage: Pipeline['stages'][number]): number | undefined {
  if (stage.kind !== 'source' && stage.kind !== 'sink') return undefined;
  const [, , path = ''] = /^(['"]?)(.*)\1$/s.exec(Buffer.from(stage.word).toString('latin1')) ?? [];
  return descriptorOf(path);
}

/** The data would go to the program's own descriptors, which lead nowhere. */
function notOurs(stage: SourceStage | SinkStage): UsageError {
  const what = `stage ${positionOf(stage)} (${stage.host.label}: ${stage.text}) names a descriptor, not a file`;
  const [end, example] = stage.kind === 'source' ? ['first', ':< /dev/fd/N'] : ['last', ':> /dev/fd/N'];
  return new UsageError(`${what} (only the ${end} stage can, on this machine: ${example})`);
}
