// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { HELP_TOPICS, helpText } from '../../src/parse/help.ts';
import { nearest } from '../../src/parse/nearest.ts';
import { usageErrorOf } from './helpers.ts';

/** Topics that list options. */
const LONG = ['rdpipe', 'rdcp', 'doctor', 'bench'];

describe('rdpipe help', () => {
  it('lists every topic with a phrase', () => {
    for (const [name, { phrase }] of HELP_TOPICS) expect(helpText([])).to.contain(`  ${name.padEnd(13)}${phrase}\n`);
  });

  for (const words of [[], ...[...HELP_TOPICS.keys()].map((name) => [name])]) {
    it(`fits a terminal of 80 columns and 24 lines: ${words[0] ?? 'the list'}`, () => {
      const lines = helpText(words).split('\n');
      expect(lines.filter((line) => line.length > 80)).to.deep.equal([]);
      expect(lines.pop()).to.equal('');
      expect(lines.at(-1)).to.not.equal('');
      if (!LONG.includes(words[0] ?? '')) expect(lines.length).to.be.at.most(24);
    });
  }

  it('names all topics in the manual', () => {
    const page = readFileSync(join(import.meta.dirname, '../../man/rdpipe.1'), 'utf8');
    const [, names = ''] = /^\.SS Help\n(?:.*\n){2}((?:\.BR .*\n)+)/m.exec(page) ?? [];
    expect([...names.matchAll(/^\.BR (\w+)/gm)].map(([, name]) => name)).to.deep.equal([...HELP_TOPICS.keys()]);
  });

  const WRONG: readonly (readonly [readonly string[], string])[] = [
    [['stage'], "there is no help for 'stage' (did you mean stages?; rdpipe help lists the topics)"],
    [['EXIT-STATUS'], "there is no help for 'EXIT-STATUS' (did you mean exit?; rdpipe help lists the topics)"],
    [['enviroment'], "there is no help for 'enviroment' (did you mean environment?; rdpipe help lists the topics)"],
    [['zfs'], "there is no help for 'zfs' (no such topic; rdpipe help lists the topics)"],
    [[''], "there is no help for '' (no such topic; rdpipe help lists the topics)"],
    [['exit', 'config'], "there is no help for 'exit config' (name one topic; rdpipe help lists the topics)"],
  ];
  for (const [words, message] of WRONG) {
    it(`has one line for ${words.join(' ') || 'an empty word'}`, () =>
      expect(usageErrorOf(() => helpText(words)).message).to.equal(message));
  }
});

describe('nearest()', () => {
  it('takes the one with the fewest mistakes, and none if there are many', () => {
    expect(nearest('hotss', ['host', 'hosts'])).to.equal('host');
    expect(nearest('bnech', ['demo', 'bench'])).to.equal('bench');
    expect(nearest('bemch', ['demo', 'bench'])).to.equal('bench');
    expect(nearest('rdrcv', ['rdsend', 'rdrecv'])).to.equal('rdrecv');
    expect(nearest('x', ['exit'])).to.equal(undefined);
  });
});
