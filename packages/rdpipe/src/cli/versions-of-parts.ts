/** The versions that `--version -v` adds: node, bundled packages, native programs, libraries. */
import { existsSync, readFileSync } from 'node:fs';
import { arch } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { chooseLocalAgent } from '../agent/local-agent.ts';
import { installationRoot, locateBuilds, THIS_PLATFORM } from '../agent/locate.ts';
import { NO_BREAK, wrap } from '../parse/help.ts';
import { staticOpenssl, versionsIn } from './static-openssl.ts';

const WIDTH = 80;

/** Lines, each with its line feed. Starts a program of this installation, but contacts no host. */
export async function versionsOfParts(): Promise<string> {
  const platforms = [...locateBuilds().keys()].sort();
  return [
    `node ${process.versions.node} (${arch()}), ${process.execPath}\n`,
    `programs for hosts: ${platforms.join(', ') || 'none'}\n`,
    await localPrograms(),
    bundledPackages(),
  ].join('');
}

/** The versions that the bundler recorded; an installation that is not bundled has no list. */
function bundledPackages(): string {
  const list = join(installationRoot(), 'build/rdpipe/packages.json');
  if (!existsSync(list)) return '';
  const versions = JSON.parse(readFileSync(list, 'utf8')) as Readonly<Record<string, string>>;
  const names = Object.entries(versions).map(([name, version]) => `${name}${NO_BREAK}${version}`);
  const lines = wrap(`npm packages: ${names.join(', ')}`, WIDTH);
  return lines.map((line) => `${line.replaceAll(NO_BREAK, ' ')}\n`).join('');
}

/** The native programs that rdpipe would use on this machine, dynamic or static, and their libraries. */
async function localPrograms(): Promise<string> {
  const agent = await chooseLocalAgent();
  if (agent === undefined) return `programs here: none for ${THIS_PLATFORM}\n`;
  const directory = dirname(agent);
  const versions = await versionsIn(directory);
  return `programs here: ${basename(directory)}, ${directory}\n${versions}${await ofHopsOverTcp()}`;
}

/** Debian 12 has 3.0; since 3.1 OpenSSL encrypts up to four times as fast, on CPUs with wide AES instructions. */
const SLOW_OPENSSL = /^3\.0\./;

/** Hops over TCP have the static program also where the dynamic one runs. */
async function ofHopsOverTcp(): Promise<string> {
  const version = await staticOpenssl();
  if (version === undefined) return '';
  const slow = SLOW_OPENSSL.test(version) ? " (the packages' 3.5 encrypts faster)" : '';
  return `hops over TCP: static, OpenSSL ${version}${slow}\n`;
}
