// SPDX-License-Identifier: Apache-2.0
// A driver for a real rdstage: it sends requests over its pipes, as rdpipe does, and collects events.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type {
  AgentEvent,
  AgentHello,
  AgentLink,
  AgentRequest,
  AgentStage,
} from '../../packages/rdpipe/src/model/protocol.ts';
import { EVENT_MS } from './patience.ts';
import { ROOT } from './root.ts';
import { type Started, startProgram } from './start-program.ts';

/** $RD_BIN is the directory of another build of the native programs. */
export const AGENT = join(process.env.RD_BIN ?? join(ROOT, 'build/release'), 'rdstage');

const NONCE = 'n-0123456789';
/** Longer than a test waits, because the driver sends no pings. */
const LEASE_MS = 2 * EVENT_MS;

type EventNamed<N extends AgentEvent['event']> = Extract<AgentEvent, { event: N }>;
type Prepare = Extract<AgentRequest, { op: 'prepare' }>;

export interface DriverOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** The program to run; AGENT by default. */
  readonly agent?: string;
  /** Run as this user and group. */
  readonly user?: number;
  /** Arguments besides --agent and --nonce; descriptors from 3 on are `extraStdio`. */
  readonly args?: readonly string[];
  readonly extraStdio?: readonly 'pipe'[];
  /** Acknowledge stderr immediately; default true. */
  readonly acknowledge?: boolean;
}

export class AgentDriver {
  readonly hello: AgentHello;
  /** All events received so far, including `alive`. */
  readonly events: AgentEvent[] = [];
  /** The exit status or signal of the started process. */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  /** Resolves when the process has ended and its outputs are closed. */
  readonly closed: Promise<unknown>;
  readonly #child: Started['child'];
  readonly #stderrBytes = new Map<number, number>();
  #wake: (() => void)[] = [];

  /** Starts an agent and waits for its handshake line. */
  static async start(options: DriverOptions = {}): Promise<AgentDriver> {
    const command = [options.agent ?? AGENT, '--agent', '--nonce', NONCE, ...(options.args ?? [])];
    const { child, ended: closed } = startProgram(command, {
      env: options.env ?? process.env,
      extendEnv: false,
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      ...(options.user === undefined ? {} : { uid: options.user, gid: options.user }),
      stdio: ['pipe', 'pipe', 'inherit', ...(options.extraStdio ?? [])],
    });
    if (child.stdout === null) throw new Error('the agent has no output');
    const exited = once(child, 'exit').then(([code, signal]) => ({ code, signal }));
    const lines = createInterface({ input: child.stdout });
    const ended = closed.then(() => Promise.reject(new Error('the agent ended without its first line')));
    const [first] = (await Promise.race([once(lines, 'line'), ended])) as [string];
    const hello = /^rdstage\/1 n-0123456789 (\{.*\})$/.exec(first)?.[1];
    if (hello === undefined) throw new Error(`the agent's first line is ${first}`);
    return new AgentDriver(child, JSON.parse(hello), lines, { exited, closed }, options.acknowledge ?? true);
  }

  private constructor(
    child: Started['child'],
    hello: AgentHello,
    lines: ReturnType<typeof createInterface>,
    ends: Pick<AgentDriver, 'exited' | 'closed'>,
    acknowledge: boolean,
  ) {
    this.#child = child;
    this.hello = hello;
    this.exited = ends.exited;
    this.closed = ends.closed;
    lines.on('line', (line) => this.#take(JSON.parse(line), acknowledge));
  }

  /** The pid of the guardian, which is the started process. */
  get guardian(): number {
    return this.hello.pid;
  }

  get supervisor(): number {
    const [pid] = childrenOf(this.guardian);
    if (pid === undefined) throw new Error('the guardian has no supervisor');
    return pid;
  }

  send(request: AgentRequest): void {
    this.sendLine(JSON.stringify(request));
  }

  sendLine(line: string): void {
    this.#child.stdin?.write(`${line}\n`);
  }

  closeInput(): void {
    this.#child.stdin?.end();
  }

  closeOutput(): void {
    this.#child.stdout?.destroy();
  }

  /** The reading end of the pipe that is the agent's descriptor `fd`, 3 or higher. */
  extra(fd: number): Readable {
    return this.#child.stdio[fd] as unknown as Readable;
  }

  /** Waits for the first event of this name for which `matches` holds; it may have arrived already. */
  async event<N extends AgentEvent['event']>(
    name: N,
    matches: (event: EventNamed<N>) => boolean = () => true,
  ): Promise<EventNamed<N>> {
    const deadline = Date.now() + EVENT_MS;
    for (;;) {
      const found = this.all(name).find(matches);
      if (found !== undefined) return found;
      if (Date.now() >= deadline) throw new Error(`no ${name} came: ${JSON.stringify(this.events.slice(-20))}`);
      await this.#next(deadline - Date.now());
    }
  }

  all<N extends AgentEvent['event']>(name: N): EventNamed<N>[] {
    return this.events.filter((event): event is EventNamed<N> => event.event === name);
  }

  /** The standard error of the stage so far. */
  stderrOf(stage: number): string {
    const chunks = this.all('stderr').filter((event) => event.stage === stage);
    return Buffer.concat(chunks.map((event) => Buffer.from(event.data, 'hex'))).toString();
  }

  /** Prepares a segment and starts it once it is ready. For segments without hops to connect. */
  async run(segment: Prepare): Promise<void> {
    this.send(segment);
    await this.event('prepared', (event) => event.segment === segment.segment);
    this.send({ op: 'go', segment: segment.segment });
  }

  /** Waits for the segment's end, sends `finish`, and waits for the agent's end. */
  async finish(segment = 1): Promise<void> {
    await this.event('segment_ended', (event) => event.segment === segment);
    this.send({ op: 'finish' });
    await this.event('ended');
    await this.closed;
  }

  async abort(): Promise<void> {
    this.send({ op: 'abort', reason: 'a test' });
    await this.event('ended');
    await this.closed;
  }

  /** Ends the agent after a test, even if the test failed. */
  async close(): Promise<void> {
    this.closeInput();
    await this.closed;
  }

  #take(event: AgentEvent, acknowledge: boolean): void {
    this.events.push(event);
    if (event.event === 'stderr' && acknowledge) {
      const bytes = (this.#stderrBytes.get(event.stage) ?? 0) + event.data.length / 2;
      this.#stderrBytes.set(event.stage, bytes);
      this.send({ op: 'stderr_ack', stage: event.stage, bytes });
    }
    for (const wake of this.#wake.splice(0)) wake();
  }

  #next(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, withinMs);
      this.#wake.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}

export function command(stage: number, text: string | Uint8Array, more: Partial<AgentStage> = {}): AgentStage {
  const bytes = hex(text);
  const plain = { stage, kind: 'command', command: bytes, shell: 'sh', ok: [0], in: stage - 1, out: stage };
  return { ...plain, ...more } as AgentStage;
}

export function prepare(
  stages: readonly AgentStage[],
  links: readonly AgentLink[],
  more: Partial<Prepare> = {},
): Prepare {
  return {
    op: 'prepare',
    segment: 1,
    lenient: false,
    lease_ms: LEASE_MS,
    connect_timeout_ms: 60_000,
    stages,
    links,
    ...more,
  };
}

/** Commands joined by pipes, stage 1 first; standard input is empty, standard output is dropped. */
export function pipeline(...stages: (string | AgentStage)[]): Prepare {
  const last = stages.length;
  const pipes = Array.from({ length: last - 1 }, (_, index): AgentLink => ({ link: index + 1, kind: 'pipe' }));
  const ends: AgentLink[] = [
    { link: 0, kind: 'null' },
    { link: last, kind: 'null' },
  ];
  return prepare(
    stages.map((stage, index) => (typeof stage === 'string' ? command(index + 1, stage) : stage)),
    [...ends, ...pipes],
  );
}

export function hex(text: string | Uint8Array): string {
  return Buffer.from(text).toString('hex');
}

export function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim().split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}
