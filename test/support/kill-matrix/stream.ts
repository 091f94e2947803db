// SPDX-License-Identifier: Apache-2.0
// The stream through a cell's pipeline: a head, more in most phases, and a last line.
// Every command passes on its input, marks that it was committed, and appends a line of its own.
import type { Cell, Phase } from './cells.ts';
import { commandsOf, linksOf, type Shape, type ShapeStage, slowStageOf } from './shapes.ts';

export const HEAD = 'first\n';
export const LAST = 'last\n';
/** Of the file that is to be replaced. */
export const OLD_CONTENT = 'old\n';
/** More than everything between two neighbours holds. */
const BLOCKING_BYTES = 24 * 1024 * 1024;
/**
 * The source can end while the consumer does not read: less than a pipe holds; more than that, less than with a
 * receiver's window.
 */
const PIPE_BYTES = 768 * 1024;
const WINDOW_BYTES = 1792 * 1024;

/** Of which some can be seen in a file that is being written: less may be gathered in memory. */
const SEEN_BYTES = 1024 * 1024;

/** Zeros would be a hole in a file, of which nothing is written for a while. */
const BODY = 'x';

/** The command that prints a body. */
export function bodyOf(bytes: number): string {
  return `head -c ${bytes} /dev/zero | tr "\\0" ${BODY}`;
}

/** All that matters of a cell. */
type Flow = Pick<Cell, 'phase' | 'shape'>;

/** How the source behaves: at a gate it waits until the test lets everything go on. */
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

/** Everything that the source sends before a gate, or to its end when there is none. */
export function sourceBytes(flow: Flow): Buffer {
  const { gateBefore, bodyBytes, gateAfterHead } = courseOf(flow);
  if (gateBefore) return Buffer.alloc(0);
  const body = Buffer.alloc(bodyBytes, BODY);
  return Buffer.concat([Buffer.from(HEAD), body, Buffer.from(gateAfterHead ? '' : LAST)]);
}

/** The source is a file, and is to wait: then the file is a fifo. */
export function sourceWaits(flow: Flow): boolean {
  const { gateBefore, gateAfterHead } = courseOf(flow);
  return flow.shape.stages[0]?.kind === 'source' && (gateBefore || gateAfterHead);
}

/** The bytes that it sends after its gate. */
export function restBytes(flow: Flow): Buffer {
  const { gateBefore, gateAfterHead } = courseOf(flow);
  return Buffer.from(`${gateBefore ? HEAD : ''}${gateBefore || gateAfterHead ? LAST : ''}`);
}

/** How the whole stream ends where stage `stage` reads it. */
export function endSeenBy(stage: number, shape: Shape): string {
  const before = commandsOf(shape).filter((number) => number < stage);
  return `${LAST}${before.map((number) => `end ${number}\n`).join('')}`;
}

/** The pipeline as a user types it: files are in `directory`, on each host. */
export function stageWords(flow: Flow, directory: string): string {
  const textOf = ({ kind }: ShapeStage, stage: number) => {
    if (kind === 'source') return `< ${directory}/source`;
    return kind === 'sink' ? `> ${directory}/target` : commandLine(flow, stage, directory);
  };
  return flow.shape.stages.map((stage, index) => `'${stage.host}:${textOf(stage, index + 1)}'`).join(' ');
}

/** The line of a command's shell. `directory` holds the gate, and what the stage tells of itself. */
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
