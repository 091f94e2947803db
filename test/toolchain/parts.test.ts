// SPDX-License-Identifier: Apache-2.0
// The parts of npm test: each test file is in one part, a change runs the parts that it affects,
// and no files or processes may be left.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { ROOT } from '../support/root.ts';
import { runProgram } from '../support/run-program.ts';
import { startProgram } from '../support/start-program.ts';

interface Part {
  readonly name: string;
  readonly short?: unknown;
}

interface Parts {
  readonly PARTS: readonly Part[];
  partsWithLong(file: string): readonly Part[];
}

interface Changed {
  partsOf(file: string): readonly string[];
}

interface Leftovers {
  foundNow(): ReadonlySet<string>;
}

async function load<Module>(name: string): Promise<Module> {
  return (await import(join(ROOT, 'scripts/test', `${name}.mjs`))) as Module;
}

describe('parts of the suite', () => {
  it('have each file of test/full once', async () => {
    const { partsWithLong } = await load<Parts>('parts');
    for (const file of readdirSync(join(ROOT, 'test/full'), { recursive: true, encoding: 'utf8' })) {
      const name = /^(.*)\.test\.ts$/.exec(file)?.[1];
      if (name !== undefined) expect(partsWithLong(name), file).to.have.length(1);
    }
  });

  it('are affected by changes of the code that they test', async () => {
    const { PARTS } = await load<Parts>('parts');
    const { partsOf } = await load<Changed>('changed');
    expect(partsOf('docs/rdma.md')).to.deep.equal([]);
    expect(partsOf('packages/rdpipe/src/run/run.ts')).to.include.members(['unit', 'integration', 'faults', 'lab']);
    expect(partsOf('packages/rdendpoint-native/src/hop/loop.c')).to.include.members([
      'native',
      'copy',
      'faults',
      'lab',
    ]);
    expect(partsOf('test/full/rdma-kills.test.ts')).to.deep.equal(['lab']);
    const { stdout: tracked } = execaSync('git', ['ls-files', 'test', 'packages'], { cwd: ROOT });
    const names = PARTS.map(({ name }) => name);
    for (const file of tracked.split('\n')) {
      if (/^test\/toolchain\/|\/man\/|\.md$/.test(file)) continue;
      expect(partsOf(file), file).to.not.be.empty;
      expect(names).to.include.members([...partsOf(file)]);
    }
  });

  it('name leftovers of a run: a directory, and a process found by its environment or its command line', async () => {
    const { foundNow } = await load<Leftovers>('leftovers');
    const directory = mkdtempSync(join(tmpdir(), 'rdpipe-left-'));
    const asleep = [
      startProgram(['sleep', '86400'], { env: { RDPIPE_TEST_RUN: process.env.RDPIPE_TEST_RUN ?? 'undefined' } }),
      startProgram(['sh', '-c', 'read end', join(directory, 'x')], { env: { RDPIPE_TEST_RUN: 'another' } }),
    ];
    try {
      const found = [...foundNow()].join('\n');
      expect(found).to.include(`the directory ${directory}`);
      for (const { pid } of asleep) expect(found).to.include(`process ${pid}, `);
    } finally {
      for (const { child } of asleep) child.kill('SIGKILL');
      await Promise.all(asleep.map(({ ended }) => ended));
      rmSync(directory, { recursive: true });
    }
  });
});

describe('the report of a failure', () => {
  const directory = mkdtempSync(join(tmpdir(), 'rdpipe-report-'));
  after(() => rmSync(directory, { recursive: true }));

  it('has the file, the title, the seed and the command that runs only this test', async () => {
    const file = join(directory, 'it.test.ts');
    writeFileSync(file, `it("isn't so", () => { throw new Error('five is four'); });\n`);
    const counts = join(directory, 'counts.json');
    const words = ['--reporter', 'scripts/mocha-reporter.cjs', '--parallel', '--jobs', '2', file];
    runProgram(join(ROOT, 'node_modules/.bin/mocha'), words, { cwd: ROOT, env: { MOCHA_COUNTS: counts } });
    const { report } = await load<{ report(total: unknown, times: readonly string[]): string }>('report');
    const text = report(JSON.parse(readFileSync(counts, 'utf8')), ['-- part 1 s']);
    expect(text).to.include("FAILED isn't so: five is four\n");
    expect(text).to.match(/^ {2}RDPIPE_TEST_SEED=\w+ node_modules\/\.bin\/mocha \S*it\.test\.ts -f 'isn'\\''t so'$/m);
    expect(text).to.match(/\n-- part 1 s\n\n0 passed, 1 failed$/);
  });
});
