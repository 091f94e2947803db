import type { Emit } from '../model/events.ts';
import type { HostSession } from '../session/host-session.ts';
import type { Agent } from './agent.ts';

export interface AgentOptions {
  /** --agent PATH: an agent that is on the host already; nothing is deployed. */
  readonly agentPath: string | undefined;
  /** Run it by `sudo -n`. */
  readonly sudo: boolean;
  readonly leaseMs: number;
  /** Longest wait for the agent's first line, deployment apart. */
  readonly startTimeoutMs: number;
  /** The local agent gets our own descriptors 0 and 1 for links of kind `stdin` and `stdout`. */
  readonly userDescriptors: boolean;
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

/**
 * Starts the agent on a session's host; deploys it first where it is missing.
 * @throws SessionError `no_agent` or `agent_protocol`, or what broke the session.
 */
export async function startAgent(session: HostSession, options: AgentOptions): Promise<Agent> {
  throw new Error(`${session.label} ${options.leaseMs}`);
}
