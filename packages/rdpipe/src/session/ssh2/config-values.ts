/** Reads values of ssh's configuration: flags, numbers, paths with tokens, the environment. */
import { homedir, userInfo } from 'node:os';
import type { Target } from '../resolve.ts';

/** Whether a keyword is on. ssh prints and takes more than one word for it. */
export function isOn({ config }: Target, keyword: string, byDefault: boolean): boolean {
  const value = config.get(keyword)?.[0]?.toLowerCase();
  return value === undefined ? byDefault : value !== 'no' && value !== 'false';
}

/** A keyword's number. */
export function configuredNumber({ config }: Target, keyword: string, byDefault: number): number {
  const value = config.get(keyword)?.[0] ?? '';
  return /^\d+$/.test(value) ? Number(value) : byDefault;
}

/** The files of a keyword, with `~` and ssh's percent signs expanded. */
export function configuredPaths(target: Target, keyword: string): string[] {
  const values = target.config.get(keyword) ?? [];
  const words = LISTS.has(keyword) ? values.flatMap((value) => value.split(/\s+/)) : values;
  return words.filter((word) => word !== 'none').map((word) => expandPath(word, target));
}

/** A path with `~` and ssh's percent signs expanded. */
export function expandPath(path: string, target: Target): string {
  return expandTokens(path, target).replace(/^~(?=\/)/, homedir());
}

/** `%h`, `%p`, `%r` and the like of ssh_config(5). */
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

/** The environment that SetEnv and SendEnv send. */
export function sentEnvironment({ config }: Target, env: NodeJS.ProcessEnv = process.env): Record<string, string> {
  const patterns = (config.get('sendenv') ?? []).flatMap((value) => value.split(/\s+/));
  const sent = Object.entries(env).filter(([name]) => patterns.some((pattern) => matchesName(name, pattern)));
  const set = (config.get('setenv') ?? []).map((value) => value.split(/=(.*)/s).slice(0, 2));
  return Object.fromEntries([...sent, ...set]);
}

const LISTS: ReadonlySet<string> = new Set(['userknownhostsfile', 'globalknownhostsfile']);

function matchesName(name: string, pattern: string): boolean {
  return new RegExp(
    `^${pattern
      .replace(/[^\w*?]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
  ).test(name);
}
