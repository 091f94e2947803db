/** The copies of the agent in progress: hosts with one home directory do not copy at the same time. */
import { newNonce } from './line-channel.ts';

export interface Copies {
  /** Distinguishes the locks of this run from those that a killed run left. */
  readonly run: string;
  /** Runs a copy, which others may wait for by its nonce. */
  track<Result>(nonce: string, copy: () => Promise<Result>): Promise<Result>;
  /** Resolves when this copy has ended; at once if it is unknown. Never rejects. */
  ended(nonce: string): Promise<void>;
}

export function createCopies(): Copies {
  const running = new Map<string, Promise<unknown>>();
  return {
    run: newNonce(),
    track(nonce, copy) {
      const ended = copy().finally(() => running.delete(nonce));
      running.set(nonce, ended);
      return ended;
    },
    ended: async (nonce) => {
      await running.get(nonce)?.catch(() => {});
    },
  };
}
