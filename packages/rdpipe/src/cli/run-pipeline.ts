/** Runs a pipeline of the command line: signals, the page of --report, the exit status. */
import { statusOf } from '../model/errors.ts';
import type { Emit } from '../model/events.ts';
import type { Report } from '../model/report.ts';
import { describePlan } from '../plan/describe.ts';
import type { RunInput } from '../run/run.ts';
import type { Renderer } from '../ui/renderer.ts';
import { createRenderer, type RendererIo } from '../ui/terminal/create-renderer.ts';
import { createJsonRenderer } from '../ui/terminal/json.ts';
import { type Terminal, writeAll } from '../ui/terminal/terminal.ts';
import type { Io } from './io.ts';
import type { TypedWords } from './report-page.ts';
import { untilUserSignal } from './user-signals.ts';

export interface WantedRun extends RunInput {
  readonly words: TypedWords;
}

/** A run, and how it is shown. */
export interface ShownRun {
  readonly wanted: WantedRun;
  readonly shown: Omit<RendererIo, 'terminal'>;
}

/**
 * Runs what `read` makes of a command line and shows it; returns the exit status. A failure that nothing shows yet is
 * thrown, but for --json, whose objects begin with the command line.
 */
export async function runShown(
  isJson: boolean,
  read: () => Promise<ShownRun>,
  io: Io,
  terminal: Terminal,
): Promise<number> {
  let renderer: Renderer | undefined;
  try {
    const { wanted, shown } = await read();
    const { dryRun, json } = wanted.settings;
    renderer = await createRenderer(wanted.settings, { terminal, ...shown });
    return await runWanted(wanted, io, dryRun && !json ? withPlanOnOutput(renderer) : renderer);
  } catch (error) {
    const place = renderer ?? (isJson ? createJsonRenderer(terminal.write) : undefined);
    if (place === undefined) throw error;
    place.failure(error);
    return statusOf(error);
  } finally {
    renderer?.close();
  }
}

async function runWanted(wanted: WantedRun, io: Io, renderer: Renderer): Promise<number> {
  return untilUserSignal(io.ignoredSignals, async (signal) => {
    const [{ runPipeline }, { findInstallation }] = await Promise.all([
      import('../run/run.ts'),
      import('./installation.ts'),
    ]);
    const input = { ...wanted, installation: findInstallation() };
    const report = await withPage(wanted, renderer.handle, (emit) => runPipeline(input, emit, signal));
    return report.status;
  });
}

/** Writes the page of --report; a dry run has none. */
async function withPage(wanted: WantedRun, emit: Emit, go: (emit: Emit) => Promise<Report>): Promise<Report> {
  const { dryRun, reportFile } = wanted.settings;
  if (reportFile === undefined || dryRun) return go(emit);
  const { runWithPage } = await import('./report-page.ts');
  return runWithPage(reportFile, wanted.words, emit, go);
}

/** The plan of a dry run goes to standard output. */
function withPlanOnOutput(renderer: Renderer): Renderer {
  return {
    ...renderer,
    handle(event) {
      renderer.handle(event);
      if (event.kind === 'planned') writeAll(1, Buffer.from(`${describePlan(event.plan).join('\n')}\n`));
    },
  };
}
