/** The renderer for programs: one JSON object a line, the last one is the report. */
import { StringDecoder } from 'node:string_decoder';
import type { RunEvent } from '../../model/events.ts';
import { NO_PLACES, type Places, placesOf } from '../../model/places.ts';
import type { Report } from '../../model/report.ts';
import { jsonText } from '../../model/text.ts';
import type { Renderer } from '../renderer.ts';
import { failureReport } from './failure.ts';

/** Version of the objects, in every line. */
const JSON_VERSION = 1;

export function createJsonRenderer(write: (text: string) => void): Renderer {
  const stderr = createStderr();
  const line = (object: object) => write(`${jsonText({ v: JSON_VERSION, ...object }, asText)}\n`);
  let places = NO_PLACES;
  const report = (finished: Report) => line({ kind: 'report', ...finished });
  return {
    handle(event) {
      if (event.kind === 'planned') places = placesOf(event.plan);
      if (event.kind === 'finished') {
        for (const rest of stderr.rest()) line(placed(rest, places));
        report(event.report);
      } else if (event.kind === 'stderr') line(placed(stderr.object(event), places));
      else line(placed(event.kind === 'tree' ? ofTree(event) : event, places));
    },
    failure: (error) => report(failureReport(error)),
    close: () => {},
  };
}

/** With the stage as it was written, and the rank of a host among several. */
function placed(object: object, { stages, links }: Places): object {
  const { stage, link } = object as { readonly stage?: number; readonly link?: number };
  if (stage !== undefined) return { ...object, ...stages.get(stage) };
  const rank = link === undefined ? undefined : links.get(link)?.rank;
  return rank === undefined ? object : { ...object, rank };
}

/** One object a path: the program's event lies in it, not below it. */
function ofTree({ event, ...place }: Extract<RunEvent, { kind: 'tree' }>): object {
  return { ...place, ...event };
}

type Stderr = Extract<RunEvent, { kind: 'stderr' }>;

/** A character that is cut in two by the agent's messages is put together again. */
function createStderr() {
  const open = new Map<number, { readonly decoder: StringDecoder; readonly host: string }>();
  const objectOf = (stage: number, host: string, text: string) => ({ kind: 'stderr', stage, host, text });
  return {
    object({ stage, host, data }: Stderr) {
      const { decoder } = open.get(stage) ?? { decoder: new StringDecoder('utf8') };
      open.set(stage, { decoder, host });
      return objectOf(stage, host, decoder.write(Buffer.from(data)));
    },
    /** Characters that were cut in two and never completed. */
    rest: () =>
      [...open].flatMap(([stage, { decoder, host }]) => {
        const text = decoder.end();
        return text === '' ? [] : [objectOf(stage, host, text)];
      }),
  };
}

/** Commands and file words of a plan are bytes. */
function asText(_: string, value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : value;
}
