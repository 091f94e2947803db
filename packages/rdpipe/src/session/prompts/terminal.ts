/** Reads an answer, such as a password without echo, from the controlling terminal. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { ReadStream } from 'node:tty';

/** A terminal on which the user can be asked. */
export interface Terminal {
  /**
   * Resolves with the line that the user typed; undefined if the user gave up or the signal aborted. Without `echo` the
   * input is not shown.
   */
  ask(text: string, echo: boolean, signal: AbortSignal): Promise<string | undefined>;
}

/** Returns the controlling terminal, independent of standard input and output; undefined if there is none. */
export function controllingTerminal(path = '/dev/tty'): Terminal | undefined {
  try {
    closeSync(openSync(path, 'r+'));
  } catch {
    return undefined;
  }
  return { ask: (text, echo, signal) => askOn(path, text, echo, signal) };
}

async function askOn(path: string, text: string, echo: boolean, signal: AbortSignal): Promise<string | undefined> {
  const fd = openSync(path, 'r+');
  const input = new ReadStream(fd);
  const show = (shown: string) => writeSync(fd, shown);
  input.setRawMode(true);
  show(text);
  try {
    return await readLine(input, echo ? show : () => {}, signal);
  } finally {
    show('\n');
    input.setRawMode(false);
    input.destroy();
  }
}

/**
 * The terminal is in raw mode, because in cooked mode the input would be echoed; so this function handles the keys that
 * edit a line.
 */
function readLine(input: ReadStream, echo: (text: string) => void, signal: AbortSignal): Promise<string | undefined> {
  const decoder = new StringDecoder('utf8');
  let line: string[] = [];
  return new Promise((resolve) => {
    const finish = (answer: string | undefined) => {
      signal.removeEventListener('abort', giveUp);
      input.removeAllListeners();
      resolve(answer);
    };
    const giveUp = () => finish(undefined);
    const erase = (count: number) => {
      echo('\b \b'.repeat(Math.min(count, line.length)));
      line = line.slice(0, Math.max(0, line.length - count));
    };
    const take = (key: string): boolean => {
      if (key === '\r' || key === '\n') finish(line.join(''));
      else if (key === INTERRUPT) interrupt(giveUp);
      else if (key === END_OF_INPUT && line.length === 0) giveUp();
      else if (key === '\b' || key === DELETE) erase(1);
      else if (key === ERASE_LINE) erase(line.length);
      else if (key >= ' ') {
        line.push(key);
        echo(key);
      }
      return key !== '\r' && key !== '\n' && key !== INTERRUPT;
    };
    input.on('data', (bytes: Buffer) => [...decoder.write(bytes)].every(take));
    input.on('error', giveUp);
    input.on('end', giveUp);
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
  });
}

const INTERRUPT = '\x03';
const END_OF_INPUT = '\x04';
const ERASE_LINE = '\x15';
const DELETE = '\x7f';

/** A terminal in raw mode sends no signals. */
function interrupt(giveUp: () => void): void {
  giveUp();
  process.kill(process.pid, 'SIGINT');
}
