/** The config file: TOML, checked in full. What is not known is a mistake, not ignored. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import * as v from 'valibot';
import { UsageError } from '../model/errors.ts';
import { printable } from '../model/text.ts';
import {
  ENCRYPT_MODES,
  hostKeyOf,
  NUMA_MODES,
  PROGRESS_MODES,
  SSH_MODES,
  STDERR_MODES,
  STDIN_MODES,
  TRANSPORT_MODES,
} from '../parse/options.ts';
import {
  readAddress,
  readBuffer,
  readChoice,
  readCompress,
  readJobs,
  readLimit,
  readPersist,
  readPlain,
  readPorts,
  readSeconds,
  readStallTimeout,
} from '../parse/values.ts';
import { readTrustedFile } from './trusted-file.ts';

/** The values of `[defaults]`, named as the long options, and of `[host.NAME]`. */
export interface ConfigFile {
  readonly defaults: v.InferOutput<typeof DEFAULTS>;
  /** By host as in settings: `h1`, `ann@h1`, `2001:db8::1`. */
  readonly hosts: ReadonlyMap<string, v.InferOutput<typeof HOST>>;
}

/**
 * Reads the file the user named, or the default one, which need not exist.
 * @throws UsageError naming file and key.
 */
export async function readConfigFile(named: string | undefined, environment: NodeJS.ProcessEnv): Promise<ConfigFile> {
  const path = named ?? defaultPath(environment);
  const text = await readText(path, named !== undefined);
  return parseConfig(text ?? '', path);
}

/** @throws UsageError naming `path` and the key. */
export function parseConfig(text: string, path: string): ConfigFile {
  const result = v.safeParse(FILE, parseToml(text, path));
  if (!result.success) throw new UsageError(`${path}: ${inWords(result.issues[0])}`);
  const { defaults = {}, host = {} } = result.output;
  if (defaults.quiet === true && (defaults.verbose ?? 0) > 0)
    throw new UsageError(`${path}: [defaults] quiet and verbose exclude each other`);
  const hosts = new Map(Object.entries(host).map(([name, values]) => [hostNamed(name, path), values]));
  return { defaults, hosts };
}

function defaultPath(environment: NodeJS.ProcessEnv): string {
  const home = environment.XDG_CONFIG_HOME;
  return join(home?.startsWith('/') ? home : join(homedir(), '.config'), 'rdpipe', 'config.toml');
}

async function readText(path: string, mustExist: boolean): Promise<string | undefined> {
  try {
    return await readTrustedFile(path);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (!mustExist && (code === 'ENOENT' || code === 'ENOTDIR')) return undefined;
    throw new UsageError(`cannot read the config file ${path}: ${code ?? (error as Error).message}`);
  }
}

function parseToml(text: string, path: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const reason = error.message.split('\n')[0]?.replace(/^Invalid TOML document: /, '');
    throw new UsageError(`${path}:${error.line}: ${reason}`);
  }
}

function hostNamed(name: string, path: string): string {
  try {
    return hostKeyOf(name);
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(`${path}: [host.${name}]: ${error.message}`) : error;
  }
}

function inWords(issue: v.BaseIssue<unknown>): string {
  const path = (issue.path ?? []).map(({ key }) => printable(String(key)));
  const key = path.at(-1) ?? 'file';
  const section = path.slice(0, -1).join('.');
  if (issue.type === 'strict_object' && issue.expected === 'never') return unknownKey(key, section);
  return section === '' ? `${key}: ${issue.message}` : `[${section}] ${key}: ${issue.message}`;
}

function unknownKey(key: string, section: string): string {
  const { defaults, host } = CONFIG_KEYS;
  if (section === '') {
    if (defaults.includes(key)) return `${key} stands outside of a section: put it under [defaults]`;
    return `unknown section or key ${key} (the sections are [defaults] and [host.NAME])`;
  }
  const isOfHosts = section === 'defaults' && host.includes(key);
  const keys = `its keys: ${(section === 'defaults' ? defaults : host).join(', ')}`;
  return `unknown key ${key} in [${section}] (${isOfHosts ? `${key} is one of [host.NAME]` : keys})`;
}

/** A string (or number) that one of the option readers understands; its message is the reader's. */
function readBy<Value>(read: (text: string) => Value) {
  return v.pipe(
    v.union([v.string(), v.number()], 'is neither text nor a number'),
    v.rawTransform<string | number, Value>(({ dataset, addIssue, NEVER }) => {
      try {
        return read(String(dataset.value));
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        addIssue({ message: error.message });
        return NEVER;
      }
    }),
  );
}

const BOOLEAN = v.boolean('is neither true nor false');

/** How often the switch would be given. */
const COUNT = v.pipe(
  v.union([v.boolean(), v.picklist([0, 1, 2])], 'is none of true, false, 1, 2'),
  v.transform((value) => Number(value)),
);

const DEFAULTS = v.strictObject(
  {
    verbose: v.optional(COUNT),
    quiet: v.optional(BOOLEAN),
    port: v.optional(readBy(readPorts)),
    hostname: v.optional(readBy(readAddress)),
    transport: v.optional(readBy((text) => readChoice(TRANSPORT_MODES, text))),
    encrypt: v.optional(readBy((text) => readChoice(ENCRYPT_MODES, text))),
    compress: v.optional(readBy(readCompress)),
    jobs: v.optional(readBy(readJobs)),
    limit: v.optional(readBy(readLimit)),
    numa: v.optional(readBy((text) => readChoice(NUMA_MODES, text))),
    buffer: v.optional(readBy(readBuffer)),
    poll: v.optional(BOOLEAN),
    lenient: v.optional(BOOLEAN),
    shell: v.optional(readBy((text) => readPlain('shell', text))),
    stdin: v.optional(readBy((text) => readChoice(STDIN_MODES, text))),
    stderr: v.optional(readBy((text) => readChoice(STDERR_MODES, text))),
    progress: v.optional(readBy((text) => readChoice(PROGRESS_MODES, text))),
    report: v.optional(readBy((text) => readPlain('file name', text))),
    'connect-timeout': v.optional(readBy(readSeconds)),
    'stall-timeout': v.optional(readBy(readStallTimeout)),
    lease: v.optional(readBy(readSeconds)),
    timeout: v.optional(readBy(readSeconds)),
    ssh: v.optional(readBy((text) => readChoice(SSH_MODES, text))),
    'ssh-program': v.optional(readBy((text) => readPlain('path', text))),
    persist: v.optional(readBy(readPersist)),
    agent: v.optional(readBy((text) => readPlain('path', text))),
  },
  'is not a table',
);

const HOST = v.strictObject(
  {
    data: v.optional(readBy(readAddress)),
    sudo: v.optional(BOOLEAN),
    shell: v.optional(readBy((text) => readPlain('shell', text))),
    agent: v.optional(readBy((text) => readPlain('path', text))),
  },
  'is not a table',
);

const FILE = v.strictObject({
  defaults: v.optional(DEFAULTS),
  host: v.optional(v.record(v.string(), HOST, 'is not a table of hosts')),
});

/** What may stand in `[defaults]`, and in `[host.NAME]`. */
export const CONFIG_KEYS: Readonly<Record<'defaults' | 'host', readonly string[]>> = {
  defaults: Object.keys(DEFAULTS.entries),
  host: Object.keys(HOST.entries),
};
