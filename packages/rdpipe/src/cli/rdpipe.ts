/** `main`: parses the command line, runs the pipeline or subcommand, returns the exit status. */
import { isatty } from 'node:tty';
import { loadSettings } from '../config/load.ts';
import { statusOf } from '../model/errors.ts';
import type { Emit } from '../model/events.ts';
import type { Pipeline } from '../model/pipeline.ts';
import type { Report } from '../model/report.ts';
import type { Settings } from '../model/settings.ts';
import { type Invocation, parseArgv } from '../parse/argv.ts';
import { parseStages } from '../parse/stage.ts';
import { describePlan } from '../plan/describe.ts';
import type { UserStreams } from '../run/open-hosts.ts';
import type { Renderer } from '../ui/renderer.ts';
import { createRenderer, type OutputPlace } from '../ui/terminal/create-renderer.ts';
import { failureText } from '../ui/terminal/failure.ts';
import { createJsonRenderer } from '../ui/terminal/json.ts';
import { openTerminal, type Terminal, writeAll } from '../ui/terminal/terminal.ts';
import type { Io } from './io.ts';
import type { TypedWords } from './report-page.ts';
import { untilUserSignal } from './user-signals.ts';
import { isFile, userStreams } from './user-streams.ts';

/** Runs the command line `words`, binary strings, and returns the exit status. Never throws. */
export async function main(words: readonly string[], io: Io): Promise<number> {
  const terminal = openTerminal(io.environment);
  try {
    return await invoke(parseArgv(words), io, terminal);
  } catch (error) {
    terminal.write(failureText(error));
    return statusOf(error);
  }
}

async function invoke(invocation: Invocation, io: Io, terminal: Terminal): Promise<number> {
  switch (invocation.kind) {
    case 'help':
    case 'version':
      writeAll(1, Buffer.from(invocation.text));
      return 0;
    case 'demo': {
      const { demo } = await import('./demo.ts');
      return demo(invocation.words, io.environment);
    }
    case 'doctor': {
      const { doctor } = await import('./doctor.ts');
      return doctor(invocation, io, terminal);
    }
    case 'bench': {
      const { bench } = await import('./bench.ts');
      return bench(invocation, io, terminal);
    }
    case 'run':
      return runInvocation(invocation, io, terminal);
  }
}

type RunInvocation = Extract<Invocation, { kind: 'run' }>;

interface Wanted {
  readonly settings: Settings;
  readonly pipeline: Pipeline;
  readonly streams: UserStreams;
  readonly words: TypedWords;
}

async function runInvocation(invocation: RunInvocation, io: Io, terminal: Terminal): Promise<number> {
  let renderer: Renderer | undefined;
  try {
    const wanted = await readInvocation(invocation, io);
    renderer = await createRenderer(wanted.settings, { terminal, output: outputPlace(wanted) });
    return await run(wanted, io, renderer);
  } catch (error) {
    const early = invocation.options.json === true ? createJsonRenderer(terminal.write) : undefined;
    const shown = renderer ?? early;
    if (shown === undefined) throw error;
    shown.failure(error);
    return statusOf(error);
  } finally {
    renderer?.close();
  }
}

async function readInvocation({ options, optionWords, stageWords }: RunInvocation, io: Io): Promise<Wanted> {
  const settings = await loadSettings(options, io.environment);
  const pipeline = parseStages(stageWords, { optionWords, settings });
  return { settings, pipeline, streams: userStreams(settings), words: { optionWords, stageWords } };
}

/** A command on this machine writes to the terminal itself; a pipe may end in a program that does. */
function outputPlace({ pipeline, streams }: Wanted): OutputPlace {
  const last = pipeline.stages.at(-1);
  if (streams.stdout === 'drop' || last?.kind === 'sink' || isFile(1)) return 'elsewhere';
  const writesItself = last?.kind === 'command' && last.host.name === '';
  return isatty(1) && !writesItself ? 'announced' : 'unknown';
}

async function run(wanted: Wanted, io: Io, renderer: Renderer): Promise<number> {
  const emit: Emit = (event) => {
    renderer.handle(event);
    const { dryRun, json } = wanted.settings;
    if (event.kind !== 'planned' || !dryRun || json) return;
    writeAll(1, Buffer.from(`${describePlan(event.plan).join('\n')}\n`));
  };
  return untilUserSignal(io.ignoredSignals, async (signal) => {
    const [{ runPipeline }, { findInstallation }] = await Promise.all([
      import('../run/run.ts'),
      import('./installation.ts'),
    ]);
    const input = { ...wanted, installation: findInstallation() };
    const report = await withPage(wanted, emit, (emitPart) => runPipeline(input, emitPart, signal));
    return report.status;
  });
}

/** Writes the page of --report; a dry run has none. */
async function withPage(wanted: Wanted, emit: Emit, go: (emit: Emit) => Promise<Report>): Promise<Report> {
  const { dryRun, reportFile } = wanted.settings;
  if (reportFile === undefined || dryRun) return go(emit);
  const { runWithPage } = await import('./report-page.ts');
  return runWithPage(reportFile, wanted.words, emit, go);
}
