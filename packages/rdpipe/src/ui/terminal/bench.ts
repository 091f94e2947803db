/** Shows a benchmark: progress on the terminal, then a table on standard output, or JSON. */
import type { Benchmark } from '../../model/benchmark.ts';
import { jsonText } from '../../model/text.ts';
import { benchLines } from '../bench-table.ts';
import { messageLine } from './failure.ts';
import { createJsonStatusView, createStatusView, type Output, type StatusSettings, type StatusView } from './status.ts';
import type { Terminal } from './terminal.ts';

export interface BenchView extends StatusView {
  finished(benchmark: Benchmark): void;
  /** Shows another problem in one line. */
  warn(message: string): void;
}

/** The view for people, or that for --json. `protectPayload` must have run before. */
export async function createBenchView(
  settings: StatusSettings,
  terminal: Terminal,
  output: Output,
): Promise<BenchView> {
  if (settings.json) return createJsonBenchView(terminal, output);
  const { view, display } = await createStatusView(settings, terminal);
  return {
    ...view,
    finished(benchmark) {
      display.stop();
      output.write(
        benchLines(benchmark, output.columns?.())
          .map((line) => `${line}\n`)
          .join(''),
      );
    },
    warn: (message) => display.text(messageLine(message)),
  };
}

/** Writes one JSON object at the end; warnings go to the terminal. */
export function createJsonBenchView({ write: complain }: Pick<Terminal, 'write'>, output: Output): BenchView {
  return {
    ...createJsonStatusView(output, { methods: [], missing: [] }),
    finished: (benchmark) => output.write(`${jsonText(benchmark)}\n`),
    warn: (message) => complain(messageLine(message)),
  };
}
