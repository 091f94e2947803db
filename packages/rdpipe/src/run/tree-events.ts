/** Reads the events of copy programs from their standard error; other lines stay text. */

import { decodeTreeEvent } from '../agent/decode.ts';
import type { RunEvent } from '../model/events.ts';
import type { Plan, SessionId } from '../model/plan.ts';
import type { AgentEvent } from '../model/protocol.ts';
import { printableBytes } from '../model/text.ts';
import type { TreeEvent, TreeRole } from '../model/tree.ts';

type Stderr = Extract<AgentEvent, { event: 'stderr' }>;

export interface TreeEvents {
  /** Returns false if the stage is not a copy program: then its standard error is text. */
  take(message: Stderr): boolean;
  /** Shows the unfinished lines of a host whose agent has ended. */
  end(session: SessionId): void;
}

/** Shows the events of all copy programs instead of their standard error, and their other lines as text. */
export function createTreeEvents(plan: Plan, show: (event: Shown) => void): TreeEvents {
  const programs = new Map(programsOf(plan).map((program) => [program.stage, program]));
  const showLines = ({ stage, host, role }: Program, lines: readonly TreeLine[]) => {
    for (const line of lines) {
      if (typeof line === 'string') show({ kind: 'stderr', stage, host, data: Buffer.from(line) });
      else show({ kind: 'tree', stage, host, role, event: line });
    }
  };
  return {
    take({ stage, data }) {
      const program = programs.get(stage);
      if (program === undefined) return false;
      showLines(program, program.reader.take(Buffer.from(data, 'hex')));
      return true;
    },
    end(session) {
      for (const program of programs.values()) {
        if (program.session === session) showLines(program, program.reader.rest());
      }
    },
  };
}

type Shown = Extract<RunEvent, { kind: 'stderr' | 'tree' }>;

interface Program {
  readonly stage: number;
  readonly session: SessionId;
  readonly host: string;
  readonly role: TreeRole;
  readonly reader: TreeEventReader;
}

function programsOf({ sessions, segments }: Plan): readonly Program[] {
  const labels = new Map(sessions.map(({ id, label }) => [id, label]));
  return segments.flatMap(({ stages }) =>
    stages.flatMap(({ stage, session }) => {
      if (stage.kind !== 'tree') return [];
      const { role } = stage.settings;
      const host = labels.get(session) ?? session;
      return [{ stage: stage.number, session, host, role, reader: createTreeEventReader() }];
    }),
  );
}

/** One line: an event, or other text with unprintable bytes replaced and with its newline. */
export type TreeLine = TreeEvent | string;

export interface TreeEventReader {
  /** Returns the lines that these bytes complete. */
  take(bytes: Uint8Array): readonly TreeLine[];
  /** Returns the unfinished line at the end, if any. */
  rest(): readonly TreeLine[];
}

/** Longer than any event: a path has at most 4 KiB, and the list of the slowest ones is short. */
const LINE_MAX_BYTES = 128 * 1024;
const NEWLINE = 0x0a;

/** Returns a reader of lines. A line that is too long is returned in pieces, as text. */
export function createTreeEventReader(): TreeEventReader {
  let open: Buffer[] = [];
  let openBytes = 0;
  let isTooLong = false;
  const close = (end: Uint8Array): TreeLine[] => {
    const line = open.length === 0 ? end : Buffer.concat([...open, end]);
    const lines = line.length === 0 ? [] : [isTooLong ? textOf(line) : readLine(line)];
    [open, openBytes, isTooLong] = [[], 0, false];
    return lines;
  };
  const hold = (piece: Uint8Array): TreeLine[] => {
    open.push(Buffer.from(piece));
    openBytes += piece.length;
    if (openBytes <= LINE_MAX_BYTES) return [];
    const text = textOf(Buffer.concat(open));
    [open, openBytes, isTooLong] = [[], 0, true];
    return [text];
  };
  return {
    take(bytes) {
      const lines: TreeLine[] = [];
      let begin = 0;
      for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, begin)) {
        lines.push(...close(bytes.subarray(begin, end)));
        begin = end + 1;
      }
      if (begin < bytes.length) lines.push(...hold(bytes.subarray(begin)));
      return lines;
    },
    rest: () => close(new Uint8Array()),
  };
}

function readLine(line: Uint8Array): TreeLine {
  return decodeTreeEvent(line) ?? textOf(line);
}

function textOf(line: Uint8Array): string {
  return `${printableBytes(line)}\n`;
}
