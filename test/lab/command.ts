// SPDX-License-Identifier: Apache-2.0
// The command `npm run lab`: starts, enters, shows and stops a lab of virtual hosts.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { execaSync } from 'execa';
import { inside, processesInside } from '../support/namespaces.ts';
import { ROOT } from '../support/root.ts';
import { DEFAULT_OPTIONS, labsThatAreUp, startLab, stopLab } from './hosts.ts';
import { whatIsMissing } from './needs.ts';
import { placeOf } from './place.ts';
import { configFileIn } from './ssh-files.ts';

/** Each checkout has its own lab. */
const NAME = basename(ROOT).replaceAll(/[^\w.-]/g, '_');
const USAGE = `usage: npm run lab -- COMMAND
  up [N] [--cpus N] [--mtu BYTES] [--memory MIB]   start hosts h1 to hN (default 3)
  ssh HOST [COMMAND...]   on a host; h1 as root, ann1 as a user, h1v6 by its IPv6 address
  in COMMAND...           on this machine, inside the lab's network
  config                  the name of the ssh configuration file, for rdpipe -F and ssh -F inside
  status                  which labs are up
  down                    stop the hosts`;

const place = placeOf(NAME);
const [command, ...words] = process.argv.slice(2);
try {
  process.exitCode = await run(command, words);
} catch (error) {
  console.error(`lab: ${(error as Error).message}`);
  process.exitCode = 1;
}

async function run(name: string | undefined, rest: readonly string[]): Promise<number> {
  if (name === 'up') return up(rest);
  if (name === 'ssh') return enter(['ssh', '-F', configFileIn(place.directory), ...rest]);
  if (name === 'in') return enter(rest);
  if (name === 'config') return print(configFileIn(place.directory));
  if (name === 'status') return status();
  if (name === 'down') return down();
  console.error(USAGE);
  return 2;
}

async function up(rest: readonly string[]): Promise<number> {
  const missing = whatIsMissing();
  if (missing !== undefined) throw new Error(missing);
  const { values, positionals } = parseArgs({
    args: [...rest],
    allowPositionals: true,
    options: { cpus: { type: 'string' }, mtu: { type: 'string' }, memory: { type: 'string' } },
  });
  const { hosts, cpus, nodes, mtu, memoryMib } = DEFAULT_OPTIONS;
  const options = {
    hosts: numberOf(positionals[0], hosts),
    cpus: numberOf(values.cpus, cpus),
    nodes,
    mtu: numberOf(values.mtu, mtu),
    memoryMib: numberOf(values.memory, memoryMib),
    lasting: true,
  };
  await startLab(NAME, options, (line) => console.error(`lab: ${line}`));
  return 0;
}

/** Runs a command in the lab's network; returns its status. */
function enter(words: readonly string[]): number {
  if (!labsThatAreUp().includes(NAME)) throw new Error('it is down; `npm run lab -- up` starts it');
  const [program = '', ...rest] = [...inside(place.namespace), ...words];
  return execaSync(program, rest, { stdio: 'inherit', reject: false }).exitCode ?? 1;
}

function status(): number {
  const names = labsThatAreUp();
  for (const name of names) print(`${name}: ${machinesOf(placeOf(name).namespace).join(', ')}`);
  if (names.length === 0) print('no lab is up');
  return names.includes(NAME) ? 0 : 1;
}

function machinesOf(namespace: string): string[] {
  return processesInside(namespace)
    .map((pid) => ({ pid, words: readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0') }))
    .filter(({ words }) => words[0] === 'qemu-system-x86_64')
    .map(({ pid, words }) => `${words[words.indexOf('-name') + 1]} (pid ${pid})`);
}

function down(): number {
  stopLab(NAME);
  return 0;
}

function numberOf(word: string | undefined, otherwise: number): number {
  const number = Number(word ?? otherwise);
  if (!Number.isInteger(number) || number < 1) throw new Error(`not a number: ${word}`);
  return number;
}

function print(line: string): number {
  console.log(line);
  return 0;
}
