// SPDX-License-Identifier: Apache-2.0
// Puts the documents for users into build/doc, which is installed as share/doc/rdpipe.
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { ROOT } from '../source-files.ts';

const AT_THE_TOP = ['README.md', 'SECURITY.md', 'CHANGELOG.md', 'LICENSE'];
/** Pages of docs/ for developers. Its subdirectories, except those with pictures, are also for developers. */
const FOR_DEVELOPERS = ['testing.md'];
const PICTURES = ['docs/benchmarks', 'docs/images'];
/** In contrib/: units of systemd. */
export const EXAMPLES = ['rdcp-nightly.service', 'rdcp-nightly.timer', 'rdrecv-serve.service'];

/** A code block, or a link with its text, target and anchor. */
const CODE_OR_LINK = /^```.*?^```$|\[([^\]]*)\]\(([^)#\s]*)(#[^)\s]*)?\)/gms;
const PICTURE = /\bsrc="([^"]+)"/g;

/** Copies the documents from the checkout `root` into `directory`, which is created. */
export function placeDocuments(root: string, directory: string): void {
  const pages = readdirSync(join(root, 'docs')).filter(
    (name) => /\.(md|json)$/.test(name) && !FOR_DEVELOPERS.includes(name),
  );
  for (const name of ['docs', 'examples']) mkdirSync(join(directory, name), { recursive: true });
  for (const name of [...AT_THE_TOP, ...pages.map((page) => join('docs', page))])
    copyFileSync(join(root, name), join(directory, name));
  for (const name of PICTURES) cpSync(join(root, name), join(directory, name), { recursive: true });
  for (const name of EXAMPLES) copyFileSync(join(root, 'contrib', name), join(directory, 'examples', name));
  removeBrokenLinks(directory);
}

/** Replaces links to files that are not below `directory` by their text, because the repository has no URL yet. */
export function removeBrokenLinks(directory: string): void {
  for (const page of pagesIn(directory)) {
    const file = join(directory, page);
    const text = readFileSync(file, 'utf8');
    const kept = text.replace(CODE_OR_LINK, (all, words?: string, target?: string) =>
      words === undefined || leadsToFile(directory, page, target ?? '') ? all : words,
    );
    if (kept !== text) writeFileSync(file, kept);
  }
}

/** Returns links and pictures of pages below `directory` whose files are missing: `docs/hosts.md: recipes.md`. */
export function brokenLinks(directory: string): string[] {
  return pagesIn(directory).flatMap((page) => {
    const text = readFileSync(join(directory, page), 'utf8');
    const links = [...text.matchAll(CODE_OR_LINK)].flatMap(([, words, target]) =>
      words === undefined ? [] : [target],
    );
    const pictures = [...text.matchAll(PICTURE)].map(([, source]) => source);
    const targets = [...links, ...pictures].map((target) => target ?? '');
    return targets.filter((target) => !leadsToFile(directory, page, target)).map((target) => `${page}: ${target}`);
  });
}

/** Also returns true for an anchor in the page itself, and for a web address. */
function leadsToFile(directory: string, page: string, target: string): boolean {
  if (target === '' || /^\w+:/.test(target)) return true;
  const path = join(directory, dirname(page), target);
  return !relative(directory, path).startsWith('..') && existsSync(path);
}

function pagesIn(directory: string): string[] {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.md')).sort();
}

if (process.argv[1] === import.meta.filename) {
  const directory = join(ROOT, 'build/doc');
  rmSync(directory, { recursive: true, force: true });
  placeDocuments(ROOT, directory);
}
