// SPDX-License-Identifier: Apache-2.0
// Finds a TCP port that is free on an address.
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Returns a TCP port that no process currently uses on this address. */
export async function freePort(address: string): Promise<number> {
  const server = createServer().listen(0, address);
  await once(server, 'listening');
  const bound = server.address();
  server.close();
  await once(server, 'close');
  if (bound === null || typeof bound === 'string') throw new Error(`no port on ${address}`);
  return bound.port;
}
