// SPDX-License-Identifier: Apache-2.0
// The command line of `npm run bench`.
import { randomInt } from 'node:crypto';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { LAB_TABLES, type LabTable } from './lab/tables.ts';
import { COPY_TABLES, FAN_OUT_TABLES, LOOPBACK_TABLES, type LoopbackTable } from './loopback/tables.ts';

export const USAGE = `usage: npm run bench -- [OPTION...] [TABLE...]

  TABLE            ${LOOPBACK_TABLES.join(', ')} (on this machine's loopback; together the default), copy for those of copies,
                   fan-out for those of many hosts;
                   ${LAB_TABLES.join(', ')} (in virtual hosts), or rdma for these
  --rounds N       how often each case is run (default 5)
  --mib N          how much a run moves, at least 5 (default 1024; in the lab 256)
  --quick          3 rounds of 128 MiB: for a look
  --installed DIR  measures the copy that is installed below DIR, such as that of a package, instead of the checkout's:
                   its bin/, and rdsend and rdrecv of its static programs, which carry hops over TCP; only on loopback
  --against DIR    also runs the rdsend and rdrecv of DIR, in the same rounds
  --dir DIR        where the files are that runs read and write (default ${tmpdir()})
  --json FILE      every figure of every run
  --write-docs     puts results and plots into docs/notes/benchmarks.md: of all tables
  --seed N         draws the order of the cases again`;

const DEFAULTS = { rounds: 5, mib: 1024, labMib: 256 };
const QUICK = { rounds: 3, mib: 128, labMib: 64 };
/** ib_send_bw sends at least five messages. */
const MIB_MIN = 5;
const SEEDS = 2 ** 32;

export interface Words {
  readonly help: boolean;
  readonly rounds: number;
  readonly mib: number;
  readonly labMib: number;
  readonly loopback: readonly LoopbackTable[];
  readonly lab: readonly LabTable[];
  /** The prefix of an installed copy; default: the builds of this checkout. */
  readonly installed?: string;
  readonly against?: string;
  readonly dir: string;
  readonly json?: string;
  readonly writeDocs: boolean;
  readonly seed: number;
}

/** Parses the command line; throws the error for the user if it is invalid. */
export function wordsOf(argv: string[]): Words {
  const { values, positionals } = parse(argv);
  const { rounds, mib, labMib } = values.quick ? QUICK : DEFAULTS;
  const numbers = {
    rounds: number(values.rounds, rounds, 1),
    mib: number(values.mib, mib, MIB_MIN),
    labMib: number(values.mib, labMib, MIB_MIN),
    seed: number(values.seed, randomInt(SEEDS), 0),
  };
  const { installed, against, json } = values;
  const tables = tablesOf(positionals);
  if (installed !== undefined && tables.lab.length > 0) throw notUnderstood('--installed is for tables on loopback');
  return {
    help: values.help === true,
    writeDocs: writesDocs(values['write-docs'], against, tables),
    ...numbers,
    ...tables,
    dir: resolve(values.dir ?? tmpdir()),
    ...(installed !== undefined && { installed: resolve(installed) }),
    ...(against !== undefined && { against: resolve(against) }),
    ...(json !== undefined && { json: resolve(json) }),
  };
}

function parse(argv: string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const options = { rounds: text, mib: text, installed: text, against: text, dir: text, json: text, seed: text };
  try {
    return parseArgs({
      args: argv,
      allowPositionals: true,
      options: { ...options, quick: flag, 'write-docs': flag, help: flag },
    });
  } catch (error) {
    throw notUnderstood((error as Error).message);
  }
}

function tablesOf(words: readonly string[]): Pick<Words, 'loopback' | 'lab'> {
  const names = words.flatMap((word) => namesOf(word));
  const loopback = LOOPBACK_TABLES.filter((name) => names.includes(name));
  const lab = LAB_TABLES.filter((name) => names.includes(name));
  const unknown = names.filter((name) => ![...loopback, ...lab].some((known) => known === name));
  if (unknown.length > 0) throw notUnderstood(`no such table: ${unknown.join(' ')}`);
  return names.length === 0 ? { loopback: LOOPBACK_TABLES, lab } : { loopback, lab };
}

function namesOf(word: string): readonly string[] {
  if (word === 'rdma') return LAB_TABLES;
  if (word === 'fan-out') return FAN_OUT_TABLES;
  return word === 'copy' ? COPY_TABLES : [word];
}

/** Requires complete runs: a page with parts of several runs would compare figures that were not measured together. */
function writesDocs(
  asked: boolean | undefined,
  against: string | undefined,
  { loopback, lab }: Pick<Words, 'loopback' | 'lab'>,
): boolean {
  const whole = [0, LOOPBACK_TABLES.length].includes(loopback.length) && [0, LAB_TABLES.length].includes(lab.length);
  if (asked && (!whole || against !== undefined))
    throw notUnderstood('--write-docs is for all tables of this checkout');
  return asked === true;
}

function number(text: string | undefined, otherwise: number, least: number): number {
  const value = text === undefined ? otherwise : Number(text);
  if (!Number.isInteger(value) || value < least) throw notUnderstood(`${text} is not a number from ${least} on`);
  return value;
}

function notUnderstood(why: string): Error {
  return new Error(`${why}\n${USAGE}`);
}
