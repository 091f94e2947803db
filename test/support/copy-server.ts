// SPDX-License-Identifier: Apache-2.0
// A running `rdrecv --serve`, rdcp as its client, and hostile clients.
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect as connectTcp, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { eventually } from './eventually.ts';
import { jsonLines } from './json-output.ts';
import { isRunning } from './processes.ts';
import { BIN } from './programs.ts';
import { ROOT } from './root.ts';
import { type Ended, type Started, startProgram } from './start-program.ts';

const RDCP = join(ROOT, 'bin/rdcp');
const ATTEMPTS = 5;
/** Options for rdcp: the server may be slow to answer. */
const PATIENT = ['--connect-timeout', '300'];

export interface CopyServer extends Started {
  readonly port: number;
  /** `rd://127.0.0.1:PORT/PATH`. */
  url(path: string, client?: string): string;
}

/** A directory with `served` in it, a key file, servers and clients; ends all processes after each test. */
export class CopyPlace {
  readonly directory = mkdtempSync(join(tmpdir(), 'rdpipe-serve-'));
  readonly served = join(this.directory, 'served');
  readonly key = randomBytes(32);
  readonly keyFile = this.write('key', `${this.key.toString('hex')}\n`);
  readonly #running = new Set<Started>();
  readonly #sockets = new Set<Socket>();

  path(name: string): string {
    return join(this.directory, name);
  }

  /** Creates a file that by default only its owner may read. */
  write(name: string, content: string | Buffer, mode = 0o600): string {
    const path = join(this.directory, name);
    writeFileSync(path, content, { mode });
    return path;
  }

  serve(...words: readonly string[]): Promise<CopyServer> {
    return this.serveWith(BIN, ...words);
  }

  /** Like `serve`, with the programs of this directory. */
  async serveWith(programs: string, ...words: readonly string[]): Promise<CopyServer> {
    const keys = words.includes('--config') ? [] : ['--keyfile', this.keyFile];
    mkdirSync(this.served, { recursive: true });
    const started = this.#start([join(programs, 'rdrecv'), '--serve', this.served, '--port', '0', ...keys, ...words]);
    let hasEnded = false;
    void started.ended.then(() => {
      hasEnded = true;
    });
    await eventually(() => hasEnded || portOf(started));
    const port = portOf(started);
    const url = (path: string, client?: string) =>
      `rd://${client === undefined ? '' : `${client}@`}127.0.0.1:${port}/${path}`;
    return { ...started, port, url };
  }

  /** Starts rdcp with `--keyfile` added. */
  start(...words: readonly string[]): Started {
    const key = words.includes('--keyfile') ? [] : ['--keyfile', this.keyFile];
    return this.#start([RDCP, ...PATIENT, ...key, ...words]);
  }

  rdcp(...words: readonly string[]): Promise<Ended> {
    return this.start(...words).ended;
  }

  /**
   * Connects an authenticated client and reads the first line. Like rdcp, it retries if the server drops it: on a
   * slow machine a handshake may exceed its time limit.
   */
  async client(server: CopyServer, key = this.key, name = 'default', from = '127.0.0.1'): Promise<Talker> {
    for (let attempt = 1; ; attempt++) {
      const talker = new Talker(server.port, key, name, from);
      this.#sockets.add(talker.socket);
      try {
        await talker.line();
        return talker;
      } catch (error) {
        if (attempt === ATTEMPTS || !(error instanceof Dropped)) throw error;
      }
    }
  }

  /** Closes the socket after the test, and ignores its errors. */
  keep<S extends Socket>(socket: S): S {
    this.#sockets.add(socket);
    socket.on('error', () => {});
    return socket;
  }

  /** Ends all connections and processes after each test. */
  async killRest(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    for (const { child } of this.#running) child.kill('SIGKILL');
    await Promise.all([...this.#running].map(({ ended }) => ended));
  }

  /** Removes the directory after all tests. */
  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }

  #start(command: readonly string[]): Started {
    const started = startProgram(command, { cwd: this.directory, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#running.add(started);
    void started.ended.then(() => this.#running.delete(started));
    return started;
  }
}

export function useCopyPlace(): CopyPlace {
  const place = new CopyPlace();
  afterEach(() => place.killRest());
  after(() => place.remove());
  return place;
}

/** The server closed the connection without a reason. */
class Dropped extends Error {}

/** A client with a key, which exchanges lines with the server. */
export class Talker {
  /** The TCP connection below TLS. */
  readonly tcp: Socket;
  readonly socket: TLSSocket;
  readonly closed: Promise<void>;
  #text = '';
  #failure: Error | undefined;

  /** `from`: the address of this end. */
  constructor(port: number, key: Buffer, name: string, from = '127.0.0.1') {
    const psk = createHmac('sha256', key).update('rdpipe-serve/1').digest();
    this.tcp = connectTcp({ port, host: '127.0.0.1', localAddress: from });
    this.socket = connect({
      socket: this.tcp,
      minVersion: 'TLSv1.3',
      ciphers: 'TLS_AES_128_GCM_SHA256',
      pskCallback: () => ({ psk, identity: `rdpipe-serve/1 ${name}` }),
      checkServerIdentity: () => undefined,
    });
    this.closed = new Promise((resolve) => {
      this.socket.once('close', () => resolve());
    });
    this.socket.on('error', (error) => {
      this.#failure = error;
    });
    this.socket.on('data', (data: Buffer) => {
      this.#text += data.toString();
    });
  }

  get text(): string {
    return this.#text;
  }

  /** The first line. @throws the connection's error, or Dropped if it was closed. */
  line(): Promise<string> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (this.#text.includes('\n')) resolve(this.#text.slice(0, this.#text.indexOf('\n')));
      };
      this.socket.on('data', look);
      void this.closed.then(() => reject(this.#reason()));
      look();
    });
  }

  #reason(): Error {
    const wasReset = this.#failure !== undefined && 'code' in this.#failure && this.#failure.code === 'ECONNRESET';
    return this.#failure === undefined || wasReset ? new Dropped('it was closed') : this.#failure;
  }

  send(message: unknown): void {
    this.socket.write(`${JSON.stringify(message)}\n`);
  }

  /** Waits until the received text matches. */
  shows(pattern: RegExp): Promise<string> {
    return eventually(() => {
      expect(this.#text).to.match(pattern);
      return this.#text;
    });
  }
}

/** A client's first TLS message: it contains the client's name and proves that the client has this key. */
export async function helloOf(key: Buffer, name: string): Promise<Buffer> {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const talker = new Talker((listener.address() as AddressInfo).port, key, name);
  const [socket]: Socket[] = await once(listener, 'connection');
  let hello = Buffer.alloc(0);
  socket
    ?.on('error', () => {})
    .on('data', (data) => {
      hello = Buffer.concat([hello, data]);
      // TLS record header: type, version, 2 bytes of length.
      if (hello.length >= 5 && hello.length >= 5 + hello.readUInt16BE(3)) socket.destroy();
    });
  await talker.closed;
  listener.close();
  return hello;
}

/** The events of one kind in the output of a server with `--json`. */
export function eventsOf(text: string, event: string): Record<string, unknown>[] {
  return jsonLines(text, 'server').filter((object) => object.event === event);
}

/** Waits until all processes of the server have ended. */
export async function allGone(pids: readonly number[]): Promise<void> {
  await eventually(() => expect(pids.filter(isRunning)).to.deep.equal([]));
}

function portOf(started: Started): number {
  const text = started.stderr();
  const port = /on port (\d+) |"event":"serving","port":(\d+)/.exec(text);
  if (port === null) throw new Error(`no server: ${text}`);
  return Number(port[1] ?? port[2]);
}
