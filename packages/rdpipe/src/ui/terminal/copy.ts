/** Shows a copy of trees to people: paths, failures, and the sums at the end. */
import type { RunEvent } from '../../model/events.ts';
import type { Report } from '../../model/report.ts';
import type { TreeEvent } from '../../model/tree.ts';
import { copySummary, hostSummaries, keptText } from '../copy-text.ts';
import { formatCount } from '../format.ts';
import type { Colors } from './colors.ts';
import type { CopyProgress } from './copy-progress.ts';
import type { Display } from './display.ts';
import { messageLine } from './failure.ts';
import type { CopyView } from './human.ts';
import { mainLines, summaryLines } from './summary.ts';

export interface CopyViewSettings {
  readonly verbosity: number;
  readonly quiet: boolean;
  /** A person reads the lines. */
  readonly isTerminal: boolean;
  /** A dry run: nothing is copied, the plan goes to standard output. */
  readonly isPlan: boolean;
}

/** Further failed paths are only counted. */
const FAILURES_SHOWN = 50;

/** The part of the human renderer for a copy of trees. */
export function createCopyView(
  settings: CopyViewSettings,
  display: Display,
  progress: CopyProgress,
  colors: Colors,
): CopyView {
  const paths = createLineGatherer(display.text);
  let failed = 0;
  let isWide = false;
  const say = (message: string, color: Colors['speaker']) => {
    paths.flush();
    display.text(messageLine(message, color, 'rdcp'));
  };
  const show = (host: string, event: TreeEvent) => {
    if (event.event === 'path' && settings.verbosity > 0)
      paths.add(`${isWide ? `${host}: ` : ''}${event.action} ${event.path}\n`);
    if (event.event === 'warning' && !settings.quiet) say(`warning: ${host}: ${event.message}`, colors.speaker);
    if (event.event !== 'failed') return;
    failed += 1;
    if (failed <= FAILURES_SHOWN) say(`${host}: ${event.path}: ${event.message}`, colors.failure);
  };
  return {
    planned(plan) {
      isWide = plan.segments.some(({ stages }) => stages.some(({ stage }) => stage.part !== undefined));
      progress.planned(plan);
    },
    tree(event: Extract<RunEvent, { kind: 'tree' }>) {
      progress.tree(event);
      show(event.host, event.event);
    },
    end() {
      paths.flush();
      if (failed > FAILURES_SHOWN) say(moreFailures(failed - FAILURES_SHOWN), colors.failure);
    },
    closingLines: (report) => closingLines(report, settings),
    // The hops of a plan carry only names.
    summaryLines: (report, columns) =>
      settings.isPlan ? [] : (settings.verbosity > 1 ? summaryLines : mainLines)(report, columns),
    lastLines({ copy }) {
      const text = copy?.kept === undefined || settings.quiet ? undefined : keptText(copy);
      return text === undefined ? [] : [messageLine(text, colors.speaker, 'rdcp')];
    },
  };
}

function moreFailures(number: number): string {
  return `… and ${formatCount(number)} more (--json lists all, --report the first)`;
}

/** The sums: one line on a terminal, nothing if a program reads the output or the copy was interrupted, unless -v. */
function closingLines(report: Report, { verbosity, quiet, isTerminal, isPlan }: CopyViewSettings): readonly string[] {
  const isInterrupted = report.copy?.kept !== undefined;
  const isWanted = !isPlan && (verbosity > 0 || (isTerminal && !quiet && !isInterrupted));
  if (!isWanted || report.copy === undefined) return [];
  return [copySummary(report.copy, report), ...(verbosity > 0 ? hostSummaries(report.copy) : [])];
}

const GATHER_MS = 100;
const GATHER_MAX = 65536;

/** Combines lines into few writes: there may be thousands of paths per second. */
function createLineGatherer(write: (text: string) => void) {
  let text = '';
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    const lines = text;
    text = '';
    if (lines !== '') write(lines);
  };
  return {
    add(line: string) {
      text += line;
      timer ??= setTimeout(flush, GATHER_MS).unref();
      if (text.length >= GATHER_MAX) flush();
    },
    flush,
  };
}
