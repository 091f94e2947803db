/** Loads the settings: reads the config file, looks up host names, checks the files that are named. */
import { accessSync, constants, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { reasonOf, UsageError } from '../model/errors.ts';
import type { DataAddress, Options, SectionValues, Settings } from '../model/settings.ts';
import { readConfigFile } from './file.ts';
import { walkPath } from './path-walk.ts';
import { makeSettings } from './settings.ts';

/**
 * Settings from the flags and the config file (that of --config, or the default one): host names of data addresses are
 * looked up, the report's file is writable, the ssh program executable. `defaults` override the option table's.
 * @throws UsageError
 */
export async function loadSettings(
  options: Options,
  environment: NodeJS.ProcessEnv,
  defaults: SectionValues = {},
): Promise<Settings> {
  const file = await readConfigFile(options.configFile, environment);
  const settings = makeSettings(options, { ...file, defaults: { ...defaults, ...file.defaults } });
  if (settings.reportFile !== undefined) checkWritable(settings.reportFile);
  const sshProgram = settings.sshProgram && findSshProgram(settings.sshProgram);
  return { ...settings, sshProgram, data: await withNumericAddresses(settings.data) };
}

/** Fails early if the report could not be written later. Creates nothing. */
function checkWritable(path: string): void {
  try {
    walkPath(path, ({ path: end, directory, found }) => {
      if (found?.isDirectory() === true) throw Object.assign(new Error('it is a directory'), { code: 'EISDIR' });
      if (found !== undefined) accessSync(end, constants.W_OK);
      // A new file is renamed over a regular file.
      if (found?.isFile() ?? true) accessSync(directory, constants.W_OK | constants.X_OK);
    });
  } catch (error) {
    throw new UsageError(`cannot write the report to ${path}: ${reasonOf(error as NodeJS.ErrnoException)}`);
  }
}

/** The absolute path of an executable ssh program. */
function findSshProgram(path: string): string {
  try {
    accessSync(path, constants.X_OK);
  } catch (error) {
    const failure = error as NodeJS.ErrnoException;
    throw new UsageError(
      `the ssh program ${path} ${failure.code === 'EACCES' ? 'is not executable' : `cannot be run: ${reasonOf(failure)}`}`,
    );
  }
  if (!statSync(path).isFile()) throw new UsageError(`the ssh program ${path} is not a file`);
  return resolve(path);
}

/** The programs dial only numeric addresses; names are looked up once, here. */
async function withNumericAddresses(data: Settings['data']): Promise<Settings['data']> {
  const entries = [...data.hosts].map(async ([host, value]) => [host, await numeric(host, value)] as const);
  return { all: undefined, hosts: new Map(await Promise.all(entries)) };
}

async function numeric(host: string, value: DataAddress | undefined): Promise<DataAddress | undefined> {
  if (value === undefined) return undefined;
  const [address = '', ...others] = await Promise.all(
    [value.address, ...value.others].map((name) => lookUp(name, host, value.why)),
  );
  return { address, others, why: address === value.address ? value.why : `${value.why} ${value.address}` };
}

async function lookUp(name: string, host: string, why: string): Promise<string> {
  if (isIP(name) !== 0) return name;
  try {
    // Imported here because few runs look up a name.
    const { lookup } = await import('node:dns/promises');
    return (await lookup(name)).address;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const place = host === '' ? 'this machine' : host;
    throw new UsageError(`${why}: cannot look up ${name}, the data address of ${place} (${code})`);
  }
}
