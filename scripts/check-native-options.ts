// SPDX-License-Identifier: Apache-2.0
// Compares option_rows.h, the options that C programs decode, with the tables of TypeScript (--fix writes it).
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fieldRows } from '../packages/rdpipe/src/model/option-fields.ts';
import type { OptionRow } from '../packages/rdpipe/src/model/option-row.ts';
import { ENCRYPT_WORDS } from '../packages/rdpipe/src/model/protocol.ts';
import { TREE_ROLES } from '../packages/rdpipe/src/model/tree.ts';
import { boundsOf, readValue } from '../packages/rdpipe/src/parse/values.ts';

const FILE = 'packages/rdbase-native/src/base/option_rows.h';

const HEADER = `// SPDX-License-Identifier: Apache-2.0
// Rows of options and roles for X macros, from packages/rdpipe/src/model: made by \`npm run fix\`.
#ifndef RD_BASE_OPTION_ROWS_H
#define RD_BASE_OPTION_ROWS_H

// clang-format off
${bounds().join('\n')}

// NUMBER(name, row): a field from RD_##row##_MIN to RD_##row##_MAX; FLAG(name, row): a boolean one.
// Of \`open\` of a hop; an absent flag is RD_##row##_DEFAULT:
${macro('RD_HOP_OPTIONS(NUMBER, FLAG)', fieldMacros('hop'))}

// Of the settings of a program of a copy; an absent flag is false:
${macro('RD_TREE_OPTIONS(NUMBER, FLAG)', fieldMacros('tree'))}

// ROLE(name, NAME, sources, has a target, rights): the programs of a copy.
${macro('RD_TREE_ROLES(ROLE)', Object.entries(TREE_ROLES).map(roleMacro))}

#define RD_ENCRYPT_WORDS ${ENCRYPT_WORDS.map((word) => `"${word}"`).join(', ')}
// clang-format on

#endif
`;

const path = join(import.meta.dirname, '..', FILE);
if (process.argv.includes('--fix')) writeFileSync(path, HEADER);
else if (readFileSync(path, 'utf8') !== HEADER) {
  console.error(`${FILE}: differs from the tables of options (npm run fix)`);
  process.exitCode = 1;
}

/** Each constant once: hops and copies share options. */
function bounds(): readonly string[] {
  const hop = fieldRows('hop').flatMap(({ field, row }) =>
    isFlag(row) ? [`#define RD_${constant(field)}_DEFAULT ${row.default === 'auto'}`] : boundsOfNumber(field, row),
  );
  const tree = fieldRows('tree').flatMap(({ field, row }) => (isFlag(row) ? [] : boundsOfNumber(field, row)));
  return [...new Set([...hop, ...tree])];
}

function boundsOfNumber(field: string, row: OptionRow): readonly string[] {
  const [least, most] = boundsOf(row);
  const otherwise = row.default === undefined ? {} : { DEFAULT: readValue(row, row.default) };
  const values = { MIN: least, MAX: most, ...otherwise };
  return Object.entries(values).map(([bound, value]) => `#define RD_${constant(field)}_${bound} INT64_C(${value})`);
}

function fieldMacros(to: 'hop' | 'tree'): readonly string[] {
  return fieldRows(to).map(({ field, row }) => `${isFlag(row) ? 'FLAG' : 'NUMBER'}(${field}, ${constant(field)})`);
}

function roleMacro([name, { sources, target, rights }]: [
  string,
  (typeof TREE_ROLES)[keyof typeof TREE_ROLES],
]): string {
  const words = [
    name,
    name.toUpperCase(),
    `RD_SOURCES_${sources.toUpperCase()}`,
    target,
    `RD_RIGHTS_${rights.toUpperCase()}`,
  ];
  return `ROLE(${words.join(', ')})`;
}

function isFlag({ kind }: OptionRow): boolean {
  return kind === 'switch' || kind === 'choice';
}

function constant(field: string): string {
  return field.toUpperCase();
}

function macro(head: string, rows: readonly string[]): string {
  return [`#define ${head}`, ...rows.map((row) => `  ${row}`)].join(' \\\n');
}
