// SPDX-License-Identifier: Apache-2.0
// Polls a check until it passes, or until a failure can only be a hang.
import { setTimeout as delay } from 'node:timers/promises';
import { EVENT_MS } from './patience.ts';

/** Calls `check` until it does not throw. After `withinMs`, before mocha's limit, throws its last error. */
export async function eventually<T>(check: () => T | Promise<T>, withinMs = EVENT_MS): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await delay(20);
  }
}
