/** Runs a pipeline of the command line: signals, the page of --report, the exit status. */
import { statusOf } from '../model/errors.ts';
import type { Emit } from '../model/events.ts';
import type { Report } from '../model/report.ts';
import { describeOpenssl, describePlan } from '../plan/describe.ts';
import type { RunInput } from '../run/run.ts';
import { wrap } from '../ui/columns.ts';
import type { Renderer } from '../ui/renderer.ts';
import { createRenderer, type RendererIo } from '../ui/terminal/create-renderer.ts';
import { createJsonRenderer } from '../ui/terminal/json.ts';
import { outputPrefix } from '../ui/terminal/output-prefix.ts';
import { outputColumns, type Terminal, writeAll } from '../ui/terminal/terminal.ts';
import type { Io } from './io.ts';
import type { TypedWords } from './report-page.ts';
import { staticOpenssl } from './static-openssl.ts';
import { untilUserSignal } from './user-signals.ts';

export interface WantedRun extends RunInput {
  readonly words: TypedWords;
}

/** A run, and the way it is shown. */
export interface ShownRun {
  readonly wanted: WantedRun;
  readonly shown: Omit<RendererIo, 'terminal'>;
  /** rdssh's behaviour, if it differs from rdpipe's. */
  readonly adapted?: Adapted;
}

export interface Adapted {
  /** The report to show; its status becomes the exit status. */
  readonly report: (report: Report) => Report;
  /** The exit status if there is no report. */
  readonly status: (error: unknown) => number;
  /** Called when the command starts. */
  readonly begun?: () => void;
  /** Does the work without a run if a run cannot start, and returns the exit status; undefined: not possible. */
  readonly instead: (error: unknown) => Promise<number> | undefined;
}

/**
 * Runs and shows the run that `read` makes from the command line; returns the exit status. Failures before there is a
 * renderer are thrown, except with --json, which reports them as objects.
 */
export async function runShown(
  isJson: boolean,
  read: () => Promise<ShownRun>,
  io: Io,
  terminal: Terminal,
): Promise<number> {
  let renderer: Renderer | undefined;
  let adapted: Adapted | undefined;
  try {
    const run = await read();
    const { wanted, shown } = run;
    adapted = run.adapted;
    const { dryRun, json } = wanted.settings;
    renderer = withReports(await createRenderer(wanted.settings, { terminal, ...shown }), adapted);
    const shownBy = dryRun && !json ? withPlanOnOutput(renderer, terminal, await staticOpenssl()) : renderer;
    return await runWanted({ ...wanted, prefixOf: await outputPrefix(terminal) }, io, shownBy, adapted);
  } catch (error) {
    const instead = adapted?.instead(error);
    if (instead !== undefined) {
      renderer?.close();
      return await instead;
    }
    const place = renderer ?? (isJson ? createJsonRenderer(terminal.write) : undefined);
    if (place === undefined) throw error;
    place.failure(error);
    return (adapted?.status ?? statusOf)(error);
  } finally {
    renderer?.close();
  }
}

async function runWanted(wanted: WantedRun, io: Io, renderer: Renderer, adapted?: Adapted): Promise<number> {
  return untilUserSignal(io.ignoredSignals, async (signal) => {
    const [{ runPipeline }, { findInstallation }] = await Promise.all([
      import('../run/run.ts'),
      import('./installation.ts'),
    ]);
    const input = { ...wanted, installation: findInstallation() };
    const report = await withPage(wanted, renderer.handle, (emit) => runPipeline(input, emit, signal));
    return (adapted?.report(report) ?? report).status;
  });
}

/** Writes the page of --report; a dry run has none. */
async function withPage(wanted: WantedRun, emit: Emit, go: (emit: Emit) => Promise<Report>): Promise<Report> {
  const { dryRun, reportFile } = wanted.settings;
  if (reportFile === undefined || dryRun) return go(emit);
  const { runWithPage } = await import('./report-page.ts');
  return runWithPage(reportFile, wanted.words, emit, go);
}

function withReports(renderer: Renderer, adapted: Adapted | undefined): Renderer {
  if (adapted === undefined) return renderer;
  return {
    ...renderer,
    handle(event) {
      if (event.kind === 'segment_started') adapted.begun?.();
      renderer.handle(event.kind === 'finished' ? { ...event, report: adapted.report(event.report) } : event);
    },
  };
}

/** More than the indent of the lines about a hop. */
const PLAN_INDENT = 4;

/** The plan of a dry run goes to standard output. `openssl`: that of the static programs. */
function withPlanOnOutput(renderer: Renderer, terminal: Terminal, openssl: string | undefined): Renderer {
  return {
    ...renderer,
    handle(event) {
      renderer.handle(event);
      if (event.kind !== 'planned') return;
      const columns = outputColumns(terminal);
      const plan = [...describePlan(event.plan), ...describeOpenssl(event.plan, openssl)];
      const lines = plan.flatMap((line) => wrap(line, columns, line.search(/\S/) + PLAN_INDENT));
      writeAll(1, Buffer.from(`${lines.join('\n')}\n`));
    },
  };
}
