// SPDX-License-Identifier: Apache-2.0
// Finds a TCP port that is free on an address.
import { once } from 'node:events';
import { createServer } from 'node:net';

/** A TCP port that no process uses on this address now. */
export async function freePort(address: string): Promise<number> {
  const server = createServer().listen(0, address);
  await once(server, 'listening');
  const bound = server.address();
  server.close();
  await once(server, 'close');
  if (bound === null || typeof bound === 'string') throw new Error(`no port on ${address}`);
  return bound.port;
}
