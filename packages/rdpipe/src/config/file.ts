/** Reads the config file (TOML) and rejects keys that the option table does not list. */
import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import * as v from 'valibot';
import { reasonOf, UsageError } from '../model/errors.ts';
import { configKey, type OptionRow } from '../model/option-row.ts';
import { OPTION_ROWS, type OptionName } from '../model/options.ts';
import type { SectionValues } from '../model/settings.ts';
import { printable } from '../model/text.ts';
import { hostKeyOf } from '../parse/host-ref.ts';
import { nearest } from '../parse/nearest.ts';
import { readValue } from '../parse/values.ts';

/** The values of `[defaults]` and of `[host.NAME]`, by name of the setting. */
export interface ConfigFile {
  readonly defaults: SectionValues;
  /** By host, as a key of settings: `h1`, `ann@h1`, `2001:db8::1`. */
  readonly hosts: ReadonlyMap<string, SectionValues>;
  /** The section `[groups]`: lists of hosts by name. */
  readonly groups?: ReadonlyMap<string, string>;
}

/**
 * Reads the file `named` by the user, or the default file, which need not exist.
 * @throws UsageError naming file and key.
 */
export async function readConfigFile(named: string | undefined, environment: NodeJS.ProcessEnv): Promise<ConfigFile> {
  const path = named ?? defaultPath(environment);
  const text = await readText(path, named !== undefined);
  return text === undefined ? { defaults: {}, hosts: new Map() } : parseConfig(text, path);
}

/** Reads the text of a config file. @throws UsageError naming `path` and the key. */
export function parseConfig(text: string, path: string): ConfigFile {
  const result = v.safeParse(fileSchema(), parseToml(text, path));
  if (!result.success) throw new UsageError(`${path}: ${issueMessage(result.issues[0])}`);
  const { defaults = {}, host = {}, groups = {} } = result.output;
  if (defaults.quiet === true && (defaults.verbosity ?? 0) > 0)
    throw new UsageError(`${path}: [defaults] quiet and verbose cannot be combined`);
  const hosts = new Map(Object.entries(host).map(([name, values]) => [hostNamed(name, path), values]));
  return { defaults, hosts, groups: new Map(Object.entries(groups)) };
}

function defaultPath(environment: NodeJS.ProcessEnv): string {
  const home = environment.XDG_CONFIG_HOME;
  return join(home?.startsWith('/') ? home : join(homedir(), '.config'), 'rdpipe', 'config.toml');
}

async function readText(path: string, mustExist: boolean): Promise<string | undefined> {
  try {
    // Most users have no file, and for fs/promises node loads many modules and starts threads.
    if (!mustExist) statSync(path);
    const { readTrustedFile } = await import('./trusted-file.ts');
    return await readTrustedFile(path);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (!mustExist && (code === 'ENOENT' || code === 'ENOTDIR')) return undefined;
    throw new UsageError(`cannot read the config file ${path}: ${reasonOf(error as NodeJS.ErrnoException)}`);
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

function issueMessage(issue: v.BaseIssue<unknown>): string {
  const path = (issue.path ?? []).map(({ key }) => printable(String(key)));
  const key = path.at(-1) ?? 'file';
  const section = path.slice(0, -1).join('.');
  if (issue.type === 'strict_object' && issue.expected === 'never') return unknownKey(key, section);
  return section === '' ? `${key}: ${issue.message}` : `[${section}] ${key}: ${issue.message}`;
}

function unknownKey(key: string, section: string): string {
  const [defaults, host] = [configKeys('defaults'), configKeys('host')];
  if (section === '') {
    if (defaults.includes(key)) return `${key} is outside a section (put it under [defaults])`;
    return `unknown section or key ${key} (the sections are [defaults], [host.NAME] and [groups])`;
  }
  const isOfHosts = section === 'defaults' && host.includes(key);
  const own = section === 'defaults' ? defaults : host;
  const near = nearest(key, own);
  const keys = near === undefined ? `its keys: ${own.join(', ')}` : `did you mean ${near}?`;
  return `unknown key ${key} in [${section}] (${isOfHosts ? `${key} belongs in [host.NAME]` : keys})`;
}

/** The keys of the file are those of the option table, and no others. */
function fileSchema() {
  return v.strictObject({
    defaults: v.optional(sectionSchema('defaults')),
    host: v.optional(v.record(v.string(), sectionSchema('host'), 'is not a table of hosts')),
    groups: v.optional(v.record(v.string(), v.string('is not a list of hosts'), 'is not a table of lists of hosts')),
  });
}

type Section = 'defaults' | 'host';

function sectionSchema(section: Section) {
  const rows = rowsOf(section);
  const entries = Object.fromEntries(rows.map(([, row]) => [configKey(row), v.optional(valueSchema(row))]));
  return v.pipe(
    v.strictObject(entries, 'is not a table'),
    v.transform((values): SectionValues => {
      const named = rows.map(([name, row]) => [name, values[configKey(row)]] as const);
      return Object.fromEntries(named.filter(([, value]) => value !== undefined));
    }),
  );
}

function rowsOf(section: Section): readonly (readonly [OptionName, OptionRow])[] {
  return OPTION_ROWS.filter(([, { config }]) => config === section || config === 'both');
}

/** The keys of a section. */
export function configKeys(section: Section): readonly string[] {
  return rowsOf(section).map(([, row]) => configKey(row));
}

function valueSchema(row: OptionRow): v.GenericSchema<unknown> {
  if (row.kind === 'switch') return BOOLEAN;
  return row.kind === 'count' ? COUNT : readBy(row);
}

const BOOLEAN = v.boolean('is neither true nor false');

/** The number of times the flag would be given. */
const COUNT = v.pipe(
  v.union([v.boolean(), v.picklist([0, 1, 2])], 'is not one of: true, false, 1, 2'),
  v.transform((value) => Number(value)),
);

/** A string or number, read like the flag's value; errors have the reader's message. */
function readBy(row: OptionRow) {
  return v.pipe(
    v.union([v.string(), v.number()], 'is neither text nor a number'),
    v.rawTransform<string | number, unknown>(({ dataset, addIssue, NEVER }) => {
      try {
        return readValue(row, String(dataset.value));
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        addIssue({ message: error.message });
        return NEVER;
      }
    }),
  );
}
