/** Chooses the renderer and the display of a run. */
import type { Settings } from '../../model/settings.ts';
import type { Renderer } from '../renderer.ts';
import { createColors } from './colors.ts';
import { createCopyView } from './copy.ts';
import { type CopyProgress, createCopyProgress } from './copy-progress.ts';
import { copyLine, copyRows } from './copy-rows.ts';
import { createNoDisplay, createPlainDisplay, createSwitchingDisplay, type Display } from './display.ts';
import { createHumanRenderer } from './human.ts';
import { createJsonRenderer } from './json.ts';
import { createProgress, type Progress } from './progress.ts';
import { progressRows, rowsWithoutOutput } from './progress-rows.ts';
import { isInForeground, type Terminal } from './terminal.ts';

export type RendererSettings = Pick<
  Settings,
  'json' | 'quiet' | 'verbosity' | 'dryRun' | 'stderr' | 'prefix' | 'progress' | 'sizeBytes'
>;

/**
 * The destination of the pipeline's output. `elsewhere`: rows do not disturb it. `announced`: the terminal, and an
 * event precedes the first byte. `unknown`: the terminal, or a program that may write to it, without an event.
 */
export type OutputDestination = 'elsewhere' | 'announced' | 'unknown';

export interface RendererIo {
  readonly terminal: Terminal;
  readonly output: OutputDestination;
  /** The prefix of the program's own lines; absent: rdpipe. */
  readonly program?: 'rdcp' | 'rdssh';
  /** Writes the standard error of stages, if it does not go to the terminal. */
  readonly stageStderr?: Terminal['write'];
  /** A copy of trees, or the plan of one. */
  readonly copy?: 'copy' | 'plan';
}

/** Call this only after `protectPayload`: the libraries of the live display open process.stdout. */
export async function createRenderer(settings: RendererSettings, io: RendererIo): Promise<Renderer> {
  if (settings.json) return createJsonRenderer(io.terminal.write);
  const now = () => performance.now();
  const progress = createProgress(settings.sizeBytes, now);
  const { isTerminal, color, columns } = io.terminal;
  const colors = await createColors(color);
  const { program, stageStderr } = io;
  const shown = {
    ...settings,
    isTerminal,
    ...(columns && { columns }),
    ...(program && { program }),
    ...(stageStderr && { stageStderr }),
  };
  if (io.copy === undefined) {
    const display = await createDisplay(settings, io, rowsOfHops(progress));
    return createHumanRenderer(shown, display, progress, colors);
  }
  const copy = createCopyProgress(progress.hops, now);
  const display = await createDisplay(settings, io, rowsOfCopy(copy));
  const view = createCopyView({ ...settings, isTerminal, isPlan: io.copy === 'plan' }, display, copy, colors);
  return createHumanRenderer(shown, display, progress, colors, view);
}

interface ShownProgress {
  /** Rows for a terminal with `columns`. */
  readonly rows: (columns: number) => readonly string[];
  /** Lines for an output that cannot be redrawn. */
  readonly lines: () => readonly string[];
  /** Lines for a terminal that also shows the pipeline's output. */
  readonly linesBesideOutput: () => readonly string[];
}

function rowsOfHops(progress: Progress): ShownProgress {
  const rows = (columns: number) => progressRows(progress.hops(), columns);
  return {
    rows,
    lines: () => rows(Number.POSITIVE_INFINITY),
    linesBesideOutput: rowsWithoutOutput(progress),
  };
}

function rowsOfCopy(progress: CopyProgress): ShownProgress {
  return {
    rows: (columns) => copyRows(progress.state(), columns),
    lines: () => copyLine(progress.state()),
    linesBesideOutput: () => [],
  };
}

async function createDisplay(settings: RendererSettings, io: RendererIo, shown: ShownProgress): Promise<Display> {
  const { write, stream } = io.terminal;
  switch (modeFor(settings, io)) {
    case 'none':
      return createNoDisplay(write);
    case 'plain':
      return createPlainDisplay(write, shown.lines, io.program);
    case 'live': {
      if (stream === undefined) return createNoDisplay(write);
      const { createLiveDisplay, NO_ROWS } = await import('./live.ts');
      if (io.output === 'unknown') return createLiveDisplay(stream, write, NO_ROWS);
      const at = (columns: number) => (isInForeground() ? shown.rows(columns) : []);
      // The last line of a finished copy contains its sums.
      const live = createLiveDisplay(stream, write, { at, stay: io.output === 'elsewhere' && io.copy === undefined });
      return io.output === 'elsewhere'
        ? live
        : createSwitchingDisplay(live, createPlainDisplay(write, shown.linesBesideOutput, io.program));
    }
  }
}

/** `auto` shows at least connecting on a terminal; `live` becomes plain if rows cannot be redrawn. */
function modeFor({ quiet, progress }: RendererSettings, io: RendererIo): 'none' | 'plain' | 'live' {
  const isTerminal = io.terminal.stream !== undefined;
  if (quiet) return 'none';
  if (progress === 'auto') return isTerminal ? 'live' : 'none';
  return progress === 'live' && (!isTerminal || io.output === 'unknown') ? 'plain' : progress;
}
