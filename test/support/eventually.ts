// SPDX-License-Identifier: Apache-2.0
// Polls a check until it holds or a time limit passes.
import { setTimeout as delay } from 'node:timers/promises';

/** Asks until `check` passes (does not throw); after `withinMs` its last complaint is thrown. */
export async function eventually<T>(check: () => T | Promise<T>, withinMs = 20_000): Promise<T> {
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
