/** The messages of srun, and the reason that a step ended for. */
import { settlesWithin } from '../../abort.ts';
import { type ChildChannel, startChild } from '../../child-channel.ts';
import { keepTail } from '../../text-tail.ts';
import { lastReason } from '../reason.ts';

export interface StepLog {
  /** Names the step as Slurm does: `12.3`. */
  setStep(step: string): void;
  /** Resolves when srun has ended, with the reason in Slurm's words. */
  readonly ended: Promise<string>;
}

/** Longest wait for a line that another daemon sends, and for what is left in the pipe of srun. */
const LAST_WORDS_MS = 500;
/** srun waits for the tasks of a step that is cancelled: KillWait, 30 s unless the site says otherwise, and 2 s. */
const ABORT_LIMIT_MS = 35_000;
const ASK_LIMIT_MS = 2000;
const LOG_KEPT = 64 * 1024;

/**
 * A step that is cancelled names itself (`*** STEP 1.0 ON n1 CANCELLED AT … ***`), but by the standard error of its own
 * tasks: the line comes before or after those of the tasks, or never where they were killed first. srun itself always
 * prints `Job step aborted`. Then Slurm is asked for the state of the job.
 */
export function watchLog(srun: ChildChannel, lose: (node: string, reason: string) => void): StepLog {
  let text = '';
  let seen = 0;
  let step = '';
  const read = new Promise((resolve) => srun.stderr.once('close', resolve));
  const ended = srun.closed.then(async ({ signal }) => {
    if (signal !== null && step !== '') cancelStep(step);
    await settlesWithin(read, LAST_WORDS_MS);
    return cancelled(text) ?? (isAborted(text) ? await askSlurm(step) : reasonOf(srun, text, signal));
  });
  srun.stderr.on('data', (data: Buffer) => {
    text += data.toString('utf8');
    const whole = text.slice(seen, text.lastIndexOf('\n') + 1);
    seen += whole.length;
    for (const line of whole.split('\n')) {
      const failed = /Node failure on (\S+)/i.exec(line)?.[1];
      // The rest of the step ends because of it, a moment later.
      if (failed !== undefined) lose(failed, withoutProgram(line));
      const name = /^srun: error: (\S+): tasks? [\d,-]+:/.exec(line)?.[1];
      if (name !== undefined) void loseNode(name, line);
    }
    text = text.slice(-LOG_KEPT);
    seen = Math.min(seen, text.length);
  });
  /** Where the whole step ends, its reason is the node's. */
  const loseNode = async (name: string, line: string) => {
    if (await settlesWithin(ended, LAST_WORDS_MS)) return;
    if (isAborted(text) && cancelled(text) === undefined && (await settlesWithin(ended, ABORT_LIMIT_MS))) return;
    lose(name, cancelled(text) ?? withoutProgram(line));
  };
  return {
    setStep(name) {
      step = name;
    },
    ended,
  };
}

function cancelled(text: string): string | undefined {
  const [, what] = /\*\*\* (.*?CANCELLED.*?) \*\*\*/.exec(text) ?? [];
  return what === undefined ? undefined : lastReason(what);
}

function withoutProgram(line: string): string {
  return lastReason(line.replace(/^srun: /, '')) ?? '';
}

function isAborted(text: string): boolean {
  return /^srun: Job step aborted/m.test(text);
}

/** The state of a job that ended is its step's, too; a job that goes on had its step cancelled. */
async function askSlurm(step: string): Promise<string> {
  const scontrol = startChild(['scontrol', '--oneliner', 'show', 'job', step.replace(/\..*/, '')]);
  scontrol.stdin.end();
  scontrol.stderr.resume();
  const answer = keepTail(scontrol.stdout);
  const over = Promise.all([scontrol.closed, new Promise((resolve) => scontrol.stdout.once('close', resolve))]);
  if (!(await settlesWithin(over, ASK_LIMIT_MS))) scontrol.kill();
  const state = / JobState=(\w+)/.exec(answer())?.[1];
  const ofJob = state === undefined || UNDECIDED.has(state) ? '' : ` (its job is in state ${state})`;
  return `STEP ${step} CANCELLED${ofJob}`;
}

/** Of a job whose step alone was cancelled, or that is on its way to another state. */
const UNDECIDED: ReadonlySet<string> = new Set(['RUNNING', 'COMPLETING']);

/** An srun that is killed leaves its step, and slurmstepd, on the nodes. */
function cancelStep(step: string): void {
  const scancel = startChild(['scancel', step]);
  scancel.stdin.end();
  for (const stream of [scancel.stdout, scancel.stderr]) stream.resume();
}

function reasonOf(srun: ChildChannel, text: string, signal: string | null): string {
  if (srun.startError() !== undefined) return 'srun: command not found (is this a node of the cluster?)';
  if (signal !== null) return `srun was killed by ${signal}`;
  return lastReason(text.replace(/^srun: (error: )?/gm, '')) ?? 'srun exited without a message';
}
