// SPDX-License-Identifier: Apache-2.0
// check:words finds phrases and wide lines in every kind of file, and accepts plain English.
import { expect } from 'chai';
import { countProblem, findWords } from '../../scripts/check-words.ts';
import { ROOT } from '../support/root.ts';
import { runProgram } from '../support/run-program.ts';

const PHRASES = [
  'it begins anew',
  'nobody came',
  'Nobody came',
  'whoever asks',
  'it is told',
  'they are told',
  'it was told',
  'it says nothing',
  'they say nothing',
  'it ends without a word',
  'those who wait',
  'Those who wait are sent away.',
  'What it sends is counted.',
  'Who may read it is asked.',
  'It waits. What comes is kept.',
];

const PLAIN = [
  'it begins again, as the canewood of Whoeverton told',
  'What does it send?',
  'Who may read it? The caller.',
  'It says what it sends.',
  "the user 'nobody'",
  'const user = "nobody";',
  'uid of the user nobody',
  'const NOBODY = 65534;',
  'interface What { readonly name: string }',
];

/** Phrases that are counted in comments, tests and notes; each with similar words that are allowed. */
const COUNTED: readonly (readonly [phrase: string, plain: string])[] = [
  ['it is no file', 'there is no file, and it is no longer needed'],
  ['they are no keys', 'they are no more than keys'],
  ['the word behind it', 'a host behind a firewall falls behind and leaves a process behind'],
  ['the row stands there', 'a stand-in stands for the standard, as you understand'],
  ['it runs all the same', 'all of them are the same'],
  ['it mends the chain', 'a recommendation'],
  ['it goes in clear', 'in clear text'],
  ['a way that failed', 'the way to do it, a way of doing it'],
  ['the ways between hosts', 'in several ways'],
  ['it goes on', 'it is going on; it goes on the disk'],
  ['copy ACLs, too', 'a line, too long; it is too late'],
  ['some 10 MB', 'some MB'],
  ['the file beside it', 'besides the file'],
  ['for root alone.', 'root alone may read it; let alone.'],
  ['the path at hand', 'at one hand'],
  ['run it by sudo', 'started by sudo, with sudo'],
  ['reach it by ssh', "by ssh's rules, asked by ssh, by ssh itself"],
  ['without more rights', 'without further rights'],
  ['the folder', 'the folded directory'],
];

/** A name for each kind of file, and the file's content with the text in its second line. */
const KINDS: readonly (readonly [name: string, file: (text: string) => string])[] = [
  ['packages/rdpipe/src/model/a.ts', (text) => `\n// ${text}\nexport const a = b ? c : d;\n`],
  ['packages/rdpipe/test/model/a.test.ts', (text) => `/**\n * ${text}\n */\n`],
  ['scripts/a.mjs', (text) => `\n/** ${text} */\n`],
  ['packages/rdbase-native/src/a.c', (text) => `#include "a.h"\n  int a; // ${text}\n`],
  ['packages/rdbase-native/src/a.h', (text) => `\n// ${text}\n`],
  ['Makefile', (text) => `\n# ${text}\n`],
  ['bin/a', (text) => `#!/bin/sh\n# ${text}\n`],
  ['packages/rdpipe/man/a.1', (text) => `.SH NAME\n${text}\n`],
  ['README.md', (text) => `# A\n${text}\n`],
  ['docs/a.md', (text) => `| a |\n| ${text} | b? |\n`],
];

const WIDE = `${'word '.repeat(30)}end`;

describe('the check of words', () => {
  for (const [name, file] of KINDS) {
    it(`finds every phrase in ${name}`, () => {
      for (const phrase of PHRASES) expect(lines(name, file(phrase)), phrase).to.deep.equal([2]);
    });

    it(`accepts plain English in ${name}`, () => {
      for (const text of PLAIN) expect(lines(name, file(text)), text).to.deep.equal([]);
    });
  }

  it('finds a phrase in a message', () => {
    expect(lines('a.ts', "throw new Error('ssh ended without a word');\n")).to.deep.equal([1]);
    expect(lines('a.c', 'rd_error_set(error, "What came is unknown");\n')).to.deep.equal([1]);
  });

  for (const [phrase, plain] of COUNTED)
    it(`finds '${phrase}' in text and counts it in comments`, () => {
      for (const name of ['README.md', 'docs/a.md', 'packages/rdpipe/man/a.1'])
        expect(places(name, `A\n${phrase}\n`), name).to.deep.equal(['2']);
      expect(
        places('packages/rdpipe/src/a.ts', `// ${phrase}\nconst a = "${phrase}" + f(/"/, \`\n\n\${b}${phrase}\`);`),
      ).to.deep.equal(['1 counted', '2', '4']);
      expect(
        places('packages/a-native/src/a.c', `/*\n * ${phrase}\n */\nchar a[] = "A\\n${phrase}\\n";\n`),
      ).to.deep.equal(['2 counted', '4']);
      expect(places('bin/a', `# ${phrase}\necho '${phrase}'\n`)).to.deep.equal(['1 counted', '2']);
      expect(places('test/a.test.ts', `it(\`${phrase}\`);\n// ${phrase}`)).to.deep.equal(['1 counted', '2 counted']);
      expect(places('docs/adr/a.md', phrase)).to.deep.equal(['1 counted']);
      expect(places('docs/a.md', plain)).to.deep.equal([]);
    });

  it('finds names as well as words', () => {
    expect(places('a.c', '#define RD_HOSTS_MOST 4\n')).to.deep.equal(['1']);
    expect(places('a.ts', 'const dialler = 1;\n')).to.deep.equal(['1']);
    expect(places('a.ts', 'const behind = 1;\n')).to.deep.equal([]);
  });

  it('finds a phrase that two strings divide', () => {
    for (const [name, text] of [
      ['a.ts', "f('this is ' +\n  'no file')"],
      ['a.c', 'f("this is "\n  "no file")'],
    ] as const)
      expect(places(name, text), name).to.deep.equal(['1']);
  });

  it('accepts the number of counted phrases that is set, which may only fall', () => {
    expect(countProblem(7, 7)).to.equal(undefined);
    expect(countProblem(8, 7)).to.match(/^8 phrases .* 7 are allowed/);
    expect(countProblem(6, 7)).to.match(/^6 phrases .* lower IN_COMMENTS/);
  });

  it('finds a phrase that a line break divides', () => {
    for (const text of ['// it is\n// told', ' * it is\n * told', '# it is\n# told', 'it is\n  told'])
      expect(lines('a.ts', text), text).to.deep.equal([1]);
    expect(lines('a.ts', '// it is\n\n// told')).to.deep.equal([]);
  });

  it('follows a question over lines, and no further than its comment', () => {
    expect(lines('a.ts', '// What does it\n// send?\n')).to.deep.equal([]);
    expect(lines('a.ts', '// What it sends\nconst a = isFull() ? 1 : 2; // full?\n')).to.deep.equal([1]);
    expect(lines('a.md', 'What it sends\n\nWhy?\n')).to.deep.equal([1]);
  });

  it('suggests other words', () => {
    expect(findWords('a.md', 'It begins anew.')).to.deep.equal([
      { file: 'a.md', line: 1, found: 'anew', write: 'write again, a new …' },
    ]);
  });

  it('finds lines of more than 120 columns in documents, manual pages and comments', () => {
    for (const [name, file] of KINDS.filter(([name]) => name !== 'docs/a.md'))
      expect(lines(name, file(WIDE)), name).to.deep.equal([2]);
    expect(lines('a.md', 'é'.repeat(60).concat(' ', 'é'.repeat(59)))).to.deep.equal([]);
  });

  it('accepts wide tables, code blocks, single links, and code', () => {
    const link = `https://example.org/${'a'.repeat(120)}`;
    for (const text of [`| ${WIDE} |`, `\`\`\`sh\n${WIDE}\n\`\`\``, link, `- ${link}`, `[1]: ${link}`])
      expect(lines('a.md', text), text).to.deep.equal([]);
    expect(lines('a.1', `.EX\n${WIDE}\n.EE`)).to.deep.equal([]);
    expect(lines('a.ts', `// ${link}\nconst a = '${WIDE}';`)).to.deep.equal([]);
    expect(lines('a.md', `\`\`\`\n\`\`\`\n${WIDE}`)).to.deep.equal([3]);
  });

  it('skips generated and released text', () => {
    const generated = '<!-- results: a -->\nanew\n<!-- end of results: a -->\n';
    expect(lines('a.md', `${generated}anew\n`)).to.deep.equal([4]);
    expect(lines('CHANGELOG.md', '# A\n## 0.2.0, not released yet\nanew\n## 0.1.0\nanew\n')).to.deep.equal([3]);
  });

  it('checks only the given directories, and fails for none', () => {
    const none = runProgram('node', ['--import', 'tsx', 'scripts/check-words.ts', 'no/such'], { cwd: ROOT });
    expect(none.stderr).to.equal('no files to check below no/such\n');
    expect(none.status).to.equal(1);
  });
});

function lines(file: string, text: string): number[] {
  return findWords(file, text).map(({ line }) => line);
}

function places(file: string, text: string): string[] {
  return findWords(file, text).map(({ line, counted }) => (counted === true ? `${line} counted` : `${line}`));
}
