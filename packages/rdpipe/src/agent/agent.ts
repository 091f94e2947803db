/** The interface of a running agent, as `run` uses it. */
import type { AgentEvent, AgentHello, AgentRequest } from '../model/protocol.ts';

/**
 * How long an agent has, from the request to end (or from the end of its input, without one) until its channel
 * is closed, whatever it sends meanwhile. An honest one needs 8 s at most.
 */
export const END_LIMIT_MS = 10_000;

export interface Agent {
  readonly label: string;
  readonly hello: AgentHello;
  /** From the login shell's start to the hello. */
  readonly startMs: number;
  /** Queues one message; dropped silently after the agent ended. */
  send(request: AgentRequest): void;
  /**
   * Every message but `alive`, decoded and checked, in order; ends after `ended`, or rejects with a SessionError when
   * the session breaks, the agent sends an invalid message, or nothing arrived for the lease.
   */
  events(): AsyncIterable<AgentEvent>;
  /**
   * Closes the agent's standard input (which ends everything of the run there) and waits for its end, as long as
   * END_LIMIT_MS leaves.
   */
  close(): Promise<void>;
}
