// SPDX-License-Identifier: Apache-2.0
// `npm run bench:rdma`: brings a lab up, runs every case in interleaved rounds, and prints tables of Markdown.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DEFAULT_OPTIONS, labsThatAreUp, nameOfOwnLab, startLab, stopLab } from '../lab/hosts.ts';
import { complaintsOf } from '../lab/machine.ts';
import { configFileIn } from '../lab/ssh-files.ts';
import { allTables, isTableName, type TableName } from './all-tables.ts';
import { BenchHosts } from './bench-hosts.ts';
import { HOP_KEY, HOSTS, SOURCE, SSH_KEY } from './case.ts';
import { whatTheBenchLacks } from './needs.ts';
import { compilePingPong } from './ping-pong.ts';
import { runRounds } from './rounds.ts';
import { markdownOf } from './tables.ts';

const USAGE = `usage: npm run bench:rdma -- [--rounds N] [--mib N] [TABLE...]
  --rounds N   how often each case is run (default 5)
  --mib N      how much each run moves, at least 5; of small messages 8 round trips a MiB (default 256)
  TABLE        bulk, hops, small, copy (default: all)`;
const TRIPS_A_MIB = 8;
/** The first run on a host reads its programs from this machine, and copies rdpipe's agent. */
const WARM_UP_MIB = 8;
/** ib_send_bw sends five messages or more. */
const LEAST_MIB = 5;

interface Words {
  readonly rounds: number;
  readonly mib: number;
  readonly tables: readonly TableName[];
}

try {
  await bench(wordsOf(process.argv.slice(2)));
} catch (error) {
  console.error(`bench: ${(error as Error).message}`);
  process.exitCode = 1;
} finally {
  stopLab(nameOfOwnLab());
}

function wordsOf(argv: string[]): Words {
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: { rounds: { type: 'string', default: '5' }, mib: { type: 'string', default: '256' } },
  });
  const [rounds, mib] = [Number(values.rounds), Number(values.mib)];
  const tables = positionals.filter(isTableName);
  const good = rounds >= 1 && mib >= LEAST_MIB && Number.isInteger(rounds) && Number.isInteger(mib);
  if (!good || tables.length < positionals.length) throw new Error(`not understood\n${USAGE}`);
  return { rounds, mib, tables: tables.length > 0 ? tables : ['bulk', 'hops', 'small', 'copy'] };
}

async function bench({ rounds, mib, tables }: Words): Promise<void> {
  const missing = whatTheBenchLacks();
  if (missing !== undefined) throw new Error(missing);
  const others = labsThatAreUp();
  if (others.length > 0) say(`another lab is up (${others.join(', ')}): the figures will be worth little`);
  const load = loadavg()[0]?.toFixed(2);
  compilePingPong();
  const { place } = await startLab(nameOfOwnLab(), DEFAULT_OPTIONS, say);
  const hosts = new BenchHosts(place);
  await bringKeys(hosts);
  say('warming up');
  failIf((await measure(hosts, tables, WARM_UP_MIB, 1)).failure, hosts);
  const { markdown, failure } = await measure(hosts, tables, mib, rounds);
  const ended = failure === undefined ? '' : ' were to be, and ended early';
  console.log(`${rounds} rounds${ended}; load average ${load} before them, with nothing of this in it.\n\n${markdown}`);
  failIf(failure, hosts);
}

interface Measured {
  readonly markdown: string;
  readonly failure: Error | undefined;
}

async function measure(hosts: BenchHosts, names: readonly TableName[], mib: number, rounds: number): Promise<Measured> {
  const sshConfig = configFileIn(hosts.place.folder);
  const all = allTables({ mib, trips: TRIPS_A_MIB * mib, sshConfig });
  const tables = names.map((name) => all[name]);
  const cases = tables.flatMap((table) => table.cases);
  await hosts.run('h1', `head -c ${mib}M /dev/urandom > ${SOURCE}`);
  const { results, failure } = await runRounds(hosts, cases, rounds, say);
  return { markdown: tables.map((table) => markdownOf(table, results)).join('\n'), failure };
}

/** The emulated kernels themselves may be what failed. */
function failIf(failure: Error | undefined, { place }: BenchHosts): void {
  if (failure === undefined) return;
  const complaints = HOSTS.map((host, index) => [host, complaintsOf(place, index + 1)] as const);
  for (const [host, words] of complaints) if (words !== '') say(`${host}'s kernel says: ${words}`);
  throw new Error(`the rounds ended early: ${failure.message}`, { cause: failure });
}

/** Of the hops by hand; and one with which rsync on h1 logs in to h2. */
async function bringKeys(hosts: BenchHosts): Promise<void> {
  const hopKey = randomBytes(32).toString('hex');
  await Promise.all(HOSTS.map((host) => hosts.run(host, `umask 77; cat > ${HOP_KEY}`, `${hopKey}\n`)));
  const sshKey = readFileSync(join(hosts.place.folder, 'key'), 'utf8');
  await hosts.run('h1', `umask 77; cat > ${SSH_KEY}`, sshKey);
}

function say(line: string): void {
  console.error(`bench: ${line}`);
}
