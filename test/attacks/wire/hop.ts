// SPDX-License-Identifier: Apache-2.0
// One hop of rdsend and rdrecv as agents command them, from file to file; either end may dial.
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { AgentSocket, type Message } from '../../support/agent-socket.ts';
import { type Bench, KEY, type Program } from '../../support/programs.ts';
import { expiring, NEVER_MS } from '../../support/run-limits.ts';

export type Role = 'sender' | 'receiver';

/** The values of --encrypt, each with the adjective for such a hop. */
export const ENCRYPT_WORDS = { always: 'sealed', auth: 'authenticated', never: 'unencrypted' } as const;
export type Encrypt = keyof typeof ENCRYPT_WORDS;
export const ENCRYPTS = Object.keys(ENCRYPT_WORDS) as readonly Encrypt[];

/** Fields of `open` for tests that wait until an end gives up a silent peer or an unanswered dial. */
export function soonLost(): Message {
  return { stall_timeout_ms: expiring(2000), connect_timeout_ms: expiring(1500) };
}

export interface HopOptions {
  readonly dialer: Role;
  readonly encrypt: Encrypt;
  /** Length of the stream. */
  readonly bytes: number;
  /** Content that compresses to about half. */
  readonly shrinks?: boolean;
  /** Fields of `open` that replace the usual ones, at both ends. */
  readonly open?: Message;
  /** Content of the output file before the hop. */
  readonly before?: Buffer;
  /** The stream does not end before commit(). */
  readonly held?: boolean;
}

export interface HopEnd {
  readonly program: Program;
  readonly agent: AgentSocket;
}

let hops = 0;

export class Hop {
  readonly listener: HopEnd;
  readonly content: Buffer;
  readonly #sink: string;
  readonly #startDialer: () => HopEnd;
  #dialer: HopEnd;

  constructor(bench: Bench, options: HopOptions) {
    hops += 1;
    const name = `hop-${hops}`;
    this.content = options.shrinks === true ? digits(options.bytes) : randomBytes(options.bytes);
    this.#sink = bench.path(`${name}.sink`);
    const source = bench.path(`${name}.source`);
    writeFileSync(source, this.content);
    if (options.before !== undefined) writeFileSync(this.#sink, options.before);
    const start = {
      sender: () => startSender(bench, source, options),
      receiver: () => startReceiver(bench, this.#sink, options),
    };
    this.#startDialer = start[options.dialer];
    this.listener = start[options.dialer === 'sender' ? 'receiver' : 'sender']();
    this.#dialer = this.#startDialer();
  }

  get dialer(): HopEnd {
    return this.#dialer;
  }

  async listen(): Promise<number> {
    this.listener.agent.tell('listen');
    return Number((await this.listener.agent.heard('listening')).port);
  }

  dial(port: number): void {
    this.dialer.agent.tell('dial', { addresses: [{ host: '127.0.0.1', port }] });
  }

  /** Starts another dialer like the first one. */
  replaceDialer(): void {
    this.#dialer = this.#startDialer();
  }

  /** The authenticated dialer connects as if there had been no attack. */
  async expectDelivery(port: number): Promise<void> {
    if (this.dialer.agent.names().includes('finished')) this.replaceDialer();
    this.dial(port);
    expect(await Promise.all([endOf(this.dialer), endOf(this.listener)])).to.deep.equal(['ok', 'ok']);
    expect(this.sunk?.equals(this.content)).to.equal(true);
  }

  /** The content of the output file: the complete stream, or the content from before. */
  get sunk(): Buffer | undefined {
    return existsSync(this.#sink) ? readFileSync(this.#sink) : undefined;
  }
}

function digits(bytes: number): Buffer {
  return Buffer.from(randomBytes(bytes / 2).toString('hex'));
}

/** Returns the code with which an end finished, after its process has ended. */
export async function endOf({ agent, program }: HopEnd): Promise<string> {
  const { code } = await agent.heard('finished');
  agent.tell('release');
  const { signal } = await program.ended;
  return signal === null || signal === 'SIGPIPE' ? String(code) : signal;
}

function startSender(bench: Bench, source: string, options: HopOptions): HopEnd {
  const sender = openEnd(bench, 'rdsend', source, options);
  if (options.held !== true) commit(sender);
  return sender;
}

export function commit(sender: HopEnd): void {
  sender.agent.tell('commit', { status: 0 });
}

function startReceiver(bench: Bench, sink: string, options: HopOptions): HopEnd {
  return openEnd(bench, 'rdrecv', sink, options);
}

function openEnd(bench: Bench, name: 'rdsend' | 'rdrecv', path: string, options: HopOptions): HopEnd {
  const program = bench[name](['--agent-fd', '3'], ['ignore', 'ignore', 'pipe', 'pipe']);
  const agent = new AgentSocket(program);
  const { encrypt, open } = options;
  agent.tell('open', { ...OPEN, encrypt, ...open });
  agent.tell('file', { path: Buffer.from(path).toString('hex'), append: false });
  return { program, agent };
}

const OPEN: Message = {
  key: KEY,
  run: 'a-run',
  hop: 1,
  buffer: 64 << 10,
  connect_timeout_ms: NEVER_MS,
  stall_timeout_ms: NEVER_MS,
  bind: '127.0.0.1',
  ports: [0, 0],
};
