/** `rdpipe bench`: what lies between two hosts, by every way. */
import { isatty } from 'node:tty';
import { loadSettings, type Settings } from '../config/settings.ts';
import type { Benchmark } from '../model/benchmark.ts';
import { RdpipeError } from '../model/errors.ts';
import type { HostRef } from '../model/pipeline.ts';
import type { Invocation } from '../parse/argv.ts';
import { parseTwoHosts } from '../parse/hosts.ts';
import { type BenchView, createBenchView, createJsonBenchView } from '../ui/bench.ts';
import { type Terminal, writeAll } from '../ui/terminal.ts';
import type { Io } from './rdpipe.ts';
import { watchUserSignals } from './user-signals.ts';

export type BenchInvocation = Extract<Invocation, { hostWords: readonly string[] }>;

const ROUNDS = 5;

/** The exit status: 125 when a way that should work does not. */
export async function bench(invocation: BenchInvocation, io: Io, terminal: Terminal): Promise<number> {
  const output = { color: terminal.color && isatty(1), write: (text: string) => writeAll(1, Buffer.from(text)) };
  let view = invocation.options.json === true ? createJsonBenchView(terminal, output) : undefined;
  try {
    const settings = await loadSettings(invocation.options, io.environment);
    const [from, to] = parseTwoHosts(invocation.hostWords, settings.namedHosts);
    view = await createBenchView(settings, terminal, output);
    const { rounds = ROUNDS, report } = invocation.options;
    return await measure({ from, to, settings, rounds, report }, io, view);
  } catch (error) {
    if (view === undefined) throw error;
    view.failure(error);
    return error instanceof RdpipeError ? error.status : 125;
  } finally {
    view?.close();
  }
}

interface Wanted {
  readonly from: HostRef;
  readonly to: HostRef;
  readonly settings: Settings;
  readonly rounds: number;
  /** Of the flag: the config file's is that of runs. */
  readonly report: string | undefined;
}

async function measure(wanted: Wanted, io: Io, view: BenchView): Promise<number> {
  const began = new Date();
  const controller = new AbortController();
  const forgetSignals = watchUserSignals(controller, io.ignoredSignals);
  try {
    const [{ bench: run }, { findInstallation }] = await Promise.all([
      import('../bench/bench.ts'),
      import('./installation.ts'),
    ]);
    const input = { ...wanted, bytes: wanted.settings.sizeBytes, installation: findInstallation() };
    const benchmark = await run(input, view, controller.signal);
    view.finished(benchmark);
    return Math.max(benchmark.status, await writeReport(wanted.report, benchmark, began, view));
  } finally {
    forgetSignals();
  }
}

/** The status of what could not be written is told in one line. */
async function writeReport(
  file: string | undefined,
  benchmark: Benchmark,
  began: Date,
  view: BenchView,
): Promise<number> {
  if (file === undefined) return 0;
  const { writePage } = await import('./write-page.ts');
  const problem = await writePage(file, ({ benchPage }) => benchPage(benchmark, began));
  if (problem === undefined) return 0;
  view.warn(problem);
  return 125;
}
