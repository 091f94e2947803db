/** Reads the events of a copy's programs from their standard error; what is no event stays text. */

import { decodeTreeEvent } from '../agent/decode.ts';
import type { RunEvent } from '../model/events.ts';
import type { Plan, SessionId } from '../model/plan.ts';
import type { AgentEvent } from '../model/protocol.ts';
import { printableBytes } from '../model/text.ts';
import type { TreeEvent, TreeRole } from '../model/tree.ts';

type Stderr = Extract<AgentEvent, { event: 'stderr' }>;

export interface TreeEvents {
  /** False: of another stage, whose standard error is no events. */
  take(message: Stderr): boolean;
  /** Shows the unfinished lines of a host whose agent has ended. */
  end(session: SessionId): void;
}

/** Shows the events of all programs of a copy in place of their standard error, and other lines of it as they are. */
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

/** A line: an event, or other text, harmless and with its newline. */
export type TreeLine = TreeEvent | string;

export interface TreeEventReader {
  /** The lines that these bytes complete. */
  take(bytes: Uint8Array): readonly TreeLine[];
  /** An unfinished line at the end. */
  rest(): readonly TreeLine[];
}

/** Longer than any event: paths have at most 4 KiB, and the slowest ones are a few. */
const LINE_MAX_BYTES = 128 * 1024;
const NEWLINE = 0x0a;

/** A line that is too long is shown in pieces, none of which is taken for an event. */
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
