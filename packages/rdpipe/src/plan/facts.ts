/** The input of planning: pipeline, settings, and the agents' reports about their hosts. Pure data. */
import type { FieldSettings } from '../model/option-fields.ts';
import type { Pipeline } from '../model/pipeline.ts';
import type { SessionId } from '../model/plan.ts';
import type { AgentHello } from '../model/protocol.ts';
import type { Settings } from '../model/settings.ts';

/** The session of this machine, whether a stage runs on it or not. */
export const LOCAL: SessionId = 'local';

export interface SessionFacts {
  readonly id: SessionId;
  /** The host as the user wrote it: `h1`; `this machine`. */
  readonly label: string;
  readonly hello: AgentHello;
  /**
   * True if the session can open sockets here that lead to addresses there, and ports there that lead to sockets here.
   */
  readonly forwards: boolean;
}

export interface PlanInput {
  readonly run: string;
  readonly pipeline: Pipeline;
  readonly settings: Pick<Settings, 'ports' | 'data' | 'transport' | 'encrypt' | 'relay' | 'order'> &
    FieldSettings<'hop'>;
  /** The session of each stage, in the order of the stages. */
  readonly stageSessions: readonly SessionId[];
  /** Every session of `stageSessions`, and `LOCAL` if `needsLocal` returns true. */
  readonly sessions: ReadonlyMap<SessionId, SessionFacts>;
  /** The session of the host in `settings.relay`. */
  readonly relaySession?: SessionId | undefined;
  /** How the user's standard input and output are used. */
  readonly stdin: 'send' | 'null';
  readonly stdout: 'arrive' | 'drop';
}

/**
 * Returns the facts about an open session.
 * @throws Error if it is not open.
 */
export function factsOf(id: SessionId, { sessions }: Pick<PlanInput, 'sessions'>): SessionFacts {
  const facts = sessions.get(id);
  if (facts === undefined) throw new Error(`session ${id} is not open`);
  return facts;
}
