// SPDX-License-Identifier: Apache-2.0
// Many unauthenticated connections at once; each that closes is replaced while the flood lasts.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { eventually } from '../../support/eventually.ts';

/** The actions of an unauthenticated peer on its connection. */
export type Behaviour = (socket: Socket) => void;

export class ConnectionFlood {
  readonly #sockets = new Set<Socket>();
  #connections = 0;
  #leaving = false;

  constructor(port: number, size: number, behave: Behaviour) {
    for (let each = 0; each < size; each++) this.#connect(port, behave);
  }

  /** Number of connections that were established so far. */
  get connections(): number {
    return this.#connections;
  }

  async hasConnected(times: number): Promise<void> {
    await eventually(() => {
      if (this.#connections < times) throw new Error(`${this.#connections} of ${times} came in`);
    });
  }

  leave(): void {
    this.#leaving = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  #connect(port: number, behave: Behaviour): void {
    if (this.#leaving) return;
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#sockets.add(socket);
    socket.once('connect', () => {
      this.#connections += 1;
      behave(socket);
    });
    socket.on('error', () => {}).resume();
    socket.once('close', () => {
      this.#sockets.delete(socket);
      setTimeout(() => this.#connect(port, behave), COMES_BACK_MS).unref();
    });
  }
}

const COMES_BACK_MS = 5;

/** Returns the port of a listener for a single connection, on which it behaves as given. */
export async function listenAs(behave: Behaviour): Promise<number> {
  const server = createServer((socket) => {
    server.close();
    behave(socket.on('error', () => {}).resume());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
