/** The versions that `--version -v` adds: node, bundled packages, native programs, libraries. */
import { existsSync, readFileSync } from 'node:fs';
import { arch } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { chooseLocalAgent } from '../agent/local-agent.ts';
import { installationRoot, locateBuilds, THIS_PLATFORM } from '../agent/locate.ts';
import { NO_BREAK, wrap } from '../parse/help.ts';
import { startPiped } from '../session/start-program.ts';

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
  const rdhop = startPiped([join(directory, 'rdhop'), 'rdsend', '--version', '-v']);
  rdhop.stdin.end();
  rdhop.stderr.resume();
  const failed = new Promise<string>((resolve) => rdhop.once('error', ({ message }) => resolve(`${message}\n`)));
  const versions = await Promise.race([text(rdhop.stdout), failed]);
  return `programs here: ${basename(directory)}, ${directory}\n${versions}`;
}
