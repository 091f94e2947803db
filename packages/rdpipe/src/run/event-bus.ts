/** The event bus: passes each event of an agent to the code that waits for it. */
import type { SessionId } from '../model/plan.ts';
import type { AgentEvent } from '../model/protocol.ts';

type Listener = (session: SessionId, event: AgentEvent) => unknown;

/** Passes every event of every agent to the code that waits for it. */
export interface EventBus {
  publish(session: SessionId, event: AgentEvent): void;
  /** Passes all events from now on to the listener. */
  subscribe(listener: Listener): void;
  /**
   * Resolves with the first result of `pick` that is not undefined, for events from now on. Rejects with the signal's
   * reason if it aborts. Call this before sending the request that the event answers.
   */
  next<T>(from: EventSource, pick: (event: AgentEvent) => T | undefined, signal: AbortSignal): Promise<T>;
}

/** An agent, and the link that its event is about, if any. */
export interface EventSource {
  readonly session: SessionId;
  readonly link?: number;
}

/** Passes an event only to code that waits for its source: thousands may wait at the same time. */
export function createEventBus(): EventBus {
  const always: Listener[] = [];
  const waiting = new Map<string, Set<(event: AgentEvent) => void>>();
  return {
    publish(session, event) {
      for (const listener of always) listener(session, event);
      const source = 'link' in event ? { session, link: event.link } : { session };
      for (const listen of [...(waiting.get(keyOf(source)) ?? [])]) listen(event);
    },
    subscribe: (listener) => void always.push(listener),
    next: (from, pick, signal) =>
      new Promise((resolve, reject) => {
        const key = keyOf(from);
        const listeners = waiting.get(key) ?? new Set();
        const stop = () => {
          listeners.delete(listen);
          if (listeners.size === 0 && waiting.get(key) === listeners) waiting.delete(key);
          signal.removeEventListener('abort', giveUp);
        };
        const listen = (event: AgentEvent) => {
          const answer = pick(event);
          if (answer === undefined) return;
          stop();
          resolve(answer);
        };
        const giveUp = () => {
          stop();
          reject(signal.reason);
        };
        if (signal.aborted) return reject(signal.reason);
        waiting.set(key, listeners.add(listen));
        signal.addEventListener('abort', giveUp);
      }),
  };
}

function keyOf({ session, link }: EventSource): string {
  return `${session} ${link ?? ''}`;
}
