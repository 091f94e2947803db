/** Hosts that a run can lose: parts of stages on several hosts, whose failures are theirs alone. */
import { SessionError } from '../model/errors.ts';
import { inputsOf } from '../model/pipeline.ts';
import type { Plan, Segment, SessionId } from '../model/plan.ts';
import { LOCAL } from '../plan/facts.ts';
import type { Failure, RunState } from './state.ts';

export interface Losses {
  /**
   * True: the failure is that of a host which can be lost, and is lost now or was before, or of a stage that is to fail
   * alone; the run goes on.
   */
  absorb(failure: Failure, state: RunState): boolean;
  isLost(session: SessionId): boolean;
  /** It was lost, or a stage on it has failed. */
  hasFailed(session: SessionId): boolean;
  /** The failures that were absorbed. */
  readonly failures: ReadonlySet<Failure>;
  /** Resolves when it is lost. */
  lost(session: SessionId): Promise<void>;
  /** Hosts can be lost from now on: the commands of this segment start. */
  begin(segment: Segment): void;
  /** The run ends: every host does. */
  end(): void;
}

/**
 * `onLost` is called once a host, when the first failure of it has come. With `failFast` no host can be lost. The last
 * host of a stage cannot: its failure is the run's.
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

/** Hosts that have nothing but parts of stages on several hosts, which get their data by a chain. */
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

/** A host before it changed the stream, or holds another key: to go on would hide an attack. */
export function isForged(failure: Failure): boolean {
  return failure.kind === 'link' && (failure.code === 'data_damaged' || failure.code === 'key_refused');
}

/** The session of the host whose failure it is; `sessions`: by label. */
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
