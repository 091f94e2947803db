/** Hosts that a run starts without: they cannot be used, and --require permits it. */
import { HopError, SessionError } from '../model/errors.ts';
import type { Emit } from '../model/events.ts';
import type { HostRef, Pipeline } from '../model/pipeline.ts';
import type { LostHost } from '../model/report.ts';
import type { Settings } from '../model/settings.ts';
import { withoutHosts } from '../plan/absent-parts.ts';
import { describeAlone } from './failure-messages.ts';
import { isForged } from './losses.ts';
import type { RunState } from './state.ts';

export interface Absences {
  /** The pipeline without the absent hosts. */
  readonly pipeline: Pipeline;
  readonly lost: readonly LostHost[];
  /**
   * Leaves out the host that has all of these names, emits `host_lost`, and returns undefined; or returns the error
   * that ends the run. An error that is not a host's, or a host that --require does not spare, is not excused.
   */
  excuse(names: readonly HostRef[], error: unknown): unknown;
}

/** Returns a record of absent hosts, which has none at first. With --require all or --fail-fast no host is excused. */
export function createAbsences(
  pipeline: Pipeline,
  { require, failFast }: Pick<Settings, 'require' | 'failFast'>,
  emit: Emit,
): Absences {
  const absent = new Set<HostRef>();
  const lost: LostHost[] = [];
  let left = pipeline;
  return {
    get pipeline() {
      return left;
    },
    lost,
    excuse(names, error) {
      if (require === 'all' || failFast || !(error instanceof SessionError)) return error;
      const without = withoutHosts(pipeline, new Set([...absent, ...names]), require);
      if (typeof without === 'string') return withReason(error, without);
      for (const name of names) absent.add(name);
      left = without;
      lost.push({ host: error.host, message: error.message });
      emit({ kind: 'host_lost', host: error.host, message: lossMessage(error.host, error.message) });
      return undefined;
    },
  };
}

/**
 * Returns the failures of hosts, if they occurred before any command started; none if anything else failed. Failures of
 * hops are ignored as consequences.
 */
export function lossesBeforeStart(state: RunState): readonly SessionError[] {
  if (state.stages.values().some(({ started }) => started)) return [];
  const losses: SessionError[] = [];
  for (const failure of state.failures) {
    if (failure.kind === 'setup') losses.push(unusable(failure.host, describeAlone(state, failure)));
    else if (failure.kind !== 'error') {
      if (isForged(failure)) return [];
    } else if (failure.error instanceof SessionError) losses.push(failure.error);
    else if (!(failure.error instanceof HopError)) return [];
  }
  return losses;
}

function unusable(host: string, reason: string): SessionError {
  return new SessionError('session_lost', host, reason);
}

/**
 * Returns the message about a host without which the run continues: `lost n7: unreachable; continuing with the other
 * hosts`.
 */
export function lossMessage(host: string, reason: string): string {
  const start = `lost ${host}: `;
  return `${reason.startsWith(start) ? '' : start}${reason}; continuing with the other hosts`;
}

function withReason({ code, host, message, cause }: SessionError, reason: string): SessionError {
  return new SessionError(code, host, `${message}; ${reason}`, { cause });
}
