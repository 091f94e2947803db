// SPDX-License-Identifier: Apache-2.0
/** The file THIRD-PARTY-NOTICES: each component of the packages, then each licence text once. */
import { writeFileSync } from 'node:fs';
import type { Component } from './component.ts';
import { components } from './components.ts';
import type { Build } from './linked-packages.ts';

const INTRODUCTION = `The packages of rdpipe contain the software below, each under its own licence. rdpipe itself is under the Apache
License 2.0. Numbers in brackets are those of the texts in the second part.

The native programs are linked with static libraries of Debian. Their sources are at https://snapshot.debian.org under
the names and versions given here; the sources of rdpipe and its Makefile link the programs again with other versions.
`;
const RULE = '='.repeat(100);

export function writeNotices(file: string, builds?: readonly Build[]): void {
  writeFileSync(file, notices(components(builds)));
}

export function notices(all: readonly Component[]): string {
  const texts = [...new Set(all.flatMap((component) => component.texts.map(tidy)))];
  const rows = all.map((component) => row(component, texts));
  const appendix = texts.map((text, index) => `${RULE}\n[${index + 1}]\n\n${text}\n`);
  return [INTRODUCTION, ...rows, ...appendix].join('\n');
}

/** Texts that differ only in their line ends are the same. */
function tidy(text: string): string {
  return text
    .replace(/\r\n/g, '\n')
    .replace(/[ \t]+$/gm, '')
    .trim();
}

function row(component: Component, texts: readonly string[]): string {
  const { name, version, purl, licence, website, programs } = component;
  const numbers = [...new Set(component.texts.map((text) => `[${texts.indexOf(tidy(text)) + 1}]`))];
  const lines = [`${licence} ${numbers.join(' ')}`, ...places(programs), website, purl];
  return `${name} ${version}\n${lines.map((line) => `  ${line}\n`).join('')}`;
}

/** Returns a line per processor. */
function places(programs: readonly string[]): string[] {
  if (programs.length === 0) return ['in the bundle'];
  const platforms = [...new Set(programs.map((program) => program.replace(/\/.*/, '')))];
  return platforms.map((platform) => {
    const own = programs.filter((program) => program.startsWith(`${platform}/`));
    return `in ${platform}: ${own.map((program) => program.slice(platform.length + 1)).join(', ')}`;
  });
}
