// SPDX-License-Identifier: Apache-2.0
// The stream through a cell's pipeline: a head, more in most phases, and a last line.
// Every command copies its input, marks it as complete, and appends a line.
import type { Cell, Phase } from './cells.ts';
import { commandsOf, linksOf, type Shape, type ShapeStage, slowStageOf } from './shapes.ts';

export const HEAD = 'first\n';
export const LAST = 'last\n';
/** The previous content of the file that the pipeline replaces. */
export const OLD_CONTENT = 'old\n';
/** More than all buffers between two neighbors hold. */
const BLOCKING_BYTES = 24 * 1024 * 1024;
/**
 * Amounts with which the source can end while the consumer does not read: PIPE_BYTES is less than pipes hold,
 * WINDOW_BYTES is more than that, but less than pipes and a receiver's window hold.
 */
const PIPE_BYTES = 768 * 1024;
const WINDOW_BYTES = 1792 * 1024;

/** Enough for some bytes to appear in a file that is being written: fewer may be buffered in memory. */
const SEEN_BYTES = 1024 * 1024;

/** Not zero: zeros would become a hole in a file, and nothing would be written for a while. */
const BODY = 'x';

/** Returns the command that prints a body. */
export function bodyOf(bytes: number): string {
  return `head -c ${bytes} /dev/zero | tr "\\0" ${BODY}`;
}

/** The properties of a cell that define its stream. */
type Flow = Pick<Cell, 'phase' | 'shape'>;

/** The behavior of the source: at a gate it waits until the test opens all gates. */
interface Course {
  readonly gateBefore: boolean;
  readonly bodyBytes: number;
  readonly gateAfterHead: boolean;
}

export function courseOf({ phase, shape }: Flow): Course {
  return {
    gateBefore: phase === 'login' || phase === 'joining' || phase === 'before',
    bodyBytes: bodyBytesOf({ phase, shape }),
    gateAfterHead: phase === 'idle',
  };
}

function bodyBytesOf({ phase, shape }: Flow): number {
  if (phase === 'blocked') return BLOCKING_BYTES;
  if (isDraining(phase)) return drainingBytes(shape);
  return phase === 'idle' && shape.stages.at(-1)?.kind === 'sink' ? SEEN_BYTES : 0;
}

function isDraining(phase: Phase): boolean {
  return phase === 'draining' || phase === 'after';
}

function drainingBytes(shape: Shape): number {
  const lastLink = (slowStageOf(shape) ?? 0) - 1;
  return linksOf(shape).some(({ number }) => number === lastLink) ? WINDOW_BYTES : PIPE_BYTES;
}

/** The bytes that the source sends before its gate, or all bytes if it has no gate. */
export function sourceBytes(flow: Flow): Buffer {
  const { gateBefore, bodyBytes, gateAfterHead } = courseOf(flow);
  if (gateBefore) return Buffer.alloc(0);
  const body = Buffer.alloc(bodyBytes, BODY);
  return Buffer.concat([Buffer.from(HEAD), body, Buffer.from(gateAfterHead ? '' : LAST)]);
}

/** Returns true if the source is a file and must wait: the file is a fifo then. */
export function sourceWaits(flow: Flow): boolean {
  const { gateBefore, gateAfterHead } = courseOf(flow);
  return flow.shape.stages[0]?.kind === 'source' && (gateBefore || gateAfterHead);
}

/** The bytes that the source sends after its gate. */
export function restBytes(flow: Flow): Buffer {
  const { gateBefore, gateAfterHead } = courseOf(flow);
  return Buffer.from(`${gateBefore ? HEAD : ''}${gateBefore || gateAfterHead ? LAST : ''}`);
}

/** The last lines of the complete input of stage `stage`. */
export function endSeenBy(stage: number, shape: Shape): string {
  const before = commandsOf(shape).filter((number) => number < stage);
  return `${LAST}${before.map((number) => `end ${number}\n`).join('')}`;
}

/** The pipeline's words on the command line; files are in `directory` on each host. */
export function stageWords(flow: Flow, directory: string): string {
  const textOf = ({ kind }: ShapeStage, stage: number) => {
    if (kind === 'source') return `< ${directory}/source`;
    return kind === 'sink' ? `> ${directory}/target` : commandLine(flow, stage, directory);
  };
  return flow.shape.stages.map((stage, index) => `'${stage.host}:${textOf(stage, index + 1)}'`).join(' ');
}

/** The command of a stage. `directory` contains the gate and the files by which the stage shows its progress. */
function commandLine(flow: Flow, stage: number, directory: string): string {
  const { shape, phase } = flow;
  const hidden = `setsid sleep 90${stage} < /dev/null > /dev/null 2>&1 &`;
  const work = stage === 1 && !shape.stdin ? producer(flow) : reader(phase, stage, slowStageOf(shape) === stage);
  return `: stage ${stage}; cd ${directory}; ${hidden} touch started.${stage}; ${work} && echo end ${stage}`;
}

function producer(flow: Flow): string {
  const { gateBefore, bodyBytes, gateAfterHead } = courseOf(flow);
  return [
    ...(gateBefore ? [GATE] : []),
    'echo first',
    ...(bodyBytes > 0 ? [bodyOf(bodyBytes)] : []),
    ...(gateAfterHead ? [GATE] : []),
    ...(flow.phase === 'flowing' ? ['until test -e open; do echo body; done'] : []),
    'echo last',
  ].join(' && ');
}

function reader(phase: Phase, stage: number, isSlow: boolean): string {
  const work = `tee seen.${stage} && touch committed.${stage}`;
  if (isSlow && (phase === 'blocked' || phase === 'draining'))
    return `{ head -c ${HEAD.length}; touch waiting.${stage}; ${GATE}; cat; } | ${work}`;
  return isSlow && phase === 'after' ? `${work} && ${GATE}` : work;
}

const GATE = 'read go < gate';
