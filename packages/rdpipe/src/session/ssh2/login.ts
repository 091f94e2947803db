/** Logs in with ssh2: agent keys, key files, keyboard-interactive, password. */
import { promises } from 'node:fs';
import ssh2, { type AnyAuthMethod, type AuthHandlerMiddleware, type ParsedKey, type Prompt } from 'ssh2';
import { configuredNumber, configuredPaths, expandPath, isOn } from '../config-values.ts';
import { sessionError } from '../errors.ts';
import type { Asker } from '../prompts/prompter.ts';
import type { Target } from '../resolve.ts';
import { loginAlgorithms } from './algorithms.ts';
import { ChosenKeys, mayLogIn, signingAsListed } from './user-keys.ts';

/** An attempt to log in: its method, and a function that prepares it if the server still allows the method. */
interface Attempt {
  readonly method: string;
  /** Resolves with undefined if there is nothing to try. */
  make(): Promise<AnyAuthMethod | undefined>;
}

/** The default of ssh for NumberOfPasswordPrompts. */
const PASSWORD_TRIES = 3;

/**
 * Returns a handler that makes every attempt that the server still allows, each once, in ssh's order. This also works
 * if the server requires several methods, such as a second factor.
 * @throws SessionError if the configuration permits no method that ssh2 supports.
 */
export function loginHandler(target: Target, asker: Asker, signal: AbortSignal): AuthHandlerMiddleware {
  const attempts = listAttempts(target, asker, signal);
  const nextOne = async (allowed: readonly string[] | null): Promise<AnyAuthMethod | undefined> => {
    for (;;) {
      const index = attempts.findIndex(({ method }) => allowed?.includes(method) ?? method === 'none');
      const [attempt] = index < 0 ? [] : attempts.splice(index, 1);
      if (attempt === undefined) return undefined;
      const made = await attempt.make();
      if (made !== undefined) return made;
    }
  };
  return (allowed, _partial, next) => {
    nextOne(allowed).then(
      (method) => next(method ?? NO_MORE),
      () => next(NO_MORE),
    );
  };
}

// ssh2 accepts false as the end of the attempts; its types lack it.
const NO_MORE = false as unknown as AnyAuthMethod;

function listAttempts(target: Target, asker: Asker, signal: AbortSignal): Attempt[] {
  const username = target.user;
  const tries = configuredNumber(target, 'numberofpasswordprompts', PASSWORD_TRIES);
  const mayAnswer =
    isOn(target, 'kbdinteractiveauthentication', true) && isOn(target, 'challengeresponseauthentication', true);
  const keys = isOn(target, 'pubkeyauthentication', true) ? keyAttempts(target, asker, signal) : [];
  const answers = mayAnswer && tries > 0 ? [questionsAttempt(username, asker, signal)] : [];
  const passwords = isOn(target, 'passwordauthentication', true) ? passwordAttempts(target, tries, asker, signal) : [];
  const nothing: Attempt = { method: 'none', make: async () => ({ type: 'none', username }) };
  return [nothing, ...preferred(target, [...keys, ...answers, ...passwords])];
}

/** Returns the attempts that PreferredAuthentications lists, in its order. */
function preferred({ config, destination }: Target, attempts: readonly Attempt[]): readonly Attempt[] {
  const methods = config.get('preferredauthentications')?.[0]?.split(',');
  if (methods === undefined) return attempts;
  if (METHODS.some((method) => methods.includes(method))) {
    return methods.flatMap((wanted) => attempts.filter(({ method }) => method === wanted));
  }
  const reason = `PreferredAuthentications lists no method that ssh2 supports; it supports ${METHODS.join(', ')}`;
  throw sessionError(destination, 'unreachable', reason);
}

const METHODS = ['publickey', 'keyboard-interactive', 'password'];

/** @throws SessionError if PubkeyAcceptedAlgorithms lists nothing that ssh2 supports. */
function keyAttempts(target: Target, asker: Asker, signal: AbortSignal): Attempt[] {
  loginAlgorithms(target);
  return [...agentAttempts(target), ...fileAttempts(target, asker, signal)];
}

function agentAttempts(target: Target): Attempt[] {
  const path = agentPath(target);
  if (path === undefined || isOn(target, 'identitiesonly', false)) return [];
  return [
    {
      method: 'publickey',
      make: async () => ({ type: 'agent', username: target.user, agent: new ChosenKeys(path, target) }),
    },
  ];
}

/** Reads IdentityAgent: a path, the word SSH_AUTH_SOCK, or $ and the name of a variable. */
function agentPath(target: Target): string | undefined {
  const configured = target.config.get('identityagent')?.[0] ?? 'SSH_AUTH_SOCK';
  if (configured === 'none') return undefined;
  if (configured === 'SSH_AUTH_SOCK') return process.env.SSH_AUTH_SOCK;
  return configured.startsWith('$') ? process.env[configured.slice(1)] : expandPath(configured, target);
}

function fileAttempts(target: Target, asker: Asker, signal: AbortSignal): Attempt[] {
  return configuredPaths(target, 'identityfile').map((path) => ({
    method: 'publickey',
    async make() {
      const key = await readKey(path, asker, signal);
      if (key === undefined || !mayLogIn(target, key)) return undefined;
      return { type: 'publickey', username: target.user, key: signingAsListed(target, key) };
    },
  }));
}

/** Returns undefined if the file is missing, is not a key, or stays locked. */
async function readKey(path: string, asker: Asker, signal: AbortSignal): Promise<ParsedKey | undefined> {
  const content = await promises.readFile(path).catch(() => undefined);
  if (content === undefined) return undefined;
  const key = parseKey(content);
  if (!(key instanceof Error)) return key;
  if (!/passphrase/i.test(key.message)) return undefined;
  const passphrase = await asker.ask(`Enter passphrase for key '${path}': `, false, signal);
  const unlocked = passphrase === undefined ? key : parseKey(content, passphrase);
  return unlocked instanceof Error ? undefined : unlocked;
}

function parseKey(content: Buffer, passphrase?: string): ParsedKey | Error {
  const parsed: ParsedKey | ParsedKey[] | Error = ssh2.utils.parseKey(content, passphrase);
  if (!Array.isArray(parsed)) return parsed;
  return parsed[0] ?? new Error('no key');
}

function questionsAttempt(username: string, asker: Asker, signal: AbortSignal): Attempt {
  const answerAll = async (instructions: string, questions: readonly Prompt[]): Promise<string[]> => {
    const answers: string[] = [];
    for (const [index, question] of questions.entries()) {
      const text = index === 0 && instructions !== '' ? `${instructions}\n${question.prompt}` : question.prompt;
      answers.push((await asker.ask(text, question.echo === true, signal)) ?? '');
    }
    return answers;
  };
  return {
    method: 'keyboard-interactive',
    make: async () =>
      asker.interactive
        ? {
            type: 'keyboard-interactive',
            username,
            prompt: (_name, instructions, _language, questions, finish) =>
              void answerAll(instructions, questions).then(finish),
          }
        : undefined,
  };
}

function passwordAttempts({ user, hostname }: Target, tries: number, asker: Asker, signal: AbortSignal): Attempt[] {
  const attempt: Attempt = {
    method: 'password',
    async make() {
      const password = await asker.ask(`${user}@${hostname}'s password: `, false, signal);
      return password === undefined ? undefined : { type: 'password', username: user, password };
    },
  };
  return Array.from({ length: tries }, () => attempt);
}
