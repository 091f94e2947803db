/** Asks the user for passwords, codes and host keys, one question at a time. */
import { randomBytes } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import type { Emit } from '../../model/events.ts';
import { printable } from '../../model/text.ts';
import { createConcurrencyLimit } from '../concurrency-limit.ts';
import type { Deadline } from '../deadline.ts';
import type { PrivateDir } from '../private-dir.ts';
import { type AskpassQuestion, decodeQuestion, encodeAnswer, LONGEST_LINE_BYTES } from './askpass-protocol.ts';
import type { Terminal } from './terminal.ts';

/** A connection that may ask questions. */
export interface Asker {
  /** Environment of the ssh that connects. */
  readonly env: Readonly<Record<string, string>>;
  /** Values of -o for this ssh. */
  readonly options: readonly string[];
  /** True if questions can be asked. */
  readonly interactive: boolean;
  /** Resolves with undefined if there is no answer. `withdrawn` aborts when the answer is no longer needed. */
  ask(text: string, echo: boolean, withdrawn: AbortSignal): Promise<string | undefined>;
  /** True if a question was asked: then the login had begun. */
  asked(): boolean;
  /** Ends the questions of this connection. */
  release(): void;
}

export interface Prompter {
  /** Registers a connection. Its deadline is paused while one of its questions waits for the answer. */
  attach(label: string, deadline: Deadline): Asker;
  close(): void;
}

interface PrompterOptions {
  /** Directory for the socket. */
  readonly dir: PrivateDir;
  /** The program that ssh runs to get an answer. */
  readonly askpass: string;
  readonly terminal: Terminal | undefined;
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

/** Asks one question at a time; resolves with the answer. */
type Ask = (label: string, text: string, echo: boolean, signal: AbortSignal) => Promise<string | undefined>;

/** Returns a prompter that listens for askpass programs on a socket, or that never asks if there is no terminal. */
export async function createPrompter(options: PrompterOptions): Promise<Prompter> {
  const { terminal } = options;
  if (terminal === undefined) return { attach: () => NON_INTERACTIVE, close() {} };

  const askers = new Map<string, Asker>();
  const path = options.dir.newPath('ask');
  const server = await listen(path, (socket) => {
    answer(socket, askers).catch(() => socket.destroy());
  });
  const askOneAtATime = oneAtATime(terminal, options.emit);
  return {
    attach(label, deadline) {
      const id = randomBytes(16).toString('hex');
      const env = askpassEnvironment(options.askpass, path, id);
      const asker = createAsker(label, deadline, env, askOneAtATime, options.signal, () => askers.delete(id));
      askers.set(id, asker);
      return asker;
    },
    close: () => void server.close(),
  };
}

function createAsker(
  label: string,
  deadline: Deadline,
  env: Asker['env'],
  put: Ask,
  runSignal: AbortSignal,
  release: () => void,
): Asker {
  let asked = false;
  return {
    env,
    options: [], // BatchMode is left to the user
    interactive: true,
    asked: () => asked,
    async ask(text, echo, withdrawn) {
      asked = true;
      deadline.pause();
      try {
        return await put(label, text, echo, AbortSignal.any([runSignal, withdrawn]));
      } catch {
        return undefined;
      } finally {
        deadline.resume();
      }
    },
    release,
  };
}

function askpassEnvironment(askpass: string, path: string, id: string): Record<string, string> {
  return {
    SSH_ASKPASS: askpass,
    SSH_ASKPASS_REQUIRE: 'force',
    // An ssh older than 8.4 runs the program only if DISPLAY is set.
    DISPLAY: process.env.DISPLAY ?? ':',
    RDPIPE_ASKPASS: path,
    RDPIPE_ASKPASS_ID: id,
    RDPIPE_NODE: process.execPath,
  };
}

function oneAtATime(terminal: Terminal, emit: Emit): Ask {
  const limit = createConcurrencyLimit(1);
  return (label, text, echo, signal) =>
    limit(signal, async () => {
      emit({ kind: 'prompting', host: label, active: true });
      try {
        return await terminal.ask(`${label}: ${lines(text)}`, echo, signal);
      } finally {
        emit({ kind: 'prompting', host: label, active: false });
      }
    });
}

/** Without a terminal, ssh runs in batch mode. */
const NON_INTERACTIVE: Asker = {
  env: {},
  options: ['BatchMode=yes'],
  interactive: false,
  ask: async () => undefined,
  asked: () => false,
  release() {},
};

function listen(path: string, onConnection: (socket: Socket) => void): Promise<Server> {
  const server = createServer(onConnection);
  server.unref();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => {
      chmodSync(path, 0o600);
      resolve(server);
    });
  });
}

/** Handles one question of one askpass program; closes the connection without an answer if there is none. */
async function answer(socket: Socket, askers: ReadonlyMap<string, Asker>): Promise<void> {
  const gone = new AbortController();
  socket.on('error', () => {});
  socket.on('close', () => gone.abort());
  const question = await readQuestion(socket);
  socket.resume();
  const asker = question && askers.get(question.id);
  const reply = asker && (await asker.ask(question.text, isEchoed(question), gone.signal));
  socket.end(reply === undefined ? '' : encodeAnswer(reply));
}

async function readQuestion(socket: Socket): Promise<AskpassQuestion | undefined> {
  let line = '';
  socket.setEncoding('utf8');
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    line += chunk;
    if (line.includes('\n') || line.length > LONGEST_LINE_BYTES) break;
  }
  return decodeQuestion(line);
}

/** True for the confirmation of a host key; anything else for which ssh asks is a secret. */
function isEchoed(question: AskpassQuestion): boolean {
  return question.hint === 'confirm' || /\(yes\/no|'yes', 'no' or/.test(question.text);
}

/** Replaces control characters: the server chooses part of the text, which must not move the cursor. */
function lines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}
