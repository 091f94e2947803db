/** The first cause: ranks the failures of a run and determines its exit status. Pure. */
import { constants } from 'node:os';
import type { Cause } from '../model/errors.ts';
import { HopError, SessionError, SignalError, TimeoutError } from '../model/errors.ts';
import type { NativeCode } from '../model/protocol.ts';
import { describeFailedPaths, describeFailure, describeLeftBehind } from './failure-messages.ts';
import { findOmission } from './omissions.ts';
import type { Failure, RunState } from './state.ts';

/** The exit status of a run, and its cause. */
export interface Verdict {
  readonly status: number;
  readonly cause: Cause | null;
  /** The number in the plan of the stage that is at fault. */
  readonly causeStage: number | null;
  readonly message: string | null;
}

/** Returns the first cause among all failures, by rank, then by arrival: docs/protocol/statuses.md, section 4.4. */
export function firstCause(state: RunState, lenient: boolean): Verdict {
  const failure = firstByRank(state, lenient);
  if (failure !== undefined) return { ...statusOf(failure), message: describeFailure(state, failure) };
  if (state.leftBehind.length > 0)
    return { status: 125, cause: 'rdpipe', causeStage: null, message: describeLeftBehind(state) };
  const omission = findOmission(state);
  if (omission !== undefined)
    return { status: 125, cause: 'rdpipe', causeStage: omission.stage, message: omission.message };
  const message = describeFailedPaths(state);
  return message === undefined ? SUCCESS : { status: SOME_FAILED, cause: 'copy', causeStage: null, message };
}

/** Exit status of rdtree for a usage error, such as a pattern that cannot match, which rdcp does not check. */
const USAGE = 2;
const SUCCESS: Verdict = { status: 0, cause: null, causeStage: null, message: null };
/** The copy is complete except for some paths; same status as rsync. */
const SOME_FAILED = 23;

/** True if this failure ends the run at once; with `lenient`, a failing stage does not. */
export function endsTheRun(failure: Failure, lenient: boolean): boolean {
  return failure.kind !== 'stage' || !lenient;
}

function firstByRank(state: RunState, lenient: boolean): Failure | undefined {
  let first: { readonly failure: Failure; readonly rank: number } | undefined;
  const lost = lostHosts(state.failures);
  for (const failure of state.failures) {
    const isOfLost = isKilled(failure) && lost.has(hostOf(state, failure));
    const rank = isOfLost ? RANK_OF_LOST : rankOf(failure, lenient, first?.rank);
    const isBetter =
      first === undefined ||
      rank < first.rank ||
      (rank === first.rank && isFurtherRight(failure, first.failure, lenient));
    if (isBetter) first = { failure, rank };
  }
  return first?.failure;
}

/** Hosts whose session or agent was lost. */
function lostHosts(failures: readonly Failure[]): ReadonlySet<string | undefined> {
  const errors = failures.flatMap((failure) => (failure.kind === 'error' ? [failure.error] : []));
  return new Set(errors.flatMap((error) => (error instanceof SessionError ? [error.host] : [])));
}

/** True if the failure is that of a killed process. If its host was lost as well, the loss is why it was killed. */
function isKilled(failure: Failure): boolean {
  if (failure.kind === 'link') return failure.code === 'internal';
  return (failure.kind === 'stage' || failure.kind === 'tree') && failure.signal !== null;
}

function hostOf(state: RunState, failure: Failure): string | undefined {
  if (failure.kind === 'stage' || failure.kind === 'tree') return state.stages.get(failure.stage)?.host;
  if (failure.kind !== 'link') return undefined;
  return state.links.get(failure.link)?.[failure.end === 'send' ? 'from' : 'to'];
}

/**
 * Returns the rank of section 4.4. `leading` is the best rank so far: an end by the user counts only before any other
 * failure.
 */
function rankOf(failure: Failure, lenient: boolean, leading: number | undefined): number {
  switch (failure.kind) {
    case 'stage':
      return lenient ? 7 : 2;
    case 'tree':
      return CONSEQUENCES.has(failure.code) ? 7 : 2;
    case 'setup':
      return RANK_OF_CODE[failure.code];
    case 'link':
      return failure.result === 'aborted' ? 8 : RANK_OF_CODE[failure.code];
    case 'error':
      return rankOfError(failure.error, leading);
  }
}

function rankOfError(error: Error, leading: number | undefined): number {
  if (error instanceof SignalError || error instanceof TimeoutError) return (leading ?? 7) >= 7 ? 1 : 9;
  if (error instanceof SessionError) return 5;
  if (error instanceof HopError) return error.code in RANK_OF_CODE ? RANK_OF_CODE[error.code as NativeCode] : 6;
  return 3;
}

/** After the loss of the host. */
const RANK_OF_LOST = 6;

/**
 * Statuses (section 4.1) of a copy program that lost its neighbour or was ended by it: another failure is the reason.
 */
const CONSEQUENCES: ReadonlySet<number | null> = new Set([5, 9, 128 + constants.signals.SIGPIPE]);

const RANK_OF_CODE: Readonly<Record<NativeCode, number>> = {
  ok: 3,
  usage: 3,
  internal: 3,
  source_unreadable: 3,
  sink_unwritable: 3,
  closed: 3,
  data_damaged: 4,
  key_refused: 4,
  cannot_connect: 6,
  peer_lost: 6,
  peer_stalled: 6,
  aborted: 8,
};

/** As with pipefail, the rightmost of several failing stages counts. */
function isFurtherRight(failure: Failure, than: Failure, lenient: boolean): boolean {
  return lenient && failure.kind === 'stage' && than.kind === 'stage' && failure.stage > than.stage;
}

function statusOf(failure: Failure): Omit<Verdict, 'message'> {
  switch (failure.kind) {
    case 'stage':
      return { status: failure.code ?? 128 + (failure.signal ?? 0), cause: 'stage', causeStage: failure.stage };
    case 'tree':
      return failure.code === USAGE
        ? { status: USAGE, cause: 'usage', causeStage: failure.stage }
        : { status: 125, cause: 'rdpipe', causeStage: failure.stage };
    case 'setup':
      return { status: 125, cause: 'rdpipe', causeStage: failure.stage };
    case 'link':
      return { status: 125, cause: 'rdpipe', causeStage: null };
    case 'error':
      return { status: failure.error.status, cause: failure.error.causeKind, causeStage: null };
  }
}
