// SPDX-License-Identifier: Apache-2.0
// Runs `npm run bench` and reads its JSON.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { patience } from './patience.ts';
import { ROOT } from './root.ts';
import { startShell } from './shell.ts';

interface BenchObject {
  readonly grounds: readonly {
    readonly rounds: number;
    readonly tables: readonly {
      readonly title: string;
      readonly cases: readonly { readonly name: string; readonly runs: readonly Record<string, number>[] }[];
    }[];
  }[];
}

/** Expects each of these tables, with a number for every figure of every run. */
export async function expectEveryFigure(tables: readonly string[], options: string, longestMs: number): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'rdpipe-test-'));
  try {
    const file = join(directory, 'bench.json');
    const script = `node_modules/.bin/tsx test/bench/bench.ts ${options} --json '${file}' ${tables.join(' ')}`;
    const { status, stderr } = await startShell(script, { cwd: ROOT, env: process.env, longestMs: patience(longestMs) })
      .result;
    expect(status, stderr).to.equal(0);
    expectNumbers(JSON.parse(readFileSync(file, 'utf8')), tables.length);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function expectNumbers({ grounds }: BenchObject, tables: number): void {
  expect(grounds.flatMap((ground) => ground.tables)).to.have.length(tables);
  for (const { rounds, tables } of grounds)
    for (const { name, runs } of tables.flatMap(({ cases }) => cases)) {
      expect(runs, name).to.have.length(rounds);
      for (const run of runs) expect(Object.values(run), name).to.satisfy(allNumbers);
    }
}

function allNumbers(values: readonly unknown[]): boolean {
  return values.length > 0 && values.every((value) => Number.isFinite(value));
}
