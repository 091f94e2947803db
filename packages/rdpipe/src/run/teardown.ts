import { setTimeout as delay } from 'node:timers/promises';
import type { AgentRequest } from '../model/protocol.ts';
import { type Agent, END_LIMIT_MS } from '../native/agent.ts';

/**
 * Tells every agent to end, and gathers their last words; `allEnded` resolves when the last one has ended. False when the
 * limit came first: what does not answer ends by itself when its input closes.
 */
export async function endAgents(
  agents: Iterable<Agent>,
  request: AgentRequest,
  allEnded: Promise<void>,
  limitMs = END_LIMIT_MS,
): Promise<boolean> {
  for (const agent of agents) agent.send(request);
  const done = new AbortController();
  const ended = allEnded.then(() => true);
  const limit = delay(limitMs, false, { signal: done.signal }).catch(() => false);
  try {
    return await Promise.race([ended, limit]);
  } finally {
    done.abort();
  }
}
