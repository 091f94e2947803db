/** Reads the configurations of many hosts, which takes an ssh for each, in a few shells. */
import { wordForSh } from '../../model/shell-quote.ts';
import { type ChildChannel, startChild } from '../child-channel.ts';
import { type Destination, destinationArguments } from '../destination.ts';
import type { ConfigReader, SshConfig } from '../resolve.ts';
import { parseConfig, readSshConfig, rejectedError } from './config.ts';
import type { SshProgram } from './program.ts';

/**
 * Begins to ask ssh for the configurations of `hosts`, `atOnce` at a time, and returns a reader of these and others. It
 * asks for each destination once: many hosts may have the same jump host. node takes several milliseconds to start a
 * program, a shell less than one.
 */
export function createConfigReader(
  ssh: SshProgram,
  hosts: readonly Destination[],
  atOnce: number,
  signal: AbortSignal,
): ConfigReader {
  const configs = new Map<string, Promise<SshConfig>>();
  const keep = (destination: Destination, config: Promise<SshConfig>) => {
    config.catch(() => {}); // reported when the host is used
    configs.set(keyOf(destination), config);
  };
  for (const group of deal(hosts, Math.min(hosts.length, atOnce))) {
    const [first] = group;
    if (first !== undefined && group.length === 1) keep(first, readSshConfig(ssh, first, signal));
    else for (const { destination, config } of askInShell(ssh, group, signal)) keep(destination, config);
  }
  return (destination, until) => {
    if (!configs.has(keyOf(destination))) keep(destination, readSshConfig(ssh, destination, until));
    return configs.get(keyOf(destination)) as Promise<SshConfig>;
  };
}

function keyOf(destination: Destination): string {
  return destinationArguments(destination).join('\0');
}

/** Returns the items in `count` groups, whose first members are the first items. */
function deal<Item>(items: readonly Item[], count: number): Item[][] {
  return Array.from({ length: count }, (_, group) => items.filter((_item, index) => index % count === group));
}

interface Question {
  readonly destination: Destination;
  readonly config: Promise<SshConfig>;
}

/** Runs `ssh -G` for one destination after the other. */
function askInShell(ssh: SshProgram, destinations: readonly Destination[], signal: AbortSignal): readonly Question[] {
  const waiting: Waiting[] = [];
  const questions = destinations.map((destination) => {
    const config = new Promise<SshConfig>((resolve, reject) => {
      const answer = (text: string) => {
        if (text.startsWith(ACCEPTED)) resolve(parseConfig(text.slice(ACCEPTED.length)));
        else reject(rejectedError(destination, text));
      };
      waiting.push({ answer, fail: (error) => reject(error ?? rejectedError(destination, '')) });
    });
    return { destination, config };
  });
  try {
    const child = startChild(['sh'], ssh.env);
    child.stdin.end(scriptFor(ssh, destinations));
    child.stderr.resume();
    readAnswers(child, waiting, signal);
  } catch (error) {
    for (const { fail } of waiting) fail(error);
  }
  return questions;
}

interface Waiting {
  answer(text: string): void;
  /** Without an error: ssh gave no reason. */
  fail(error: unknown): void;
}

function readAnswers(child: ChildChannel, waiting: Waiting[], signal: AbortSignal): void {
  const failAll = (error: unknown) => {
    for (const { fail } of waiting.splice(0)) fail(error);
  };
  const giveUp = () => {
    child.kill();
    failAll(signal.reason);
  };
  signal.addEventListener('abort', giveUp, { once: true });
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const answers = `${rest}${text}`.split('\0');
    rest = answers.pop() ?? '';
    for (const each of answers) waiting.shift()?.answer(each);
  });
  child.stdout.once('close', async () => {
    await child.closed;
    signal.removeEventListener('abort', giveUp);
    failAll(child.startError());
  });
}

/** Before the configuration; without it, the text is an error message. */
const ACCEPTED = 'accepted\n';

function scriptFor(ssh: SshProgram, destinations: readonly Destination[]): string {
  const questions = destinations.map((destination) => ['ask', ...destinationArguments(destination)].map(wordForSh));
  return `ssh=${wordForSh(ssh.path)}
ask() {
  if config=$("$ssh" -G "$@" 2>/dev/null </dev/null); then printf 'accepted\\n%s\\000' "$config"
  else printf '%s\\000' "$("$ssh" -G "$@" 2>&1 >/dev/null </dev/null)"
  fi
}
${questions.map((words) => words.join(' ')).join('\n')}
`;
}
