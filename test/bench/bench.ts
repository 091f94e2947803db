// SPDX-License-Identifier: Apache-2.0
// `npm run bench:rdma`: brings a lab up, runs every case in interleaved rounds, and prints tables of Markdown.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DEFAULT_OPTIONS, labsThatAreUp, nameOfOwnLab, startLab, stopLab } from '../lab/hosts.ts';
import { configFileIn } from '../lab/ssh-files.ts';
import { allTables, isTableName, type TableName } from './all-tables.ts';
import { BenchHosts } from './bench-hosts.ts';
import { HOP_KEY, HOSTS, type Setup, SOURCE, SSH_KEY } from './case.ts';
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
  const run = async (amount: number, times: number) => {
    const all = allTables(setupOf(hosts, amount));
    const chosen = tables.map((name) => all[name]);
    await hosts.run('h1', `head -c ${amount}M /dev/urandom > ${SOURCE}`);
    const results = await runRounds(
      hosts,
      chosen.flatMap((table) => table.cases),
      times,
      say,
    );
    return chosen.map((table) => markdownOf(table, results));
  };
  say('warming up');
  await run(WARM_UP_MIB, 1);
  const markdown = await run(mib, rounds);
  console.log(`${rounds} rounds; load average ${load} before them, with nothing of this in it.\n`);
  console.log(markdown.join('\n'));
}

/** Of the hops by hand; and one with which rsync on h1 logs in to h2. */
async function bringKeys(hosts: BenchHosts): Promise<void> {
  const hopKey = randomBytes(32).toString('hex');
  await Promise.all(HOSTS.map((host) => hosts.run(host, `umask 77; cat > ${HOP_KEY}`, `${hopKey}\n`)));
  const sshKey = readFileSync(join(hosts.place.folder, 'key'), 'utf8');
  await hosts.run('h1', `umask 77; cat > ${SSH_KEY}`, sshKey);
}

function setupOf(hosts: BenchHosts, mib: number): Setup {
  return { mib, trips: TRIPS_A_MIB * mib, sshConfig: configFileIn(hosts.place.folder) };
}

function say(line: string): void {
  console.error(`bench: ${line}`);
}
