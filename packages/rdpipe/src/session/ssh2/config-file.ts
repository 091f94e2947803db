/** Reads ssh's configuration without ssh: -o and the `Host` blocks of the file. */
import { promises } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { Destination } from '../destination.ts';
import { sessionError } from '../errors.ts';
import { matchesPatterns } from './host-pattern.ts';

/**
 * Returns the destination's configuration: lower-case keyword to its values.
 * @throws SessionError if a file given by -F cannot be read, or a file uses `Match` or `Include`.
 */
export async function readPlainConfig(destination: Destination): Promise<ReadonlyMap<string, readonly string[]>> {
  const config = new Map<string, string[]>();
  const add = ({ keyword, value }: Setting) => {
    const values = config.get(keyword);
    if (values === undefined) config.set(keyword, [value]);
    else if (REPEATABLE.has(keyword)) values.push(value);
  };
  if (destination.user !== undefined) add({ keyword: 'user', value: destination.user });
  if (destination.port !== undefined) add({ keyword: 'port', value: destination.port });
  destination.options.map(parseSetting).forEach(add);
  fileSettings(await readConfigFile(destination), destination).forEach(add);
  defaults().forEach(add);
  return config;
}

interface Setting {
  /** In lower case. */
  readonly keyword: string;
  readonly value: string;
}

const REPEATABLE: ReadonlySet<string> = new Set(['identityfile', 'sendenv', 'setenv']);

function defaults(): Setting[] {
  return [
    { keyword: 'user', value: userInfo().username },
    ...['id_ed25519', 'id_ecdsa', 'id_rsa'].map((name) => ({ keyword: 'identityfile', value: `~/.ssh/${name}` })),
    { keyword: 'userknownhostsfile', value: '~/.ssh/known_hosts' },
    { keyword: 'globalknownhostsfile', value: '/etc/ssh/ssh_known_hosts' },
  ];
}

async function readConfigFile(destination: Destination): Promise<string> {
  const { configFile } = destination;
  if (configFile === 'none') return '';
  try {
    return await promises.readFile(configFile ?? join(homedir(), '.ssh/config'), 'utf8');
  } catch (error) {
    if (configFile === undefined) return '';
    throw sessionError(destination, 'unreachable', `cannot read ${configFile}: ${(error as Error).message}`);
  }
}

/** Returns the settings of the matching blocks, in order: the first value of a keyword wins. */
function fileSettings(text: string, destination: Destination): Setting[] {
  let applies = true;
  return text.split('\n').flatMap((line) => {
    if (/^\s*(#|$)/.test(line)) return [];
    const setting = parseSetting(line.trim());
    if (isSshsOwn(setting)) {
      throw sessionError(
        destination,
        'unreachable',
        `its configuration has '${setting.keyword}', which only ssh itself supports`,
      );
    }
    if (setting.keyword !== 'host') return applies ? [setting] : [];
    applies = matchesPatterns(destination.name, setting.value.split(/\s+/));
    return [];
  });
}

/** Keywords that only ssh itself supports. */
function isSshsOwn({ keyword, value }: Setting): boolean {
  if (keyword === 'canonicalizehostname') return !/^(no|false)$/i.test(value);
  return keyword === 'match' || keyword === 'include';
}

/** `Keyword value`, `Keyword=value`, `Keyword "value"`. */
function parseSetting(text: string): Setting {
  const [, keyword = '', value = ''] = /^([^\s=]+)\s*=?\s*(.*)$/s.exec(text.trim()) ?? [];
  return { keyword: keyword.toLowerCase(), value: value.replace(/^"(.*)"$/, '$1').trim() };
}
