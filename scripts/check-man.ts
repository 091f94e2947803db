// SPDX-License-Identifier: Apache-2.0
// Compares manual pages with the programs: version, options (--fix updates both if a table has them), cited pages.
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { execaSync } from 'execa';
import { flagName, flagTexts, type OptionRow, valueText } from '../packages/rdpipe/src/model/option-row.ts';
import { optionsOf, type Topic } from '../packages/rdpipe/src/model/options.ts';
import { VERSION } from '../packages/rdpipe/src/model/version.ts';

const ROOT = join(import.meta.dirname, '..');
const TABLE_PAGES: readonly (readonly [Topic, string])[] = [
  ['run', 'packages/rdpipe/man/rdpipe.1'],
  ['doctor', 'packages/rdpipe/man/rdpipe-doctor.1'],
  ['bench', 'packages/rdpipe/man/rdpipe-bench.1'],
  ['copy', 'packages/rdpipe/man/rdcp.1'],
  ['ssh', 'packages/rdpipe/man/rdssh.1'],
];
const NATIVE_PAGES: readonly (readonly [string, string])[] = [
  ['rdsend', 'packages/rdsend-native/man/rdsend.1'],
  ['rdrecv', 'packages/rdrecv-native/man/rdrecv.1'],
  ['rdstage', 'packages/rdstage-native/man/rdstage.1'],
  ['rdtree', 'packages/rdtree-native/man/rdtree.1'],
];

/** Pages of other projects, which any reader can find. */
const WELL_KNOWN = [
  ...['chattr(1)', 'cp(1)', 'head(1)', 'rsync(1)', 'ssh(1)', 'umask(2)', 'gitignore(5)', 'limits.conf(5)'],
  ...['ssh_config(5)', 'rdma(8)', 'sftp-server(8)', 'sudo(8)'],
];

const differences = [
  ...[...TABLE_PAGES, ...NATIVE_PAGES].flatMap(([, page]) => compareVersion(page)),
  ...TABLE_PAGES.flatMap(([topic, page]) => compareTable(topic, page)),
  ...NATIVE_PAGES.flatMap(([program, page]) => compareHelp(program, page)),
  ...[...TABLE_PAGES, ...NATIVE_PAGES].flatMap(([, page]) => unknownCitations(page)),
];
for (const line of differences) console.error(line);
process.exitCode = differences.length > 0 ? 1 : 0;

/** Compares the version in the page's first line, which is shown in its footer. */
function compareVersion(page: string): string[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const right = text.replace(/^(\.TH .*)"rdpipe [\d.]+"/m, `$1"rdpipe ${VERSION}"`);
  if (process.argv.includes('--fix')) writeFileSync(join(ROOT, page), right);
  else if (right !== text) return [`${page}: not of version ${VERSION} (npm run fix)`];
  return [];
}

/**
 * The section OPTIONS has an item for each row, in the table's order: its tag is generated from the row, its text is
 * the page's own.
 */
function compareTable(topic: Topic, page: string): string[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const [, head = '', section = '', tail = ''] = /^(.*\n\.SH OPTIONS\n)(.*?)(\n\.SH .*)$/s.exec(text) ?? [];
  const items = new Map(section.split(/^\.TP\n/m).flatMap(itemOf));
  const entries = optionsOf(topic).map(([, row]) => ({ row, text: items.get(flagName(row)) ?? sentence(row) }));
  const made = entries.map((entry) => `.TP\n${tagOf(entry.row)}\n${entry.text}`).join('\n');
  if (process.argv.includes('--fix')) writeFileSync(join(ROOT, page), head + made + tail);
  else if (made !== section) {
    const [line] = made.split('\n').filter((one, index) => section.split('\n')[index] !== one);
    return [`${page}: its OPTIONS differ from model/options.ts, first at: ${line} (npm run fix)`];
  }
  return entries.flatMap((entry) => defaultProblem(topic, entry.row, entry.text, page));
}

/** The option's name, with the text below its tag; empty if the item has no option. */
function itemOf(item: string): readonly (readonly [string, string])[] {
  const [tag = '', ...lines] = item.trimEnd().split('\n');
  const flags = [
    ...plain(tag)
      .replace('[no-]', '')
      .matchAll(/(?:^|, )(--?[A-Za-z0-9-]+)/g),
  ].map(([, flag]) => flag);
  const name = flags.at(-1);
  return name === undefined ? [] : [[name, lines.join('\n')]];
}

/** `\fB\-p\fP, \fB\-\-port\fP \fIPORT\fP[\fB\-\fP\fIPORT\fP]`. */
function tagOf(row: OptionRow): string {
  const flags = flagTexts(row).map(marked);
  const value = valueText(row);
  return [flags.join(', '), ...(value === undefined ? [] : [marked(value)])].join(' ');
}

/** Bold for literal text, italic for placeholders. */
function marked(text: string): string {
  return text.replace(/^-[a-zA-Z]$|[A-Z]+|\.\.\.|[^[\]|A-Z.]+/g, (part) => {
    if (part === '...') return part;
    return /^[A-Z]/.test(part) ? `\\fI${part}\\fP` : `\\fB${part.replaceAll('-', '\\-')}\\fP`;
  });
}

/** The text for an option that the page lacks. */
function sentence({ help, default: value }: OptionRow): string {
  const begun = `${help.charAt(0).toUpperCase()}${help.slice(1)}.`.replaceAll('-', '\\-');
  return value === undefined ? begun : `${begun} Default ${value}.`;
}

/** The text must name the row's default; on the pages of subcommands only if it names a default at all. */
function defaultProblem(topic: Topic, row: OptionRow, text: string, page: string): readonly string[] {
  const isNamed = /\bdefault/i.test(text);
  if (row.default === undefined || (!isNamed && topic !== 'run')) return [];
  const words = plain(text).split(/[^\w]+/);
  return isNamed && words.includes(row.default)
    ? []
    : [`${page}: ${flagName(row)} is without its default ${row.default}`];
}

function compareHelp(program: string, page: string): string[] {
  const modes = [['--help'], ...(program === 'rdrecv' ? [['--serve', '.', '--help']] : [])];
  const helped = optionsIn(modes.map((words) => execaSync(join(ROOT, 'bin', program), words).stdout).join('\n'));
  const documented = optionsIn(tagsOf(readFileSync(join(ROOT, page), 'utf8')));
  if (helped.size === 0) return [`${program} --help names no option`];
  return [
    ...missing(helped, documented).map((option) => `${page}: ${option} of --help is missing`),
    ...missing(documented, helped).map((option) => `${program} --help: ${option} of ${page} is missing`),
  ];
}

/** Options such as `-v` and `--verbose` that are separate words. */
function optionsIn(text: string): Set<string> {
  return new Set([...text.matchAll(/(?<![\w-])(-[a-zA-Z]|--[a-z][a-z-]*)(?![\w])/g)].map((match) => match[0]));
}

/** The tags of a page's .TP and .TQ items, which list its options. */
function tagsOf(page: string): string {
  const lines = page.split('\n');
  const tags = lines.filter((_, index) => lines[index - 1] === '.TP' || lines[index - 1] === '.TQ');
  return tags.map(plain).join('\n');
}

/** The text without roff's marks. */
function plain(text: string): string {
  return text
    .replace(/^\.[A-Z]+ /gm, '')
    .replaceAll('\\-', '-')
    .replace(/\\f[BIRP]/g, '');
}

/** Cited pages and files that a reader may not have, and cited pages of rdpipe that are not in SEE ALSO once. */
function unknownCitations(page: string): string[] {
  const text = plain(readFileSync(join(ROOT, page), 'utf8'));
  const own = [...TABLE_PAGES, ...NATIVE_PAGES].map(([, file]) => titleOf(file));
  const cited = [...text.matchAll(/([a-z][\w.-]*) ?(\(\d\))/g)].map(([, name = '', section = '']) => name + section);
  const files = [...text.matchAll(/\b(?:docs|contrib|scripts|packages)\/[\w./-]+|[\w/-]+\.md\b/g)];
  const others = [...new Set(cited)].filter((title) => own.includes(title) && title !== titleOf(page));
  const listed =
    text
      .split('SEE ALSO')
      .at(-1)
      ?.match(/[a-z][\w.-]* \(\d\)/g) ?? [];
  const titles = listed.map((title) => title.replace(' ', ''));
  return [
    ...cited.filter((title) => ![...own, ...WELL_KNOWN].includes(title)).map((title) => `${page} cites ${title}`),
    ...files.map(([file]) => `${page} cites ${file}, which is not installed`),
    ...others
      .filter((title) => titles.filter((each) => each === title).length !== 1)
      .map((title) => `${page}: SEE ALSO must have ${title} once`),
  ];
}

/** `rdcp(1)` for the file rdcp.1. */
function titleOf(page: string): string {
  return basename(page).replace(/\.(\d)$/, '($1)');
}

function missing(wanted: ReadonlySet<string>, found: ReadonlySet<string>): string[] {
  return [...wanted].filter((option) => !found.has(option)).sort();
}
