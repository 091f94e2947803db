// SPDX-License-Identifier: Apache-2.0
// Compares the patterns of a copy with git's:
// random patterns and paths, and every byte in every class.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { needsTool } from '../support/needs.ts';
import { ROOT } from '../support/root.ts';
import { lots, processSeed } from '../support/sample.ts';

const PROGRAM = 'build/release/rdtree-native/test/pattern_test';
const CASES = 1000;
const PATHS = 12;

/** All strings are latin1: one character is one byte. */
interface Case {
  readonly lines: readonly string[];
  /** Paths of directories end with a slash. */
  readonly paths: readonly string[];
}

/** Each part is drawn as often as it is listed. */
const PARTS = [
  ...'aaaabbbbc////*****?? !#[]-\\.^'.split(''),
  ...['**', '**/', '/**', '/**/', '***', '*a', 'a*', '*/', '/*', '\\ ', '\\*', '\\[', '\\\\', '\\/', '\xff', '\t'],
  ...['[ab]', '[!a]', '[^b]', '[a-c]', '[]a]', '[!]a]', '[b-]', '[a\\]]', '[\\a-c]', '[+-/]', '[--0]', '[a-c-e]'],
  ...[
    '[[:alpha:]]',
    '[[:alpha:]-c]',
    '[[:digit:]a]',
    '[![:punct:]]',
    '[[:nothing:]]',
    '[[:a]',
    '[[a]',
    '[[:]',
    '[z-a]',
  ],
];
const NAMES = ['a', 'b', 'c', 'ab', 'ba', 'abc', 'aab', 'a', 'b', 'B', 'a ', ' ', '!a', '#a', '.a', 'a.b', '*', 'a*'];
const RARE_NAMES = [
  '[a]',
  ']',
  '-',
  '\\',
  'a\\',
  '\xff',
  'b\xff',
  '?',
  '**',
  '^',
  'a\tb',
  'a\n',
  'd',
  'e',
  '+',
  ':',
  '[',
  '0',
];
const CLASSES = 'alnum alpha blank cntrl digit graph lower print punct space upper xdigit'.split(' ');

describe('patterns of a copy', () => {
  before(function () {
    needsTool(this, 'git');
    execaSync('make', ['-s', 'WERROR=1', PROGRAM], { cwd: ROOT });
  });

  it('exclude what git ignores', () => {
    const random = new Random(lots(processSeed()));
    const cases = Array.from({ length: CASES }, () => randomCase(random));
    const answers = expectSame(cases);
    const excluded = [...answers].filter((answer) => answer === '1').length;
    expect(excluded / answers.length).to.be.within(0.2, 0.8);
  });

  it('know every byte of every class', () => {
    const bytes = Array.from({ length: 255 }, (_, index) => String.fromCharCode(index + 1));
    const paths = bytes.filter((byte) => byte !== '/' && byte !== '.').map((byte) => `${byte}x`);
    const sets = ['?', '[!a]', '[\x80-\xff]', '[+-9]', ...CLASSES.map((name) => `[[:${name}:]]`)];
    expectSame(sets.map((set) => ({ lines: [`${set}x`], paths })));
  });
});

/** Returns the answers of rdtree's matcher. */
function expectSame(cases: readonly Case[]): string {
  const [ours, theirs] = [askProgram(cases), askGit(cases)];
  const questions = cases.flatMap(({ lines, paths }) => paths.map((path) => ({ lines, path })));
  expect([ours.length, theirs.length]).to.deep.equal([questions.length, questions.length]);
  const different = questions.filter((_, index) => ours[index] !== theirs[index]);
  expect(different.slice(0, 5), `${different.length} answers of pattern_test are not git's`).to.deep.equal([]);
  return ours;
}

function askProgram(cases: readonly Case[]): string {
  const fields = cases.flatMap(({ lines, paths }) => [
    'n',
    ...lines.map((line, index) => (line.startsWith('!') && index % 2 === 0 ? `i${line.slice(1)}` : `p${line}`)),
    ...paths.map((path) => (path.endsWith('/') ? `d${path.slice(0, -1)}` : `f${path}`)),
  ]);
  const input = Buffer.from(fields.map((field) => `${field}\0`).join(''), 'latin1');
  return execaSync(join(ROOT, PROGRAM), ['-'], { input }).stdout;
}

/** Runs git once for all cases: each case is a directory with a file of patterns. */
function askGit(cases: readonly Case[]): string {
  const directory = mkdtempSync(join(tmpdir(), 'rdpipe-patterns-'));
  try {
    const env = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', HOME: directory };
    execaSync('git', ['init', '-q', '--template=', directory], { env });
    const asked = cases.flatMap((each, index) => makeDirectory(directory, `c${index}`, each));
    const words = ['-C', directory, 'check-ignore', '--no-index', '--stdin', '-z', '-v', '-n'];
    const input = Buffer.from(asked.map((path) => `${path}\0`).join(''), 'latin1');
    const { stdout } = execaSync('git', words, { input, env, encoding: 'buffer', maxBuffer: 2 ** 28, reject: false });
    const fields = Buffer.from(stdout).toString('latin1').split('\0');
    return asked.map((_, index) => (isIgnoredBy(fields[4 * index + 2] ?? '') ? '1' : '0')).join('');
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** `pattern`: the pattern that decides; none and a pattern that includes mean not ignored. */
function isIgnoredBy(pattern: string): boolean {
  return pattern !== '' && !pattern.startsWith('!');
}

/** Creates the directories, because git checks whether a path is a directory. */
function makeDirectory(root: string, name: string, { lines, paths }: Case): string[] {
  const at = (path: string) => Buffer.from(join(root, name, path), 'latin1');
  mkdirSync(join(root, name));
  writeFileSync(at('.gitignore'), Buffer.from(lines.map((line) => `${line}\n`).join(''), 'latin1'));
  for (const path of paths.filter((each) => each.endsWith('/'))) mkdirSync(at(path), { recursive: true });
  return paths.map((path) => `${name}/${path.replace(/\/$/, '')}`);
}

class Random {
  readonly #next: () => number;

  constructor(next: () => number) {
    this.#next = next;
  }

  /** Returns a number from 0 to count - 1. */
  below(count: number): number {
    return this.#next() % count;
  }

  of(words: readonly string[]): string {
    return words[this.below(words.length)] ?? '';
  }

  list<T>(count: number, make: () => T): T[] {
    return Array.from({ length: count }, make);
  }
}

function randomCase(random: Random): Case {
  const lines = random.list(1 + random.below(4), () => randomLine(random));
  const paths = random.list(PATHS, () =>
    random.below(3) === 0 ? randomPath(random) : pathLike(random, random.of(lines)),
  );
  const isAbove = (path: string) => paths.some((other) => other.endsWith('/') && other.startsWith(`${path}/`));
  return { lines, paths: paths.filter((path) => path.endsWith('/') || !isAbove(path)) };
}

function randomLine(random: Random): string {
  const parts = random.list(1 + random.below(6), () => random.of(PARTS)).join('');
  return `${random.of(['', '', '', '!'])}${parts}`;
}

function randomPath(random: Random): string {
  const names = random.list(1 + random.below(4), () => random.of(random.below(5) === 0 ? RARE_NAMES : NAMES));
  return `${names.join('/')}${random.of(['', '/'])}`;
}

/** Returns a path that the pattern may match. */
function pathLike(random: Random, line: string): string {
  const path = line
    .replace(/^!/, '')
    .replace(/\[[!^]?\]?(\[:\w+:\]|[^\]])*\]/g, () => random.of(['a', 'b', 'c', ']']))
    .replace(/\*\*+/g, () => random.of(['', 'a', 'a/b', 'c/ab/a']))
    .replace(/\*/g, () => random.of(['', 'a', 'ab', 'c.']))
    .replace(/\?/g, () => random.of(['a', 'b']))
    .replace(/\\(.)/g, '$1');
  const whole = `${random.of(['', '', 'a/'])}${path}${random.of(['', '', '/a', 'b', '/'])}`;
  const names = whole.split('/').filter((name) => !['', '.', '..'].includes(name));
  return names.length === 0 ? randomPath(random) : `${names.join('/')}${whole.endsWith('/') ? '/' : ''}`;
}
