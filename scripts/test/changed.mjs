// SPDX-License-Identifier: Apache-2.0
// Finds the parts of the suite that can be affected by changes since a commit.
import { spawnSync } from 'node:child_process';
import { ROOT } from '../setup/step.mjs';
import { PARTS, partsNamed, partsWithLong } from './parts.mjs';

const EVERYTHING = PARTS.map(({ name }) => name);
const SYSTEM = ['integration', 'copy', 'terminal', 'faults', 'lab'];
/** The first row whose pattern matches a file has the parts that it can affect, besides setup and check. */
const AFFECTED = [
  [/^packages\/rdpipe\/test\//, ['unit', 'oldest-node']],
  [/^packages\/rdpipe\/man\//, []],
  [/^packages\/rdpipe\//, ['unit', 'oldest-node', ...SYSTEM]],
  [/^packages\/rdtree-native\//, ['native', 'copy', 'integration', 'lab']],
  [/^packages\/\w+-native\/(fuzz|test)\//, ['native', 'lab']],
  [/^packages\//, ['native', ...SYSTEM]],
  [/^(Makefile|bin\/)/, ['native', ...SYSTEM]],
  [/^contrib\//, ['integration', 'terminal']],
  [/^test\/(hop|agent)\//, ['native']],
  [/^test\/(integration|serve|tools)\//, ['integration']],
  [/^test\/copy\//, ['copy', 'integration']],
  [/^test\/terminal\//, ['terminal']],
  [/^test\/(faults|attacks)\//, ['faults']],
  [/^test\/lab\//, ['lab']],
  [/^test\/toolchain\//, []],
  [/^test\/bench\//, ['integration']],
  [/^test\/|^scripts\/(setup|test|bundle|mocha|oldest)|^(package\.json|pnpm-|tsconfig|\.mocharc)/, EVERYTHING],
];

/** The parts to run for changes since the commit `base`, including uncommitted changes. @throws if there are none. */
export function changedParts(base) {
  const files = changedFiles(base);
  if (files.length === 0) throw new Error(`nothing changed since ${base}`);
  const names = new Set(['setup', 'check', ...files.flatMap(partsOf)]);
  return partsNamed([...names]);
}

/** The names of the parts that a file can affect besides setup and check; none for documents and release files. */
export function partsOf(file) {
  const long = /^test\/full\/(.*)\.test\.ts$/.exec(file)?.[1];
  if (long !== undefined) return partsWithLong(long).map(({ name }) => name);
  return AFFECTED.find(([pattern]) => pattern.test(file))?.[1] ?? [];
}

/** Files changed on this branch, committed or not. */
function changedFiles(base) {
  const listed = (...words) => {
    const { status, stdout, stderr } = spawnSync('git', words, { cwd: ROOT, encoding: 'utf8' });
    if (status !== 0) throw new Error(`git ${words.join(' ')}: ${stderr.trim().split('\n')[0]}`);
    return stdout.split('\0').filter(Boolean);
  };
  return [
    ...listed('diff', '--name-only', '-z', '--no-renames', '--merge-base', base),
    ...listed('ls-files', '--others', '--exclude-standard', '-z'),
  ];
}
