// SPDX-License-Identifier: Apache-2.0
// Writes results between two marks in docs/notes/benchmarks.md, and their plots to docs/benchmarks.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/root.ts';
import { inWords, type Machine } from './machine.ts';
import { markdownOfAll, type Summary } from './summary.ts';

const PAGE = join(ROOT, 'docs/notes/benchmarks.md');
const PLOTS = join(ROOT, 'docs/benchmarks');

/** `command`: the command line of the benchmark. */
export function writeDocs(summary: Summary, machine: Machine, command: string): void {
  const plots = summary.plots();
  mkdirSync(PLOTS, { recursive: true });
  for (const { file, svg } of plots) writeFileSync(join(PLOTS, file), svg);
  const pictures = plots.map(({ file, about }) => `![${about}](../benchmarks/${file})\n`);
  const parts = [about(machine, command), ...pictures, markdownOfAll(summary)];
  writeFileSync(PAGE, withResults(readFileSync(PAGE, 'utf8'), summary.ground, parts.join('\n')));
}

/** Returns the page with new results between the marks of this ground. */
export function withResults(page: string, ground: Summary['ground'], results: string): string {
  const [begin, end] = [`<!-- results: ${ground} -->\n`, `<!-- end of results: ${ground} -->\n`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`docs/notes/benchmarks.md has no place for results: ${begin.trim()}`);
  return `${page.slice(0, from + begin.length)}\n${results.trimEnd()}\n\n${page.slice(to)}`;
}

function about(machine: Machine, command: string): string {
  return `${machine.date}, commit ${machine.commit}, \`${command}\`.\n${inWords(machine)}.\n`;
}
