/** Runs a pipeline and then writes the page of --report. */
import type { Emit } from '../model/events.ts';
import type { Report } from '../model/report.ts';
import { quoteWord } from '../parse/quote.ts';
import { describePlan } from '../plan/describe.ts';
import { createHistoryKeeper } from '../ui/pages/history.ts';
import { failureReport } from '../ui/terminal/failure.ts';
import { writePage } from './write-page.ts';

/** The command line as the user typed it. */
export interface TypedWords {
  readonly program: string;
  readonly optionWords: readonly string[];
  readonly stageWords: readonly string[];
}

/**
 * Runs, and writes the page before the last event. If the page cannot be written, a successful run fails, and a failed
 * one gets a warning.
 * @throws the error of `run`, after writing a page about it.
 */
export async function runWithPage(
  file: string,
  words: TypedWords,
  emit: Emit,
  run: (emit: Emit) => Promise<Report>,
): Promise<Report> {
  const began = new Date();
  const startedMs = performance.now();
  const keeper = createHistoryKeeper(() => performance.now());
  const write = async (report: Report): Promise<string | undefined> => {
    const history = keeper.history();
    const command = commandLines(words);
    const plan = history.plan === undefined ? [] : describePlan(history.plan);
    return writePage(file, ({ runPage }) => runPage({ command, plan, began, history, report }));
  };
  const report = await run((event) => {
    keeper.handle(event);
    if (event.kind !== 'finished') emit(event);
  }).catch(async (error: unknown) => {
    const seconds = (performance.now() - startedMs) / 1000;
    warn(await write({ ...failureReport(error), seconds }), emit);
    throw error;
  });
  const final = withProblem(report, await write(report), emit);
  emit({ kind: 'finished', report: final });
  return final;
}

/** Options on the first line, then one line per stage. */
function commandLines({ program, optionWords, stageWords }: TypedWords): readonly string[] {
  const first = [program, ...optionWords.map(quoteWord)].join(' ');
  return [first, ...stageWords.map((word) => `    ${quoteWord(word)}`)].map((line, index) =>
    index === stageWords.length ? line : `${line} \\`,
  );
}

function withProblem(report: Report, problem: string | undefined, emit: Emit): Report {
  if (problem !== undefined && report.status === 0)
    return { ...report, status: 125, cause: 'rdpipe', message: problem };
  warn(problem, emit);
  return report;
}

function warn(problem: string | undefined, emit: Emit): void {
  if (problem !== undefined) emit({ kind: 'warning', message: problem });
}
