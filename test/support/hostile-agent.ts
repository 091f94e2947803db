// SPDX-License-Identifier: Apache-2.0
// An agent scripted by a test: a program for --agent connects rdpipe to the test over a unix socket.
// It can also start a real rdstage and change its messages.
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { execa } from 'execa';
import type { AgentEvent, AgentHello, AgentRequest } from '../../packages/rdpipe/src/model/protocol.ts';
import { AGENT } from './agent-driver.ts';

/** The actions of one agent from start to end; it hangs up when the function returns. */
export type Behaviour = (agent: HostileAgent) => Promise<void>;

/** The hello of an agent on this machine. */
const HELLO: AgentHello = {
  v: 1,
  version: '0.1.0',
  os: 'Linux',
  cpu: 'x86_64',
  boot_id: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
  net_ns: statSync('/proc/self/ns/net').ino,
  uid: 0,
  user: 'root',
  hostname: 'hostile',
  pid: 2,
  ssh_connection: '127.0.0.1 1 127.0.0.1 2',
  aes: true,
  memlock: null,
  seccomp: true,
  landlock: 7,
  rdma_lacks: null,
  addresses: [],
  rdma: [],
};

/** A program for --agent whose agents run in this process. */
export class HostileProgram {
  readonly #directory = mkdtempSync(join(tmpdir(), 'rdpipe-hostile-'));
  readonly #environment: NodeJS.ProcessEnv;
  readonly #agents = new Set<HostileAgent>();
  #server: Server | undefined;
  #behaviour: Behaviour = async () => {};

  /** `environment`: the environment of real agents that it starts. */
  constructor(environment: NodeJS.ProcessEnv) {
    this.#environment = environment;
  }

  get path(): string {
    return join(this.#directory, 'agent');
  }

  async open(): Promise<void> {
    const socketPath = join(this.#directory, 'socket');
    this.#server = createServer((socket) => void this.#take(socket)).listen(socketPath);
    await once(this.#server, 'listening');
    writeFileSync(join(this.#directory, 'relay.mjs'), RELAY);
    const command = `exec '${process.execPath}' '${this.#directory}/relay.mjs' '${socketPath}' "$@"`;
    writeFileSync(this.path, `#!/bin/sh\n${command}\n`);
    chmodSync(this.path, 0o755);
  }

  /** Sets the behavior of agents that start from now on. */
  behave(behaviour: Behaviour): void {
    this.#behaviour = behaviour;
  }

  hangUp(): void {
    for (const agent of this.#agents) agent.hangUp();
  }

  close(): void {
    this.hangUp();
    this.#server?.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  /** The relay's first line is its arguments: `--agent --nonce NONCE`. */
  async #take(socket: Socket): Promise<void> {
    const agent = new HostileAgent(socket, this.#environment);
    this.#agents.add(agent);
    socket.once('close', () => this.#agents.delete(agent));
    try {
      await agent.begin();
      await this.#behaviour(agent);
    } catch (error) {
      if (!socket.destroyed) throw error; // messages to a controller that has ended are lost
    } finally {
      agent.hangUp();
    }
  }
}

const RELAY = `import { connect } from 'node:net';
const [path, ...words] = process.argv.slice(2);
const socket = connect(path);
socket.write(words.join(' ') + '\\n');
process.stdin.pipe(socket);
socket.pipe(process.stdout);
for (const stream of [socket, process.stdin, process.stdout]) stream.on('error', () => process.exit());
socket.on('close', () => process.exit());
`;

export class HostileAgent {
  nonce = '';
  readonly #socket: Socket;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #lines: AsyncIterator<string>;
  readonly #interface: Interface;
  #real: { readonly stdin: Writable } | undefined;

  constructor(socket: Socket, environment: NodeJS.ProcessEnv) {
    this.#socket = socket.on('error', () => {});
    this.#environment = environment;
    this.#interface = createInterface({ input: socket });
    this.#lines = this.#interface[Symbol.asyncIterator]();
  }

  async begin(): Promise<void> {
    const words = await this.line();
    this.nonce = words?.split(' ')[2] ?? '';
  }

  /** The next line from rdpipe; undefined at the end of the input. */
  async line(): Promise<string | undefined> {
    const { value, done } = await this.#lines.next();
    return done ? undefined : value;
  }

  async request(): Promise<AgentRequest | undefined> {
    const line = await this.line();
    return line === undefined ? undefined : JSON.parse(line);
  }

  /** Waits for the next request of this kind; skips others. */
  async asked<Op extends AgentRequest['op']>(op: Op): Promise<Extract<AgentRequest, { op: Op }>> {
    for (;;) {
      const request = await this.request();
      if (request === undefined) throw new Error(`no request ${op} came`);
      if (request.op === op) return request as Extract<AgentRequest, { op: Op }>;
    }
  }

  /** Stops reading the input. */
  goDeaf(): void {
    this.#interface.pause();
    this.#socket.pause();
  }

  /** Ignores the end of the input and sends `alive` until the connection is destroyed. */
  async liveOn(): Promise<void> {
    this.#socket.allowHalfOpen = true;
    while (!this.#socket.destroyed) {
      this.#socket.write(`${JSON.stringify({ event: 'alive' })}\n`);
      await delay(100);
    }
  }

  hello(changes: object = {}): Promise<void> {
    return this.write(`rdstage/1 ${this.nonce} ${JSON.stringify({ ...HELLO, ...changes })}\n`);
  }

  say(...events: readonly (AgentEvent | object)[]): Promise<void> {
    return this.write(events.map((event) => `${JSON.stringify(event)}\n`).join(''));
  }

  /** Resolves when the socket's buffer accepts more data. */
  async write(bytes: string | Uint8Array): Promise<void> {
    if (this.#socket.destroyed) throw new Error('the controller has gone');
    if (this.#socket.write(bytes)) return;
    const { signal, abort } = stopper();
    await Promise.race(['drain', 'close'].map((event) => once(this.#socket, event, { signal }))).finally(abort);
  }

  /** Waits until the controller has closed the connection. */
  async gone(): Promise<void> {
    this.#socket.resume();
    if (!this.#socket.destroyed) await once(this.#socket, 'close');
  }

  /**
   * Connects rdpipe to a real rdstage. Each event is replaced by the result of `change`; undefined drops it.
   * Resolves when rdstage has ended or `change` has hung up.
   */
  async stand(change: (event: AgentEvent) => string | undefined | Promise<string | undefined>): Promise<void> {
    const real = execa(AGENT, ['--agent', '--nonce', this.nonce], {
      env: this.#environment,
      extendEnv: false,
      stderr: 'inherit',
      reject: false,
    });
    this.#real = real;
    void this.#pass(real.stdin);
    // #pass() does not see the end of a connection that was reset.
    this.#socket.once('close', () => real.stdin.end());
    let isFirst = true;
    for await (const line of real) {
      const said = isFirst ? line : await change(JSON.parse(line));
      isFirst = false;
      if (said !== undefined && !this.#socket.destroyed) await this.write(`${said}\n`);
    }
  }

  hangUp(): void {
    this.#socket.destroy();
    this.#real?.stdin.destroy();
  }

  async #pass(input: Writable): Promise<void> {
    for (;;) {
      const line = await this.line();
      if (line === undefined) break;
      input.write(`${line}\n`);
    }
    input.end();
  }
}

/** Returns a signal that removes the listeners that are no longer needed. */
function stopper(): { readonly signal: AbortSignal; abort(): void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}
