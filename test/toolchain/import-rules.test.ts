// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';

const BIOME = join(import.meta.dirname, '../../node_modules/.bin/biome');
const CONFIGURATION = join(import.meta.dirname, '../../biome.json');

/** A file below packages/rdpipe/src and what it imports. */
type Import = readonly [file: string, from: string];

const FORBIDDEN: readonly Import[] = [
  ['model/pipeline.ts', '../plan/plan.ts'],
  ['model/pipeline.ts', 'node:fs'],
  ['parse/stage.ts', '../config/file.ts'],
  ['config/file.ts', '../session/open.ts'],
  ['plan/plan.ts', '../session/openssh.ts'],
  ['session/openssh.ts', '../native/deploy.ts'],
  ['native/deploy.ts', '../run/run.ts'],
  ['run/run.ts', '../ui/live.ts'],
  ['run/run.ts', '../cli/rdpipe.ts'],
  ['ui/live.ts', '../run/run.ts'],
  ['doctor/examine.ts', '../ui/doctor.ts'],
  ['run/run.ts', '../doctor/examine.ts'],
  ['run/run.ts', '../bench/bench.ts'],
  ['bench/bench.ts', '../ui/chart.ts'],
  ['doctor/examine.ts', '../bench/bench.ts'],
  ['ui/doctor.ts', '../doctor/probe.ts'],
  ['parse/hosts.ts', '../doctor/subjects.ts'],
  ['cli/rdpipe.ts', 'ssh2'],
  ['native/deploy.ts', 'node:child_process'],
  ['run/run.ts', 'chalk'],
  ['cli/rdpipe.ts', 'ora'],
  ['run/report.ts', 'echarts/core'],
  ['parse/stage.ts', 'commander'],
];

const ALLOWED: readonly Import[] = [
  ['model/plan.ts', './pipeline.ts'],
  ['parse/argv.ts', 'commander'],
  ['config/file.ts', '../parse/values.ts'],
  ['plan/route.ts', '../model/plan.ts'],
  ['session/ssh2.ts', 'ssh2'],
  ['native/deploy.ts', '../session/host-session.ts'],
  ['run/run.ts', '../native/agent.ts'],
  ['doctor/examine.ts', '../run/run.ts'],
  ['bench/bench.ts', '../run/run.ts'],
  ['doctor/pair-checks.ts', '../plan/addresses.ts'],
  ['ui/live.ts', 'ora'],
  ['cli/rdpipe.ts', '../run/run.ts'],
  ['cli/doctor.ts', '../doctor/examine.ts'],
];

describe('the import rules', () => {
  for (const [file, from] of FORBIDDEN) {
    it(`forbid ${file} to import ${from}`, () => expect(complaints(file, from)).to.include('noRestrictedImports'));
  }
  for (const [file, from] of ALLOWED) {
    it(`let ${file} import ${from}`, () => expect(complaints(file, from)).not.to.include('noRestrictedImports'));
  }
});

/** What the linter, with our configuration, says of such a file. */
function complaints(file: string, from: string): string {
  const project = mkdtempSync(join(tmpdir(), 'rdpipe-test-imports-'));
  const path = join(project, 'packages/rdpipe/src', file);
  cpSync(CONFIGURATION, join(project, 'biome.json'));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `import { anything } from '${from}';\nexport const used = anything;\n`);
  const lint = spawnSync(BIOME, ['lint', '.'], { cwd: project, encoding: 'utf8' });
  rmSync(project, { recursive: true });
  expect(lint.stdout + lint.stderr).to.match(/Checked \d file/);
  return lint.stdout + lint.stderr;
}
