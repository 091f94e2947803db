import { setTimeout as delay } from 'node:timers/promises';
import type { Agent } from '../native/agent.ts';
import type { HostSession } from '../session/host-session.ts';

/** How long agents may take to end everything on their hosts. */
const END_LIMIT_MS = 10_000;

/**
 * Ends what the agents still run and gathers their last words; `heardAll` resolves when the last one has ended. Bounded:
 * an agent that does not answer ends everything by itself when its input closes.
 */
export async function abortAgents(
  agents: Iterable<Agent>,
  reason: string,
  heardAll: Promise<void>,
  limitMs = END_LIMIT_MS,
): Promise<void> {
  for (const agent of agents) agent.send({ op: 'abort', reason });
  await within(heardAll, limitMs);
}

/** Closes agents, then the connections they came by. Nothing outlives it. */
export async function closeAll(agents: Iterable<Agent>, sessions: Iterable<HostSession>): Promise<void> {
  await Promise.allSettled([...agents].map((agent) => agent.close()));
  await Promise.allSettled([...sessions].map((session) => session.close()));
}

async function within(promise: Promise<void>, limitMs: number): Promise<void> {
  const done = new AbortController();
  const limit = delay(limitMs, undefined, { signal: done.signal }).catch(() => {});
  await Promise.race([promise, limit]);
  done.abort();
}
