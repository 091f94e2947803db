/** A running agent as `run` sees it. */
import type { AgentEvent, AgentHello, AgentRequest } from '../model/protocol.ts';

export interface Agent {
  readonly label: string;
  readonly hello: AgentHello;
  /** From the login shell's start to the hello. */
  readonly startMs: number;
  /** Queues one message; dropped silently after the agent ended. */
  send(request: AgentRequest): void;
  /**
   * Every message but `alive`, decoded and checked, in order; ends after `ended`, or rejects with a SessionError when the
   * session breaks, the agent speaks nonsense, or nothing was heard for the lease.
   */
  events(): AsyncIterable<AgentEvent>;
  /** Closes the agent's standard input (which ends everything of the run there) and waits for its end, bounded. */
  close(): Promise<void>;
}
