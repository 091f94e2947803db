/** The event bus: passes each event of an agent to the code that waits for it. */
import type { SessionId } from '../model/plan.ts';
import type { AgentEvent } from '../model/protocol.ts';

type Listener = (session: SessionId, event: AgentEvent) => void;

/** Passes every event of every agent to the code that waits for it. */
export interface EventBus {
  publish(session: SessionId, event: AgentEvent): void;
  /**
   * The first answer that `pick` gives to a message from now on. Rejects with the signal's reason when it aborts. Call
   * this before sending what the message answers.
   */
  next<T>(pick: (session: SessionId, event: AgentEvent) => T | undefined, signal: AbortSignal): Promise<T>;
}

export function createEventBus(): EventBus {
  const listeners = new Set<Listener>();
  return {
    publish(session, event) {
      for (const listener of [...listeners]) listener(session, event);
    },
    next: (pick, signal) =>
      new Promise((resolve, reject) => {
        const stop = () => {
          listeners.delete(listen);
          signal.removeEventListener('abort', giveUp);
        };
        const listen: Listener = (session, event) => {
          const answer = pick(session, event);
          if (answer === undefined) return;
          stop();
          resolve(answer);
        };
        const giveUp = () => {
          stop();
          reject(signal.reason);
        };
        if (signal.aborted) return giveUp();
        listeners.add(listen);
        signal.addEventListener('abort', giveUp);
      }),
  };
}
