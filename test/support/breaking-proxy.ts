// SPDX-License-Identifier: Apache-2.0
// A proxy on loopback that closes, resets or silences connections.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** closed: by FIN. reset: by RST. silent: no more data passes, and neither end is notified. */
export type Break = 'closed' | 'reset' | 'silent';
/** The ends that are notified of the break; the other end sees only silence. */
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

  /** Number of connections accepted so far. */
  get connections(): number {
    return this.#joined.length;
  }

  /** Bytes passed so far by the connection that carries the stream; others may exist besides it for a while. */
  get bytes(): number {
    return this.#carrier?.bytes ?? 0;
  }

  /** Number of connections broken so far. */
  get breaks(): number {
    return this.#breaks;
  }

  /** Breaks the connection that carries the stream now. */
  break(how: Break, told: Told = 'both'): void {
    const carrier = this.#carrier;
    if (carrier === undefined) throw new Error('there is no connection to break');
    this.#break(carrier, how, told);
  }

  /** Breaks each connection after `bytes` bytes, `times` times in all. */
  breakEvery(bytes: number, times: number, how: Break, told: Told): void {
    this.#due = { bytes, times, how, told };
  }

  get #carrier(): Joined | undefined {
    return this.#joined.filter(({ broken }) => !broken).sort((a, b) => b.bytes - a.bytes)[0];
  }

  /** Refuses new connections from now on. */
  refuse(): void {
    this.#server.close();
  }

  /** Connects new dialers to another listener from now on. */
  leadTo(port: number): void {
    this.#port = port;
  }

  /** Accepts new connections from now on, but connects them to the listener only at release(). */
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

/** Stops passing data of the socket and ignores its later events. */
function hush(socket: Socket): void {
  for (const event of ['data', 'drain', 'end', 'error']) socket.removeAllListeners(event);
  socket.on('error', () => {}).pause();
}

function end(socket: Socket, how: Break): void {
  if (how === 'closed') socket.end();
  if (how === 'reset') socket.resetAndDestroy();
}
