// SPDX-License-Identifier: Apache-2.0
// A proxy on loopback that breaks a connection in a chosen way.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** In order (FIN), by RST, or so that nothing passes any more and neither end sees it. */
export type Break = 'closed' | 'reset' | 'silent';
/** The ends that see the break; the other one sees silence. */
export type Told = 'both' | 'dialer' | 'listener';

interface Due {
  readonly bytes: number;
  readonly times: number;
  readonly how: Break;
  readonly told: Told;
}

interface Joined {
  readonly dialer: Socket;
  readonly listener: Socket;
  bytes: number;
  broken: boolean;
}

export class BreakingProxy {
  readonly #server: Server;
  readonly #joined: Joined[] = [];
  readonly #waiting: Socket[] = [];
  #port: number;
  #holds = false;
  #due: Due | undefined;
  #breaks = 0;

  private constructor(port: number) {
    this.#port = port;
    this.#server = createServer((dialer) => {
      if (this.#holds) this.#waiting.push(dialer);
      else this.#join(dialer);
    });
    this.#server.listen(0, '127.0.0.1');
  }

  static async before(port: number): Promise<BreakingProxy> {
    const proxy = new BreakingProxy(port);
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** So many were made so far. */
  get connections(): number {
    return this.#joined.length;
  }

  /** So much has passed through the connection that carries the stream: others may stand beside it for a while. */
  get bytes(): number {
    return this.#carrier?.bytes ?? 0;
  }

  /** So many connections were broken so far. */
  get breaks(): number {
    return this.#breaks;
  }

  /** That connection, now. */
  break(how: Break, told: Told = 'both'): void {
    const carrier = this.#carrier;
    if (carrier === undefined) throw new Error('there is no connection to break');
    this.#break(carrier, how, told);
  }

  /** So many times, whenever so much has passed through a connection. */
  breakEvery(bytes: number, times: number, how: Break, told: Told): void {
    this.#due = { bytes, times, how, told };
  }

  get #carrier(): Joined | undefined {
    return this.#joined.filter(({ broken }) => !broken).sort((a, b) => b.bytes - a.bytes)[0];
  }

  /** A dialer is refused from now on. */
  refuse(): void {
    this.#server.close();
  }

  /** A dialer gets to another listener from now on. */
  leadTo(port: number): void {
    this.#port = port;
  }

  /** A dialer gets nowhere from now on, until release(). */
  hold(): void {
    this.#holds = true;
  }

  release(): void {
    this.#holds = false;
    for (const dialer of this.#waiting.splice(0)) this.#join(dialer);
  }

  close(): void {
    this.#server.close();
    const sockets = this.#joined.flatMap(({ dialer, listener }) => [dialer, listener]);
    for (const socket of [...sockets, ...this.#waiting]) socket.destroy();
  }

  #break(joined: Joined, how: Break, told: Told): void {
    joined.broken = true;
    this.#breaks += 1;
    for (const side of ['dialer', 'listener'] as const) {
      hush(joined[side]);
      if (told === 'both' || told === side) end(joined[side], how);
    }
  }

  #breakIfDue(joined: Joined): void {
    const due = this.#due;
    if (due === undefined || joined.bytes < due.bytes || this.#breaks >= due.times) return;
    this.#break(joined, due.how, due.told);
  }

  #join(dialer: Socket): void {
    const listener = connect({ port: this.#port, host: '127.0.0.1' });
    const joined: Joined = { dialer, listener, bytes: 0, broken: false };
    this.#joined.push(joined);
    for (const [from, to] of [
      [dialer, listener],
      [listener, dialer],
    ] as const) {
      from.setNoDelay(true);
      from.on('data', (chunk) => {
        joined.bytes += chunk.length;
        if (!to.write(chunk)) from.pause();
        this.#breakIfDue(joined);
      });
      to.on('drain', () => void from.resume());
      from.on('end', () => void to.end()).on('error', () => void to.destroy());
    }
  }
}

/** It carries nothing any more, and what becomes of it concerns no other part. */
function hush(socket: Socket): void {
  for (const event of ['data', 'drain', 'end', 'error']) socket.removeAllListeners(event);
  socket.on('error', () => {}).pause();
}

function end(socket: Socket, how: Break): void {
  if (how === 'closed') socket.end();
  if (how === 'reset') socket.resetAndDestroy();
}
