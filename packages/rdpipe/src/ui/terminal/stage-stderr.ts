/** Shows the standard error of stages, each line with its host's name. */
import { StringDecoder } from 'node:string_decoder';
import { positionOf } from '../../model/pipeline.ts';
import type { Plan } from '../../model/plan.ts';
import type { Settings } from '../../model/settings.ts';
import { printableText } from '../../model/text.ts';

export interface StageStderr {
  data(stage: number, bytes: Uint8Array): void;
  /** Shows unfinished lines. */
  end(): void;
}

export type StderrMode = Exclude<Settings['stderr'], 'auto'> | 'text';

/** A single stage needs no prefix; on a terminal its control characters are replaced. */
export function stderrMode(
  { stderr, prefix, isTerminal }: Pick<Settings, 'stderr' | 'prefix'> & { readonly isTerminal: boolean },
  plan: Plan,
): StderrMode {
  if (stderr !== 'auto') return stderr;
  if (prefix && stagesOf(plan).length > 1) return 'prefix';
  return isTerminal ? 'text' : 'raw';
}

/** @param write takes complete lines with prefixes; in other modes text as it arrives. */
export function createStageStderr(
  mode: StderrMode,
  plan: Plan,
  write: (text: string | Uint8Array) => void,
  color: (prefix: string) => string = (prefix) => prefix,
): StageStderr {
  switch (mode) {
    case 'off':
      return { data: () => {}, end: () => {} };
    case 'raw':
      return { data: (_, bytes) => write(bytes), end: () => {} };
    case 'text':
      return asText(write);
    case 'prefix':
      return prefixed(prefixesOf(plan, color), write);
  }
}

/** Prefixes by stage number: `host: `, or `host/2: ` if a host has several stages. */
export function stagePrefixes(plan: Plan): ReadonlyMap<number, string> {
  const stages = stagesOf(plan);
  const labels = stages.map(({ stage }) => stage.host.label);
  const isAlone = (label: string) => labels.indexOf(label) === labels.lastIndexOf(label);
  return new Map(
    stages.map(({ stage }) => {
      const { number, host } = stage;
      return [number, `${host.label}${isAlone(host.label) ? '' : `/${positionOf(stage)}`}: `];
    }),
  );
}

function prefixesOf(plan: Plan, color: (prefix: string) => string): (stage: number) => string {
  const prefixes = stagePrefixes(plan);
  return (stage) => color(prefixes.get(stage) ?? `stage ${stage}: `);
}

function stagesOf(plan: Plan): Plan['segments'][number]['stages'] {
  return plan.segments.flatMap(({ stages }) => stages);
}

/** Writes text immediately, so that a question without a newline is visible. */
function asText(write: (text: string) => void): StageStderr {
  const decoder = new StringDecoder('utf8');
  return {
    data: (_, bytes) => write(printableText(decoder.write(Buffer.from(bytes)))),
    end: () => write(printableText(decoder.end())),
  };
}

/** A longer line is shown in parts, so that a stage without newlines cannot fill the memory. */
const LINE_LIMIT = 4096;

interface OpenLine {
  readonly decoder: StringDecoder;
  text: string;
  /** The last character was a carriage return; a newline after it is part of the same end of line. */
  afterReturn: boolean;
}

/** All lines of a message go into one write, because a stage may print millions of lines. */
function prefixed(prefixOf: (stage: number) => string, write: (text: string) => void): StageStderr {
  const open = new Map<number, OpenLine>();
  const show = (stage: number, lines: string) => {
    const prefix = prefixOf(stage);
    if (lines !== '') write(`${prefix}${lines.slice(0, -1).replace(/\n/g, `\n${prefix.replaceAll('$', '$$$$')}`)}\n`);
  };
  return {
    data(stage, bytes) {
      const line = open.get(stage) ?? { decoder: new StringDecoder('utf8'), text: '', afterReturn: false };
      open.set(stage, line);
      show(stage, takeLines(line, line.decoder.write(Buffer.from(bytes))));
    },
    end() {
      for (const [stage, line] of open) {
        const rest = line.text + printableText(line.decoder.end());
        if (rest !== '') show(stage, `${rest}\n`);
      }
      open.clear();
    },
  };
}

/**
 * The lines that `text` completes, with their newlines. A carriage return also ends a line, because programs use it to
 * redraw their progress.
 */
function takeLines(line: OpenLine, text: string): string {
  if (text === '') return '';
  const fresh = line.afterReturn && text.startsWith('\n') ? text.slice(1) : text;
  line.afterReturn = text.endsWith('\r');
  const shown = inPieces(line.text + printableText(fresh).replace(/\r\n?/g, '\n'));
  const end = shown.lastIndexOf('\n') + 1;
  line.text = shown.slice(end);
  return shown.slice(0, end);
}

/** The text with newlines inserted into lines longer than the limit. */
function inPieces(text: string): string {
  let pieces = '';
  let taken = 0;
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    for (start += LINE_LIMIT; start < end; start += LINE_LIMIT) {
      pieces += `${text.slice(taken, start)}\n`;
      taken = start;
    }
    start = end + 1;
  }
  return pieces + text.slice(taken);
}
