/** The renderer for programs: one JSON object per line, the last is the report. */
import { StringDecoder } from 'node:string_decoder';
import type { RunEvent } from '../../model/events.ts';
import { NO_PLACES, type Places, placesOf } from '../../model/places.ts';
import type { Plan, PlannedLink } from '../../model/plan.ts';
import type { Report } from '../../model/report.ts';
import { jsonText } from '../../model/text.ts';
import type { Renderer } from '../renderer.ts';
import { failureReport } from './failure.ts';

/** The version of the objects, in every line. */
const JSON_VERSION = 1;

/** The renderer for --json. @param write is called with one complete line at a time. */
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
      else if (event.kind === 'planned') line({ kind: event.kind, plan: ofPlan(event.plan) });
      else line(placed(event.kind === 'tree' ? ofTree(event) : event, places));
    },
    failure: (error) => report(failureReport(error)),
    close: () => {},
  };
}

/** The object with the position of the written stage, and the rank if the host is one of several. */
function placed(object: object, { stages, links }: Places): object {
  const { stage, link } = object as { readonly stage?: number; readonly link?: number };
  if (stage !== undefined) return { ...object, ...stages.get(stage) };
  const rank = link === undefined ? undefined : links.get(link)?.rank;
  return rank === undefined ? object : { ...object, rank };
}

/** One object per path: its keys include those of the program's event, which is not nested. */
function ofTree({ event, ...place }: Extract<RunEvent, { kind: 'tree' }>): object {
  return { ...place, ...event };
}

/** The plan: the options of a link are not nested. */
function ofPlan({ segments, ...plan }: Plan): object {
  const flat = (link: PlannedLink) => {
    if (!('open' in link)) return link;
    const { open, ...rest } = link;
    return { ...rest, ...open };
  };
  return { ...plan, segments: segments.map((segment) => ({ ...segment, links: segment.links.map(flat) })) };
}

type Stderr = Extract<RunEvent, { kind: 'stderr' }>;

/** Joins characters that were split between two of the agent's messages. */
function createStderr() {
  const open = new Map<number, { readonly decoder: StringDecoder; readonly host: string }>();
  const objectOf = (stage: number, host: string, text: string) => ({ kind: 'stderr', stage, host, text });
  return {
    object({ stage, host, data }: Stderr) {
      const { decoder } = open.get(stage) ?? { decoder: new StringDecoder('utf8') };
      open.set(stage, { decoder, host });
      return objectOf(stage, host, decoder.write(Buffer.from(data)));
    },
    /** Characters that were split and never completed. */
    rest: () =>
      [...open].flatMap(([stage, { decoder, host }]) => {
        const text = decoder.end();
        return text === '' ? [] : [objectOf(stage, host, text)];
      }),
  };
}

/** Decodes the bytes of commands and file words in a plan. `value` of a Buffer is what its toJSON returned. */
function asText(this: unknown, key: string, value: unknown): unknown {
  const own = (this as Readonly<Record<string, unknown>>)[key];
  return own instanceof Uint8Array ? Buffer.from(own).toString('utf8') : value;
}
