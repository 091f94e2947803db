/** A run for programs: one JSON object a line on standard error, no other text; the last one is the report. */
import { StringDecoder } from 'node:string_decoder';
import type { RunEvent } from '../model/events.ts';
import type { Report } from '../model/report.ts';
import { failureReport } from './failure.ts';
import type { Renderer } from './renderer.ts';

/** Version of the objects, in every line. */
const JSON_VERSION = 1;

export function createJsonRenderer(write: (text: string) => void): Renderer {
  const decoders = new Map<number, StringDecoder>();
  const line = (object: object) => write(`${JSON.stringify({ v: JSON_VERSION, ...object }, asText)}\n`);
  const report = (finished: Report) => line({ kind: 'report', ...finished });
  return {
    handle(event) {
      if (event.kind === 'finished') report(event.report);
      else line(event.kind === 'stderr' ? stderrObject(event, decoders) : event);
    },
    failure: (error) => report(failureReport(error)),
    close: () => {},
  };
}

/** A character that is cut in two by the agent's messages is put together again. */
function stderrObject(
  { kind, stage, host, data }: Extract<RunEvent, { kind: 'stderr' }>,
  decoders: Map<number, StringDecoder>,
): object {
  const decoder = decoders.get(stage) ?? new StringDecoder('utf8');
  decoders.set(stage, decoder);
  return { kind, stage, host, text: decoder.write(Buffer.from(data)) };
}

/** Commands and file words of a plan are bytes. */
function asText(_: string, value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : value;
}
