// SPDX-License-Identifier: Apache-2.0
// Polls a check until it holds, or until only a hang explains that it does not.
import { setTimeout as delay } from 'node:timers/promises';
import { EVENT_MS } from './patience.ts';

/** Asks until `check` passes (does not throw); after `withinMs` what it last said is thrown, before mocha gives up. */
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
