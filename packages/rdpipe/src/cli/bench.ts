/** `rdpipe bench`: measures each method between two hosts. */
import type { Benchmark } from '../model/benchmark.ts';
import type { HostRef } from '../model/pipeline.ts';
import { parseTwoHosts } from '../parse/hosts.ts';
import { type BenchView, createBenchView, createJsonBenchView } from '../ui/terminal/bench.ts';
import type { Terminal } from '../ui/terminal/terminal.ts';
import { type HostCommand, type HostInvocation, runHostCommand } from './host-command.ts';
import type { Io } from './io.ts';

/**
 * Runs `rdpipe bench` and returns the exit status: 125 if a method fails that should work. Only the flag requests a
 * page: `report` in the config file is for runs.
 */
export function bench(invocation: HostInvocation, io: Io, terminal: Terminal): Promise<number> {
  return runHostCommand(benchCommand(invocation.options.reportFile), invocation, io, terminal);
}

function benchCommand(reportFile: string | undefined): HostCommand<readonly [HostRef, HostRef], BenchView> {
  return {
    parse: parseTwoHosts,
    jsonView: createJsonBenchView,
    view: createBenchView,
    async work({ hosts: [from, to], settings, installation }, view, signal) {
      const began = new Date();
      const { bench: measure } = await import('../bench/bench.ts');
      const input = { from, to, settings, installation, rounds: settings.rounds, bytes: settings.sizeBytes };
      const measured = await measure(input, view, signal);
      const problem = await writeReport(reportFile, measured, began);
      const benchmark: Benchmark = problem === undefined ? measured : { ...measured, status: 125 };
      view.finished(benchmark);
      if (problem !== undefined) view.warn(problem);
      return benchmark.status;
    },
  };
}

/** Writes the page; returns the reason if it cannot be written. */
async function writeReport(file: string | undefined, benchmark: Benchmark, began: Date): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const { writePage } = await import('./write-page.ts');
  return writePage(file, ({ benchPage }) => benchPage(benchmark, began));
}
