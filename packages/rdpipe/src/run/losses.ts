/** Hosts that a run can lose: they run only parts of stages on several hosts. */
import { SessionError } from '../model/errors.ts';
import { inputsOf } from '../model/pipeline.ts';
import type { Plan, Segment, SessionId } from '../model/plan.ts';
import { LOCAL } from '../plan/facts.ts';
import type { Failure, RunState } from './state.ts';

export interface Losses {
  /**
   * Returns true if the run continues: the failure is of a host that can be lost, which is lost now if it was not
   * before, or of a stage that may fail separately on each host.
   */
  absorb(failure: Failure, state: RunState): boolean;
  isLost(session: SessionId): boolean;
  /** True if the host was lost, or a stage on it failed. */
  hasFailed(session: SessionId): boolean;
  /** The failures that were absorbed. */
  readonly failures: ReadonlySet<Failure>;
  /** Resolves when the host is lost. */
  lost(session: SessionId): Promise<void>;
  /** The commands of this segment start: from now on hosts can be lost. */
  begin(segment: Segment): void;
  /** The run ends: no more hosts can be lost. */
  end(): void;
}

/**
 * Calls `onLost` once per host, at its first failure. With `failFast` no host can be lost. The last host of a stage
 * cannot be lost: its failure is the run's.
 */
export function createLosses(
  plan: Plan,
  failFast: boolean,
  onLost: (session: SessionId, failure: Failure, state: RunState) => void,
): Losses {
  const lost = new Set<SessionId>();
  const failed = new Set<SessionId>();
  const failures = new Set<Failure>();
  const waiting = new Map<SessionId, () => void>();
  const sessions = new Map(plan.sessions.map(({ id, label }) => [label, id]));
  let losable: ReadonlySet<SessionId> = new Set();
  const others = (session: SessionId) => {
    for (const other of losable) if (other !== session && !lost.has(other)) return true;
    return false;
  };
  return {
    absorb(failure, state) {
      const session = sessionOf(failure, state, sessions);
      if (session !== undefined && failsAlone(failure, state)) {
        failures.add(failure);
        failed.add(session);
        return true;
      }
      if (session === undefined || !losable.has(session) || isForged(failure)) return false;
      if (!lost.has(session) && !others(session)) return false;
      failures.add(failure);
      if (lost.has(session)) return true;
      lost.add(session);
      waiting.get(session)?.();
      onLost(session, failure, state);
      return true;
    },
    failures,
    isLost: (session) => lost.has(session),
    hasFailed: (session) => lost.has(session) || failed.has(session),
    async lost(session) {
      if (!lost.has(session)) await new Promise<void>((resolve) => waiting.set(session, resolve));
    },
    begin(segment) {
      if (!failFast) losable = losableSessions(segment);
    },
    end() {
      losable = new Set(lost);
    },
  };
}

/** Returns the hosts that have only parts of stages on several hosts, and receive their data through a chain. */
export function losableSessions({ stages, links }: Segment): ReadonlySet<SessionId> {
  const behindChains = new Set(links.flatMap((link) => (link.chain === undefined ? [] : [receiverOf(link)])));
  const firstOfAll = stages.filter(({ stage }) => stage.part === undefined).map(({ session }) => session);
  const keptOnly = new Set<SessionId>([LOCAL, ...firstOfAll]);
  const senders = links.flatMap((link) => (link.kind === 'hop' && link.source === 'stdin' ? [link.from] : []));
  const gathered = new Set(stages.flatMap(({ stage }) => inputsOf(stage) ?? []));
  const writers = stages.flatMap(({ stage, session }) => (gathered.has(stage.number) ? [session] : []));
  for (const session of [...senders, ...writers]) keptOnly.add(session);
  return new Set([...behindChains].filter((session) => !keptOnly.has(session)));
}

function receiverOf(link: Segment['links'][number]): SessionId {
  return link.kind === 'hop' ? link.to : link.session;
}

function failsAlone(failure: Failure, state: RunState): boolean {
  const stage = failure.kind === 'stage' ? state.stages.get(failure.stage)?.planned.stage : undefined;
  return stage?.kind === 'command' && stage.lenient === true;
}

/** True if an earlier host of the chain changed the stream or has a different key: continuing would hide an attack. */
export function isForged(failure: Failure): boolean {
  return failure.kind === 'link' && (failure.code === 'data_damaged' || failure.code === 'key_refused');
}

/** Returns the session of the host that failed; `sessions` maps labels to sessions. */
export function sessionOf(
  failure: Failure,
  state: RunState,
  sessions: ReadonlyMap<string, SessionId>,
): SessionId | undefined {
  switch (failure.kind) {
    case 'stage':
    case 'tree':
      return state.stages.get(failure.stage)?.planned.session;
    case 'link': {
      const link = state.links.get(failure.link)?.link;
      if (link?.kind === 'local') return link.session;
      return failure.end === 'send' ? link?.from : link?.to;
    }
    case 'setup':
      return sessions.get(failure.host);
    case 'error':
      return failure.error instanceof SessionError ? sessions.get(failure.error.host) : undefined;
  }
}
