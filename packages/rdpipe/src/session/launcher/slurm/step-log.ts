/** The messages of srun, and the reason why a step ended. */
import { settlesWithin } from '../../abort.ts';
import { type ChildChannel, startChild } from '../../child-channel.ts';
import { keepTail } from '../../text-tail.ts';
import { lastReason } from '../reason.ts';

export interface StepLog {
  /** Sets the step's name in Slurm: `12.3`. */
  setStep(step: string): void;
  /** Resolves when srun has ended, with the reason in Slurm's words. */
  readonly ended: Promise<string>;
}

/** Longest wait for a line from another daemon, and for the rest of srun's output. */
const LAST_WORDS_MS = 500;
/** srun waits for the tasks of a cancelled step: KillWait, 30 s unless the site changed it, and 2 s. */
const ABORT_LIMIT_MS = 35_000;
const ASK_LIMIT_MS = 2000;
/** Longest wait for the reason of a step whose processes were ended: srun ends, then Slurm is asked. */
export const REASON_LIMIT_MS = ASK_LIMIT_MS + 2 * LAST_WORDS_MS;
const LOG_KEPT = 64 * 1024;

/**
 * Reads the messages of srun; calls `lose` for each node that fails while the step continues.
 * A cancelled step names itself (`*** STEP 1.0 ON n1 CANCELLED AT … ***`) on the standard error of its own tasks: the
 * line comes before or after the lines of the tasks, or not at all if they were killed first. srun itself always prints
 * `Job step aborted`; then Slurm is asked for the state of the job.
 */
export function watchLog(srun: ChildChannel, lose: (node: string, reason: string) => void): StepLog {
  let text = '';
  let seen = 0;
  let step = '';
  const read = new Promise((resolve) => srun.stderr.once('close', resolve));
  const ended = srun.closed.then(async ({ signal }) => {
    if (signal !== null && step !== '') cancelStep(step);
    await settlesWithin(read, LAST_WORDS_MS);
    return cancelled(text) ?? (isAborted(text) ? await askSlurm(step) : reasonOf(text, signal));
  });
  srun.stderr.on('data', (data: Buffer) => {
    text += data.toString('utf8');
    const whole = text.slice(seen, text.lastIndexOf('\n') + 1);
    seen += whole.length;
    for (const line of whole.split('\n')) {
      const failed = /Node failure on (\S+)/i.exec(line)?.[1];
      // Because of it, the rest of the step ends shortly after.
      if (failed !== undefined) lose(failed, withoutProgram(line));
      const name = /^srun: error: (\S+): tasks? [\d,-]+:/.exec(line)?.[1];
      if (name !== undefined) void loseNode(name, line);
    }
    text = text.slice(-LOG_KEPT);
    seen = Math.min(seen, text.length);
  });
  /** If the complete step ends, the step's reason is the node's reason. */
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

/** If the job has ended, its state is the reason; if the job continues, its step was cancelled. */
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

/** States of a job of which only the step was cancelled, or that is changing to another state. */
const UNDECIDED: ReadonlySet<string> = new Set(['RUNNING', 'COMPLETING']);

/** An srun that is killed leaves its step, and slurmstepd, on the nodes. */
function cancelStep(step: string): void {
  const scancel = startChild(['scancel', step]);
  scancel.stdin.end();
  for (const stream of [scancel.stdout, scancel.stderr]) stream.resume();
}

function reasonOf(text: string, signal: string | null): string {
  if (signal !== null) return `srun was killed by ${signal}`;
  return lastReason(text.replace(/^srun: (error: )?/gm, '')) ?? 'srun exited without a message';
}
