// SPDX-License-Identifier: Apache-2.0
// Finds out whether something listens on a TCP port.
import { once } from 'node:events';
import { connect } from 'node:net';

/** True if a process listens on the port of this machine. */
export async function canConnect(port: number, address = '127.0.0.1'): Promise<boolean> {
  const socket = connect(port, address).on('error', () => {});
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]).catch(() => {});
  const isConnected = !socket.connecting && !socket.destroyed;
  socket.destroy();
  return isConnected;
}
