/** The interface of a running agent, as `run` uses it. */
import type { AgentEvent, AgentHello, AgentRequest } from '../model/protocol.ts';

/**
 * Time limit for an agent to end, whatever it sends meanwhile; then its channel is closed. It starts with the request
 * to end, or with the end of its input if there was no such request. A correct agent needs 8 s at most.
 */
export const END_LIMIT_MS = 10_000;

export interface Agent {
  readonly label: string;
  readonly hello: AgentHello;
  /** Time from the start of the login shell to the hello. */
  readonly startMs: number;
  /** Queues one message; drops the message silently if the agent has ended. */
  send(request: AgentRequest): void;
  /**
   * Yields all messages except `alive`, decoded and checked, in order. Ends after `ended`. Rejects with a SessionError
   * if the session breaks, the agent sends an invalid message, or no message arrives within the lease.
   */
  events(): AsyncIterable<AgentEvent>;
  /**
   * Closes the agent's standard input, which ends the agent's part of the run, and waits until the agent has ended, at
   * most for the rest of END_LIMIT_MS.
   */
  close(): Promise<void>;
}
