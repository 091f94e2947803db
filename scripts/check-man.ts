// SPDX-License-Identifier: Apache-2.0
// Compares the options of every program's --help with those of its manual page, both ways.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const PAGES = new Map([
  ['rdpipe', 'packages/rdpipe/man/rdpipe.1'],
  ['rdpipe doctor', 'packages/rdpipe/man/rdpipe-doctor.1'],
  ['rdpipe bench', 'packages/rdpipe/man/rdpipe-bench.1'],
  ['rdsend', 'packages/rdsend-native/man/rdsend.1'],
  ['rdrecv', 'packages/rdrecv-native/man/rdrecv.1'],
  ['rdstage', 'packages/rdstage-native/man/rdstage.1'],
]);

const differences = [...PAGES].flatMap(([program, page]) => compare(program, page));
for (const line of differences) console.error(line);
process.exitCode = differences.length > 0 ? 1 : 0;

function compare(program: string, page: string): string[] {
  const [name = '', ...words] = program.split(' ');
  const helped = optionsOf(execFileSync(join(ROOT, 'bin', name), [...words, '--help'], { encoding: 'utf8' }));
  const documented = optionsOf(tagsOf(readFileSync(join(ROOT, page), 'utf8')));
  if (helped.size === 0) return [`${program} --help names no option`];
  return [
    ...missing(helped, documented).map((option) => `${page}: ${option} of --help is missing`),
    ...missing(documented, helped).map((option) => `${program} --help: ${option} of ${page} is missing`),
  ];
}

/** `-v` and `--verbose` wherever they stand as words of their own. */
function optionsOf(text: string): Set<string> {
  return new Set([...text.matchAll(/(?<![\w-])(-[a-zA-Z]|--[a-z][a-z-]*)(?![\w])/g)].map((match) => match[0]));
}

/** The tags of a page's .TP and .It items, without roff's marks: where a page lists its options. */
function tagsOf(page: string): string {
  const lines = page.split('\n');
  const tags = lines.filter((_, index) => lines[index - 1] === '.TP' || lines[index - 1] === '.TQ');
  return tags
    .map((tag) =>
      tag
        .replace(/^\.[A-Z]+ /, '')
        .replaceAll('\\-', '-')
        .replace(/\\f[BIRP]/g, ''),
    )
    .join('\n');
}

function missing(wanted: ReadonlySet<string>, found: ReadonlySet<string>): string[] {
  return [...wanted].filter((option) => !found.has(option)).sort();
}
