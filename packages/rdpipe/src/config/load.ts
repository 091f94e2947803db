/** Loads the settings: reads the config file, looks host names up, checks the files that are named. */
import { accessSync, constants, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { UsageError } from '../model/errors.ts';
import type { DataAddress, Options, SectionValues, Settings } from '../model/settings.ts';
import { readConfigFile } from './file.ts';
import { walkPath } from './path-walk.ts';
import { makeSettings } from './settings.ts';

/**
 * Settings from the flags and the config file they name (or the default one): host names of data addresses looked up,
 * the report's file found writable, the ssh program executable. `defaults` stand in for those of the option table.
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

/** Fails now where the report could not be written later. Leaves nothing behind. */
function checkWritable(path: string): void {
  try {
    walkPath(path, ({ path: end, directory, found }) => {
      if (found?.isDirectory() === true) throw Object.assign(new Error('it is a directory'), { code: 'EISDIR' });
      if (found !== undefined) accessSync(end, constants.W_OK);
      // A file is replaced by renaming a new one.
      if (found?.isFile() ?? true) accessSync(directory, constants.W_OK | constants.X_OK);
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new UsageError(`cannot write the report to ${path}: ${code ?? message}`);
  }
}

/** The absolute path of an ssh program that can be run. */
function findSshProgram(path: string): string {
  try {
    accessSync(path, constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(
      `the ssh program ${path} ${code === 'EACCES' ? 'is not executable' : `cannot be run: ${code}`}`,
    );
  }
  if (!statSync(path).isFile()) throw new UsageError(`the ssh program ${path} is not a file`);
  return resolve(path);
}

/** The programs dial numeric addresses only; names are looked up once, here. */
async function withNumericAddresses(data: Settings['data']): Promise<Settings['data']> {
  const entries = [...data.hosts].map(async ([host, value]) => [host, await numeric(host, value)] as const);
  return { all: undefined, hosts: new Map(await Promise.all(entries)) };
}

async function numeric(host: string, value: DataAddress | undefined): Promise<DataAddress | undefined> {
  if (value === undefined || isIP(value.address) !== 0) return value;
  try {
    // Few runs look a name up.
    const { lookup } = await import('node:dns/promises');
    const { address } = await lookup(value.address);
    return { ...value, address, why: `${value.why} ${value.address}` };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const place = host === '' ? 'this machine' : host;
    throw new UsageError(`${value.why}: cannot look up ${value.address}, the data address of ${place} (${code})`);
  }
}
