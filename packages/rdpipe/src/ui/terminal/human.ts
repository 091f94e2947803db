/** The renderer for people: text and progress on standard error. */

import type { RunEvent } from '../../model/events.ts';
import { NO_PLACES, placesOf } from '../../model/places.ts';
import type { Plan } from '../../model/plan.ts';
import type { Report } from '../../model/report.ts';
import type { Settings } from '../../model/settings.ts';
import { printable, printableText } from '../../model/text.ts';
import { formatBytes } from '../../model/units.ts';
import { wrap } from '../columns.ts';
import { dispatch, type EventHandlers, type Renderer } from '../renderer.ts';
import type { Colors } from './colors.ts';
import type { Display } from './display.ts';
import { failureText, messageLine } from './failure.ts';
import type { Progress } from './progress.ts';
import { createStageStderr, type StageStderr, stderrMode } from './stage-stderr.ts';
import { summaryLines } from './summary.ts';
import type { Terminal } from './terminal.ts';

/** The part of the display for a copy of trees. */
export interface CopyView {
  planned(plan: Plan): void;
  tree(event: Extract<RunEvent, { kind: 'tree' }>): void;
  /** Shows the remaining paths. */
  end(): void;
  /** The lines before the closing lines of every run. */
  closingLines(report: Report): readonly string[];
  /** The lines of -v in place of a pipeline's summary, without newlines. */
  summaryLines(report: Report, columns?: number): readonly string[];
  /** The lines after them, with their newlines. */
  lastLines(report: Report): readonly string[];
}

type HumanSettings = Pick<Settings, 'verbosity' | 'quiet' | 'dryRun' | 'stderr' | 'prefix'> & {
  readonly isTerminal: boolean;
  /** The width of the closing lines; absent: unlimited. */
  readonly columns?: Terminal['columns'];
  /** The prefix of the program's own lines; absent: rdpipe. */
  readonly program?: 'rdcp' | 'rdssh';
  /** Writes the standard error of stages; absent: the display writes it. */
  readonly stageStderr?: (text: string | Uint8Array) => void;
};

/** The renderer for people; stops `display` at the end of the run. */
export function createHumanRenderer(
  settings: HumanSettings,
  display: Display,
  progress: Progress,
  colors: Colors,
  copy?: CopyView,
): Renderer {
  const handlers = createHandlers(settings, display, progress, colors, copy);
  return {
    handle: (event) => dispatch(handlers, event),
    failure(error) {
      display.stop();
      display.text(failureText(error, colors, settings.program, settings.columns?.()));
    },
    close: () => display.stop(),
  };
}

function createHandlers(
  settings: HumanSettings,
  display: Display,
  progress: Progress,
  colors: Colors,
  copy: CopyView | undefined,
): EventHandlers {
  const log = (message: string) => {
    if (settings.verbosity >= 2) display.text(messageLine(message, colors.speaker, settings.program));
  };
  const inform = (message: string) => {
    if (settings.verbosity >= 1) display.text(messageLine(message, colors.speaker, settings.program));
  };
  const warn = (message: string) => {
    if (!settings.quiet) display.text(messageLine(`warning: ${message}`, colors.speaker, settings.program));
  };
  const waiting = createConnectingStatus(display);
  let stderr: StageStderr | undefined;
  let loginText: LoginText | undefined;
  let places = NO_PLACES;
  const numberOf = (stage: number) => places.stages.get(stage)?.stage ?? stage;
  return {
    connecting: ({ hosts }) => waiting.begin(hosts),
    host_connected({ host, lacks }) {
      waiting.end(host);
      if (loginText?.host === host) showAsSsh(loginText, settings, display);
      for (const one of lacks) inform(`${host}: ${one}`);
      log(`${host}: connected`);
    },
    deploying({ host, bytes, copied }) {
      waiting.deploy(host, copied, bytes);
      if (copied === 0) log(`${host}: copying the agent, ${formatBytes(bytes)}`);
    },
    prompting: ({ active }) => (active ? display.pause() : display.resume()),
    planned({ plan }) {
      if (settings.dryRun) waiting.done(); // the plan is printed next
      places = placesOf(plan);
      progress.planned(plan);
      copy?.planned(plan);
      const mode = stderrMode(settings, plan);
      stderr = createStageStderr(mode, plan, settings.stageStderr ?? display.text, colors.speaker);
    },
    segment_started({ segment }) {
      waiting.done();
      progress.segmentStarted(segment);
      display.startRows();
    },
    hop_connected: ({ link, transport, cipher, way }) => log(`hop ${link} connected: ${transport}, ${cipher}, ${way}`),
    hop_broken(event) {
      progress.broke(event);
      log(`${event.host}: hop ${event.link} broke, reconnecting: ${event.message}`);
    },
    hop_resumed(event) {
      progress.resumed(event);
      log(`${event.host}: hop ${event.link} reconnected, resuming after ${formatBytes(event.bytes)}`);
    },
    size: progress.sizeKnown,
    counters: progress.counted,
    output: () => display.output(),
    stderr: ({ stage, data }) => stderr?.data(stage, data),
    tree: (event) => copy?.tree(event),
    stage_started: ({ stage, host, pid }) => log(`${host}: stage ${numberOf(stage)} started as process ${pid}`),
    stage_exited(event) {
      const { stage, host, code, signal } = event;
      progress.exited(event);
      const how = signal === null ? `exited with status ${code}` : `was killed by signal ${signal}`;
      log(`${host}: stage ${numberOf(stage)} ${how}`);
    },
    host_lost({ host, message }) {
      progress.lost(host);
      warn(message);
    },
    host_slow: ({ message }) => warn(message),
    stopping: ({ reason }) => log(`stopping: ${reason}`),
    suspended: () => display.pause(),
    resumed: () => display.resume(),
    login_text(event) {
      // If the host is left to ssh, that prints it.
      if (settings.program === 'rdssh') loginText = event;
      else for (const line of linesOf(event)) log(`${event.host}: ${line}`);
    },
    log: ({ message }) => log(message),
    warning: ({ message }) => warn(message),
    finished({ report }) {
      stderr?.end();
      copy?.end();
      display.stop();
      const columns = settings.columns?.();
      for (const line of copy?.closingLines(report) ?? []) display.text(`${wrap(line, columns).join('\n')}\n`);
      for (const line of closingLines(report, settings, colors, copy)) display.text(line);
      for (const line of copy?.lastLines(report) ?? []) display.text(line);
    },
  };
}

type LoginText = Extract<RunEvent, { kind: 'login_text' }>;

/** ssh's -E is a file for its log, without the banner. */
function showAsSsh({ log, banner }: LoginText, { quiet, stageStderr }: HumanSettings, display: Display): void {
  if (quiet) return;
  if (log !== '') display.text(printableText(log));
  if (banner !== '') (stageStderr ?? display.text)(printableText(banner));
}

function linesOf({ log, banner }: LoginText): readonly string[] {
  const lines = `${log}\n${banner}`.split('\n').map((line) => printable(line.trimEnd()));
  return lines.filter((line) => line !== '');
}

function closingLines(
  report: Report,
  settings: HumanSettings,
  colors: Colors,
  copy: CopyView | undefined,
): readonly string[] {
  const { verbosity, quiet, dryRun, program } = settings;
  const lines = copy?.summaryLines ?? summaryLines;
  const wanted = verbosity >= 1 && !dryRun ? lines(report, settings.columns?.()) : [];
  const summary = wanted.map((line) => `${line}\n`);
  if (report.message !== null) return [...summary, messageLine(report.message, colors.failure, program)];
  return dryRun && !quiet ? [messageLine(DRY_RUN, colors.speaker, program)] : summary;
}

/** ssh's -n has another meaning, for which rdpipe has --stdin none. */
const DRY_RUN = "dry run: nothing was started (for ssh's -n, use --stdin none)";

/** Shows the hosts that are not yet connected in one line. */
function createConnectingStatus(display: Display) {
  const hosts = new Map<string, string>();
  let all = 0;
  const show = () => {
    const count = all > COUNTED_MIN ? `${hosts.size} of ${all} hosts: ` : '';
    display.status(hosts.size === 0 ? 'opening data connections' : `connecting to ${count}${firstNames(hosts)}`);
  };
  return {
    begin(names: readonly string[]) {
      for (const name of names) hosts.set(name, printable(name));
      all = hosts.size;
      show();
    },
    deploy(host: string, copied: number, bytes: number) {
      hosts.set(host, `${printable(host)} (copying the agent: ${formatBytes(copied)} of ${formatBytes(bytes)})`);
      show();
    },
    end(host: string) {
      hosts.delete(host);
      show();
    },
    done: () => display.status(undefined),
  };
}

/** The names of more hosts hardly fit in a terminal's row. */
const COUNTED_MIN = 8;
/** More than fit in a terminal's row. Limited because the line is rebuilt for each host that connects. */
const NAMED_MAX = 100;

function firstNames(hosts: ReadonlyMap<string, string>): string {
  const names: string[] = [];
  for (const name of hosts.values()) {
    names.push(name);
    if (names.length === NAMED_MAX) break;
  }
  return names.join(', ');
}
