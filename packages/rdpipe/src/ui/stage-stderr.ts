/** What stages say on their standard error: each line under its host's name, as text, as it is, or not at all. */
import { StringDecoder } from 'node:string_decoder';
import type { Plan } from '../model/plan.ts';
import type { Settings } from '../model/settings.ts';
import { printable } from '../model/text.ts';

export interface StageStderr {
  data(stage: number, bytes: Uint8Array): void;
  /** Shows what is left of unfinished lines. */
  end(): void;
}

export type StderrMode = Exclude<Settings['stderr'], 'auto'> | 'text';

/** Alone a stage needs no name; on a terminal it may not act either. */
export function stderrMode(
  { stderr, isTerminal }: Pick<Settings, 'stderr'> & { readonly isTerminal: boolean },
  plan: Plan,
): StderrMode {
  if (stderr !== 'auto') return stderr;
  if (stagesOf(plan).length > 1) return 'prefix';
  return isTerminal ? 'text' : 'raw';
}

/** @param write takes whole lines, or without prefixes whatever came. */
export function createStageStderr(
  mode: StderrMode,
  plan: Plan,
  write: (text: string | Uint8Array) => void,
  paint: (prefix: string) => string = (prefix) => prefix,
): StageStderr {
  switch (mode) {
    case 'off':
      return { data: () => {}, end: () => {} };
    case 'raw':
      return { data: (_, bytes) => write(bytes), end: () => {} };
    case 'text':
      return asText(write);
    case 'prefix':
      return prefixed(stagePrefixes(plan), (prefix, line) => write(`${paint(prefix)}${line}\n`));
  }
}

/** `host: `, or `host/2: ` where a host has several stages, by stage number. */
export function stagePrefixes(plan: Plan): ReadonlyMap<number, string> {
  const stages = stagesOf(plan);
  const labels = stages.map(({ stage }) => stage.host.label);
  const isAlone = (label: string) => labels.indexOf(label) === labels.lastIndexOf(label);
  return new Map(
    stages.map(({ stage: { number, host } }) => [number, `${host.label}${isAlone(host.label) ? '' : `/${number}`}: `]),
  );
}

function stagesOf(plan: Plan): Plan['segments'][number]['stages'] {
  return plan.segments.flatMap(({ stages }) => stages);
}

/** At once, so that a question without a newline is seen. */
function asText(write: (text: string) => void): StageStderr {
  const decoder = new StringDecoder('utf8');
  const show = (text: string) => write(text.split(LINE_ENDS).map(neutralBetween).join(''));
  return {
    data: (_, bytes) => show(decoder.write(Buffer.from(bytes))),
    end: () => show(decoder.end()),
  };
}

const LINE_ENDS = /([\r\n])/;

function neutralBetween(text: string): string {
  return LINE_ENDS.test(text) ? text : neutral(text);
}

/** A longer line is shown in pieces, so that a stage without newlines cannot fill the memory. */
const LINE_LIMIT = 4096;

interface OpenLine {
  readonly decoder: StringDecoder;
  text: string;
  /** The last character was a carriage return; a newline after it is the same end of line. */
  afterReturn: boolean;
}

function prefixed(prefixes: ReadonlyMap<number, string>, write: (prefix: string, line: string) => void): StageStderr {
  const open = new Map<number, OpenLine>();
  const show = (stage: number, line: string) => write(prefixes.get(stage) ?? `stage ${stage}: `, neutral(line));
  return {
    data(stage, bytes) {
      const line = open.get(stage) ?? { decoder: new StringDecoder('utf8'), text: '', afterReturn: false };
      open.set(stage, line);
      for (const whole of takeLines(line, line.decoder.write(Buffer.from(bytes)))) show(stage, whole);
    },
    end() {
      for (const [stage, line] of open) {
        const rest = line.text + line.decoder.end();
        if (rest !== '') show(stage, rest);
      }
      open.clear();
    },
  };
}

/** The lines that `text` completes. A carriage return ends a line too: that is how programs redraw their progress. */
function takeLines(line: OpenLine, text: string): readonly string[] {
  if (text === '') return [];
  const fresh = line.afterReturn && text.startsWith('\n') ? text.slice(1) : text;
  line.afterReturn = text.endsWith('\r');
  const lines = (line.text + fresh).split(/\r\n|\r|\n/);
  const last = inPieces(lines.pop() ?? '');
  line.text = last.at(-1) ?? '';
  return [...lines.flatMap(inPieces), ...last.slice(0, -1)];
}

function inPieces(line: string): readonly string[] {
  const pieces = [];
  for (let start = 0; start < line.length; start += LINE_LIMIT) pieces.push(line.slice(start, start + LINE_LIMIT));
  return pieces.length === 0 ? [''] : pieces;
}

/** Control characters and escape sequences cannot act on the terminal, but are seen; a tab is harmless. */
function neutral(line: string): string {
  return line.split('\t').map(printable).join('\t');
}
