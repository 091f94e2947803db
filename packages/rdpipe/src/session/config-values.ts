/** Reads values of ssh's configuration: flags, numbers, paths with tokens, the environment. */
import { homedir, userInfo } from 'node:os';
import type { Target } from './resolve.ts';

/** True if a keyword is on. ssh prints and accepts more than one word for each value. */
export function isOn({ config }: Target, keyword: string, byDefault: boolean): boolean {
  const value = config.get(keyword)?.[0]?.toLowerCase();
  return value === undefined ? byDefault : value !== 'no' && value !== 'false';
}

/** Returns a keyword's number, or `byDefault` if it has none. */
export function configuredNumber({ config }: Target, keyword: string, byDefault: number): number {
  const value = config.get(keyword)?.[0] ?? '';
  return /^\d+$/.test(value) ? Number(value) : byDefault;
}

/** Returns the files of a keyword, with `~` and ssh's percent tokens expanded. */
export function configuredPaths(target: Target, keyword: string): string[] {
  const values = target.config.get(keyword) ?? [];
  const words = LISTS.has(keyword) ? values.flatMap((value) => value.split(/\s+/)) : values;
  return words.filter((word) => word !== 'none').map((word) => expandPath(word, target));
}

/** Returns a path with `~` and ssh's percent tokens expanded. */
export function expandPath(path: string, target: Target): string {
  return expandTokens(path, target).replace(/^~(?=\/)/, homedir());
}

/** Expands `%h`, `%p`, `%r` and other tokens of ssh_config(5); unknown ones are kept. */
export function expandTokens(text: string, target: Target): string {
  const tokens: Readonly<Record<string, string>> = {
    '%': '%',
    d: homedir(),
    h: target.hostname,
    n: target.destination.name,
    p: String(target.port),
    r: target.user,
    u: userInfo().username,
  };
  return text.replace(/%(.)/g, (whole, token: string) => tokens[token] ?? whole);
}

/** Returns the environment variables for the host, from SetEnv and SendEnv. */
export function sentEnvironment({ config }: Target, env: NodeJS.ProcessEnv = process.env): Record<string, string> {
  const patterns = (config.get('sendenv') ?? []).flatMap((value) => value.split(/\s+/));
  const expressions = patterns.map(expressionOf);
  const names = Object.keys(env).filter((name) => expressions.some((expression) => expression.test(name)));
  const sent = names.map((name) => [name, env[name]]);
  const set = (config.get('setenv') ?? []).map((value) => value.split(/=(.*)/s).slice(0, 2));
  return Object.fromEntries([...sent, ...set]);
}

const LISTS: ReadonlySet<string> = new Set(['userknownhostsfile', 'globalknownhostsfile']);

function expressionOf(pattern: string): RegExp {
  const text = pattern
    .replace(/[^\w*?]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${text}$`);
}
