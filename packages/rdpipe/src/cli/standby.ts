/**
 * The standby of rdssh: it has the program loaded and runs the commands of a loop, one at a time.
 * Node needs longer to start than such a command needs to run. rdssh's front connects to its socket twice: for the
 * command line, and for its own agent, which has the user's input and output.
 */
import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { closeSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { readLines } from '../agent/lines.ts';
import { decodeFirstLine, decodeFrontLine, type FrontCommandLine } from '../model/front-protocol.ts';
import type { UserStreams } from '../run/open-hosts.ts';
import { isListenedTo } from '../session/openssh/persistent-master.ts';
import { socketChannel } from '../session/socket-channel.ts';
import { UNLIMITED } from '../ui/columns.ts';
import type { Terminal } from '../ui/terminal/terminal.ts';
import { DECLINED, runCommand } from './rdssh.ts';
import { IDLE_MS, standbyPath } from './standby-place.ts';

const CHECK_MS = 1000;
/** The front's lines are shorter than those of an agent; see base/json_lines.h. */
const LINE_MAX_BYTES = 64 * 1024;
const STDERR_BYTES = 24 * 1024;

/** Serves until no command has come for a while; returns the exit status. */
export async function main(): Promise<number> {
  process.chdir('/');
  closeInherited();
  const path = standbyPath();
  const server = path === undefined ? undefined : await listen(path);
  if (path === undefined || server === undefined) return 0;
  const { ino } = statSync(path);
  const standby = createStandby(makeKey(path));
  server.on('connection', (socket) => {
    standby.receive(socket).catch(() => socket.destroy());
  });
  do await delay(CHECK_MS);
  while (standby.isWanted() && statSync(path, { throwIfNoEntry: false })?.ino === ino);
  if (statSync(path, { throwIfNoEntry: false })?.ino === ino)
    for (const file of [path, keyFile(path)]) rmSync(file, { force: true });
  server.close();
  while (standby.isBusy()) await delay(CHECK_MS);
  return 0;
}

/** A descriptor of the user's shell may hold a lock (`flock 200`). Those of node are close-on-exec. */
function closeInherited(): void {
  for (const name of readdirSync('/proc/self/fdinfo')) {
    const [, flags = ''] = /^flags:\s*(\d+)$/m.exec(infoOf(name)) ?? [];
    if (Number(name) > 2 && flags !== '' && (Number.parseInt(flags, 8) & O_CLOEXEC) === 0) closeSync(Number(name));
  }
}

const O_CLOEXEC = 0o2000000;

/** Returns an empty text if the descriptor has just been closed. */
function infoOf(name: string): string {
  try {
    return readFileSync(`/proc/self/fdinfo/${name}`, 'utf8');
  } catch {
    return '';
  }
}

/** A front that has read the key of an earlier standby is disconnected, and runs its command itself. */
function makeKey(path: string): string {
  const key = randomBytes(16).toString('hex');
  rmSync(keyFile(path), { force: true });
  writeFileSync(keyFile(path), key, { mode: 0o600, flag: 'wx' });
  return key;
}

function keyFile(path: string): string {
  return `${path}.key`;
}

/** Returns undefined if another standby already listens. */
async function listen(path: string): Promise<Server | undefined> {
  if (await isListenedTo(path)) return undefined;
  rmSync(path, { force: true });
  const server = createServer({ allowHalfOpen: true });
  server.listen(path);
  try {
    await once(server, 'listening');
    return server;
  } catch {
    return undefined;
  }
}

interface Standby {
  receive(socket: Socket): Promise<void>;
  isBusy(): boolean;
  /** True while it runs a command, and for some time after that. */
  isWanted(): boolean;
}

function createStandby(key: string): Standby {
  const arrivals = new EventEmitter();
  const arrived = new Map<string, Socket>();
  let isBusy = false;
  let lastMs = performance.now();
  const agentOf = async (token: string, signal: AbortSignal): Promise<Socket> => {
    const agent = arrived.get(token) ?? ((await once(arrivals, token, { signal }))[0] as Socket);
    arrived.delete(token);
    return agent;
  };
  return {
    async receive(socket) {
      socket.on('error', () => {});
      const command = decodeFirstLine(await firstLine(socket));
      if (command.key !== key) throw new Error('another key');
      if ('agent' in command) {
        arrived.set(command.agent, socket);
        socket.once('close', () => arrived.delete(command.agent));
        arrivals.emit(command.agent, socket);
        return;
      }
      if (isBusy) {
        socket.end(message({ event: 'declined' }));
        return;
      }
      isBusy = true;
      try {
        await runFor(command, socket, (signal) => agentOf(command.token, signal));
      } finally {
        isBusy = false;
        lastMs = performance.now();
        process.chdir('/');
        socket.destroy();
      }
    },
    isBusy: () => isBusy,
    isWanted: () => isBusy || performance.now() - lastMs < IDLE_MS,
  };
}

/** Nothing is done before the front has agreed: until then it may run the command itself. */
async function runFor(
  command: FrontCommandLine,
  socket: Socket,
  agentOf: (signal: AbortSignal) => Promise<Socket>,
): Promise<void> {
  const gone = new AbortController();
  socket.once('close', () => gone.abort());
  const say = (event: object) => void socket.write(message(event));
  say({ event: 'accepted' });
  const lines = readLines(socket, LINE_MAX_BYTES);
  const { value: first } = await lines.next();
  if (first === undefined) return;
  const agent = await agentOf(gone.signal);
  let isRunning = true;
  const heard = hear(lines, () => isRunning);
  enter(command);
  const io = { environment: process.env, ignoredSignals: undefined };
  const status = await runCommand(command.words.map(bytesOfHex), io, {
    terminal: terminalOf(command, say),
    streams: streamsOf(command),
    begun: () => say({ event: 'begun' }),
    front: {
      agent: socketChannel(agent),
      stopProcess: () => say({ event: 'stop' }),
      taken: () => (socket.writableNeedDrain ? untilDrained(socket) : undefined),
    },
  });
  isRunning = false;
  say(status === DECLINED ? { event: 'declined' } : { event: 'ended', status });
  agent.destroy();
  await heard;
}

/** Passes the front's signals to the run, which has handlers in this process. The end of the front ends the run. */
async function hear(lines: AsyncIterable<Buffer>, isRunning: () => boolean): Promise<void> {
  try {
    for await (const line of lines) {
      const said = decodeFrontLine(line.toString());
      if ('signal' in said && isRunning()) process.emit(said.signal, said.signal);
    }
  } catch {
    // The front is gone.
  }
  while (isRunning() && process.listenerCount('SIGTERM') === 0) await delay(1);
  if (isRunning()) process.emit('SIGTERM', 'SIGTERM');
}

/** Makes this process like the front's. */
function enter({ environment, directory, umask }: FrontCommandLine): void {
  for (const name of Object.keys(process.env)) delete process.env[name];
  for (const pair of environment.map(textOfHex)) {
    const end = pair.indexOf('=');
    if (end > 0) process.env[pair.slice(0, end)] = pair.slice(end + 1);
  }
  process.chdir(textOfHex(directory));
  process.umask(umask);
}

function streamsOf({ input, output }: FrontCommandLine): UserStreams {
  return { stdin: input ? 'send' : 'null', stdout: output ? 'arrive' : 'drop' };
}

function terminalOf({ columns }: FrontCommandLine, say: (event: object) => void): Terminal {
  return {
    isTerminal: columns > 0,
    stream: undefined,
    color: false,
    columns: () => (columns > 0 ? columns : UNLIMITED),
    write(text) {
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; at += STDERR_BYTES)
        say({ event: 'stderr', data: bytes.subarray(at, at + STDERR_BYTES).toString('hex') });
    },
  };
}

function untilDrained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once('drain', resolve).once('close', resolve);
  });
}

/** The rest of what the socket receives can still be read from it. */
async function firstLine(socket: Socket): Promise<string> {
  let begun = Buffer.alloc(0);
  for (;;) {
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) {
      if (socket.readableEnded || socket.destroyed) throw new Error('no line');
      await Promise.race([once(socket, 'readable'), once(socket, 'close')]);
      continue;
    }
    begun = Buffer.concat([begun, chunk]);
    const end = begun.indexOf('\n');
    if (end < 0 && begun.length > LINE_MAX_BYTES) throw new Error('a long line');
    if (end < 0) continue;
    if (end + 1 < begun.length) socket.unshift(begun.subarray(end + 1));
    return begun.toString('utf8', 0, end);
  }
}

function message(event: object): string {
  return `${JSON.stringify(event)}\n`;
}

function bytesOfHex(digits: string): string {
  return Buffer.from(digits, 'hex').toString('latin1');
}

function textOfHex(digits: string): string {
  return Buffer.from(digits, 'hex').toString('utf8');
}
