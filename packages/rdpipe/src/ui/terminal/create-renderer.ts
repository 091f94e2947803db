/** Chooses the renderer and the display of a run. */
import type { Settings } from '../../model/settings.ts';
import type { Renderer } from '../renderer.ts';
import { createColors } from './colors.ts';
import { createNoDisplay, createPlainDisplay, createSwitchingDisplay, type Display } from './display.ts';
import { createHumanRenderer } from './human.ts';
import { createJsonRenderer } from './json.ts';
import { createProgress, type Progress } from './progress.ts';
import { progressRows, rowsWithoutOutput } from './progress-rows.ts';
import { isInForeground, type Terminal } from './terminal.ts';

export type RendererSettings = Pick<
  Settings,
  'json' | 'quiet' | 'verbosity' | 'dryRun' | 'stderr' | 'progress' | 'sizeBytes'
>;

/**
 * Where the pipeline's output goes. `elsewhere`: rows disturb nothing. `announced`: to the terminal, and an event comes
 * before its first byte. `unknown`: to the terminal, or to a program that may write there, without an event.
 */
export type OutputPlace = 'elsewhere' | 'announced' | 'unknown';

export interface RendererIo {
  readonly terminal: Terminal;
  readonly output: OutputPlace;
  /** Begins each line of the program's own; absent: rdpipe. */
  readonly program?: 'rdcp';
}

/** `protectPayload` comes first: the libraries of the live display open process.stdout. */
export async function createRenderer(settings: RendererSettings, io: RendererIo): Promise<Renderer> {
  if (settings.json) return createJsonRenderer(io.terminal.write);
  const progress = createProgress(settings.sizeBytes, () => performance.now());
  const display = await createDisplay(settings, io, progress);
  const { isTerminal, color } = io.terminal;
  const program = io.program === undefined ? {} : { program: io.program };
  return createHumanRenderer({ ...settings, isTerminal, ...program }, display, progress, await createColors(color));
}

async function createDisplay(settings: RendererSettings, io: RendererIo, progress: Progress): Promise<Display> {
  const { write, stream } = io.terminal;
  const rows = (columns: number) => progressRows(progress.hops(), columns);
  switch (modeFor(settings, io)) {
    case 'none':
      return createNoDisplay(write);
    case 'plain':
      return createPlainDisplay(write, () => rows(Number.POSITIVE_INFINITY), io.program);
    case 'live': {
      if (stream === undefined) return createNoDisplay(write);
      const { createLiveDisplay, NO_ROWS } = await import('./live.ts');
      if (io.output === 'unknown') return createLiveDisplay(stream, write, NO_ROWS);
      const at = (columns: number) => (isInForeground() ? rows(columns) : []);
      const live = createLiveDisplay(stream, write, { at, stay: io.output === 'elsewhere' });
      return io.output === 'elsewhere'
        ? live
        : createSwitchingDisplay(live, createPlainDisplay(write, rowsWithoutOutput(progress), io.program));
    }
  }
}

/** `auto` shows at least the connecting on a terminal; `live` gives lines where rows cannot be redrawn. */
function modeFor({ quiet, progress }: RendererSettings, io: RendererIo): 'none' | 'plain' | 'live' {
  const isTerminal = io.terminal.stream !== undefined;
  if (quiet) return 'none';
  if (progress === 'auto') return isTerminal ? 'live' : 'none';
  return progress === 'live' && (!isTerminal || io.output === 'unknown') ? 'plain' : progress;
}
