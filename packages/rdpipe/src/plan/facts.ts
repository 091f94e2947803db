/** The input of planning: pipeline, settings and what agents reported of their hosts. Pure data. */
import type { Pipeline } from '../model/pipeline.ts';
import type { SessionId } from '../model/plan.ts';
import type { AgentHello } from '../model/protocol.ts';
import type { Settings } from '../model/settings.ts';

/** The session of this machine, whether or not a stage runs on it. */
export const LOCAL: SessionId = 'local';

export interface SessionFacts {
  readonly id: SessionId;
  /** As the user wrote it: `h1`; `this machine`. */
  readonly label: string;
  readonly hello: AgentHello;
  /** Whether its session leads sockets here to addresses there, and ports there to sockets here. */
  readonly forwards: boolean;
}

/** Settings that are passed to hops unchanged. */
type HopSetting = 'compressLevel' | 'jobs' | 'limitBytesPerS' | 'numa' | 'bufferBytes' | 'poll';

export interface PlanInput {
  readonly run: string;
  readonly pipeline: Pipeline;
  readonly settings: Pick<Settings, 'ports' | 'data' | 'transport' | 'encrypt' | 'relay' | 'order' | HopSetting>;
  /** The session of each stage, in the order of the stages. */
  readonly stageSessions: readonly SessionId[];
  /** Every session of `stageSessions`, and `LOCAL` where `needsLocal` returns true. */
  readonly sessions: ReadonlyMap<SessionId, SessionFacts>;
  /** Of the host that `settings.relay` names. */
  readonly relaySession?: SessionId | undefined;
  /** How the user's standard input and output are used. */
  readonly stdin: 'send' | 'null';
  readonly stdout: 'arrive' | 'drop';
}

/** The facts of an open session. */
export function factsOf(id: SessionId, { sessions }: Pick<PlanInput, 'sessions'>): SessionFacts {
  const facts = sessions.get(id);
  if (facts === undefined) throw new Error(`session ${id} is not open`);
  return facts;
}
