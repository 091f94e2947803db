/** The channels of one node, over the shared input and output of the step. */
import { Readable, Writable } from 'node:stream';
import { settlesWithin, unlessAborted } from '../../abort.ts';
import type { Channel } from '../../host-session.ts';
import { REASON_LIMIT_MS } from './step-log.ts';
import { FRAME_MAX_BYTES, SLOTS } from './task-script.ts';

export interface NodeChannels {
  /** Resolves with the task's first line; rejects if the step ends before. */
  readonly ready: Promise<void>;
  /** Resolves when the task has ended. */
  readonly ended: Promise<void>;
  /** Slurm's reason, if the task has ended. */
  lost(): string | undefined;
  /** Opens a channel; waits while all channels of the node are in use. */
  open(signal: AbortSignal): Promise<Channel>;
  /** Handles a line of the task's output. */
  receive(slot: number, verb: string, text: string): void;
  /** The task has ended: closes its channels. Only the first reason counts. */
  lose(reason: string): void;
  /** Kills every channel. */
  close(): void;
}

/** Larger statuses are of commands that a signal ended. */
const SIGNALLED = 128;

type StepStreams = Pick<Channel, 'stdin' | 'stdout'>;

interface OpenChannel extends Channel {
  /** Resolves when nothing of the channel is left on the node. */
  readonly gone: Promise<void>;
  readonly receive: (verb: string, text: string) => void;
}

/** Returns the channels of the node `name`; they write frames to the step's input. */
export function createNodeChannels(name: string, step: StepStreams): NodeChannels {
  const ready = deferred<void>();
  const ended = deferred<void>();
  ready.promise.catch(() => {});
  let reason: string | undefined;
  const channels = new Map<number, OpenChannel>();
  const free = [...SLOTS];
  const waiting: (() => void)[] = [];
  const release = (slot: number) => {
    channels.delete(slot);
    free.push(slot);
    waiting.shift()?.();
  };
  const nextSlot = async (signal: AbortSignal): Promise<number> => {
    for (;;) {
      signal.throwIfAborted();
      const slot = free.shift();
      if (slot !== undefined) return slot;
      await unlessAborted(new Promise<void>((resolve) => waiting.push(resolve)), signal);
    }
  };
  return {
    ready: ready.promise,
    ended: ended.promise,
    lost: () => reason,
    async open(signal) {
      const slot = await nextSlot(signal);
      const channel = createChannel(name, slot, step);
      channels.set(slot, channel);
      if (reason === undefined) step.stdin.write(`${name} ${slot} open 0\n`);
      else channel.receive('end', '');
      void channel.gone.then(() => release(slot));
      return channel;
    },
    receive(slot, verb, text) {
      const channel = channels.get(slot);
      if (verb === 'ready') ready.resolve();
      else if (verb !== 'end' || Number(text) <= SIGNALLED) channel?.receive(verb, text);
      // A cancelled job ends its processes with signals, shortly before srun reports why.
      else void settlesWithin(ended.promise, REASON_LIMIT_MS).then(() => channel?.receive(verb, text));
    },
    lose(why) {
      if (reason !== undefined) return;
      reason = why;
      ready.reject(new Error(why));
      for (const channel of channels.values()) channel.receive('end', '');
      ended.resolve();
    },
    close() {
      for (const channel of channels.values()) channel.kill();
    },
  };
}

/** A channel that is killed closes here at once; its slot becomes free when the task has also ended it. */
function createChannel(name: string, slot: number, step: StepStreams): OpenChannel {
  const closed = deferred<Awaited<Channel['closed']>>();
  const gone = deferred<void>();
  let isDropped = false;
  let isOver = false;
  const send = (verb: string, bytes: Buffer, done?: (error?: Error | null) => void) => {
    if (isOver || !step.stdin.writable) return done?.();
    step.stdin.write(Buffer.concat([Buffer.from(`${name} ${slot} ${verb} ${bytes.length}\n`), bytes]), done);
  };
  const stdin = new Writable({
    write(chunk: Buffer, _encoding, done) {
      for (let at = 0; at < chunk.length; at += FRAME_MAX_BYTES) {
        const frame = chunk.subarray(at, at + FRAME_MAX_BYTES);
        send('data', frame, at + FRAME_MAX_BYTES >= chunk.length ? done : undefined);
      }
      if (chunk.length === 0) done();
    },
    final(done) {
      send('eof', NOTHING);
      done();
    },
  });
  const readable = () => new Readable({ read: () => void step.stdout.resume() });
  const stdout = readable();
  const stderr = readable();
  for (const stream of [stdin, stdout, stderr]) stream.on('error', () => {});
  const settle = (code: number | null) => {
    for (const stream of [stdin, stdout, stderr]) stream.destroy();
    step.stdout.resume();
    closed.resolve({ code, signal: null });
  };
  return {
    stdin,
    stdout,
    stderr,
    closed: closed.promise,
    gone: gone.promise,
    kill() {
      if (isDropped) return;
      isDropped = true;
      send('kill', NOTHING);
      settle(null);
    },
    receive(verb, text) {
      if (verb === 'end') {
        isOver = true;
        gone.resolve();
        if (isDropped) return;
        isDropped = true;
        stdin.destroy();
        for (const stream of [stdout, stderr]) stream.push(null);
        closed.resolve({ code: text === '' ? null : Number(text), signal: null });
      } else if (!isDropped && !(verb === 'err' ? stderr : stdout).push(Buffer.from(text, 'base64'))) {
        step.stdout.pause();
      }
    },
  };
}

const NOTHING = Buffer.alloc(0);

/** Node 18 has no Promise.withResolvers. */
function deferred<T>(): {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (reason: Error) => void;
} {
  let settle: [(value: T) => void, (reason: Error) => void] | undefined;
  const promise = new Promise<T>((resolve, reject) => {
    settle = [resolve, reject];
  });
  const [resolve, reject] = settle as unknown as [(value: T) => void, (reason: Error) => void];
  return { promise, resolve, reject };
}
