// SPDX-License-Identifier: Apache-2.0
// rdtree as `compare`: whether entries go into the target or become it.
import { expect } from 'chai';
import { enter, file, symlink, useCompare } from '../support/compare.ts';
import { ANN, END, LEAVE, type TextSettings, type TreeRecord, WANT } from '../support/tree-stream.ts';

const F = file('f', { size: 6 });
const G = file('g', { size: 6 });
const FAILED = { type: 'failed', name: 'x' } as const;
const NOTE = { type: 'xattr', name: 'user.x', value: 'x' } as const;
const NO_PARENT = /directory .*\/a does not exist \(to create it, use --mkpath\)/;
const NO_DIRECTORY = /cannot copy into .*\/file: not a directory/;

type Row = readonly [
  title: string,
  path: string,
  records: readonly TreeRecord[],
  expected: 'into' | 'as' | RegExp,
  settings?: Partial<TextSettings>,
];
const ROWS: readonly Row[] = [
  ['a file, a target that is missing', 'new', [F], 'as'],
  ['a file, a target that is a file', 'file', [F], 'as'],
  ['a file, a target with a slash', 'new/', [F], 'into'],
  ['a file, a target that is a directory', '.', [F], 'into'],
  ['a file, a parent that is missing', 'a/new', [F], NO_PARENT],
  ['a file, a parent to be created', 'a/new', [F], 'as', { make_parents: true }],
  ['two files', 'new', [F, { ...G, source: 1 }], 'into'],
  ['two files, of which the first failed', 'new', [FAILED, { ...G, source: 1 }], 'into'],
  ['two files, of which the second failed', 'new', [F, FAILED], 'into'],
  ['the second of two sources', 'new', [{ ...F, source: 1 }], 'into'],
  ['a file before a failure without a name', 'new', [F, { ...END, failures: 1 }], 'into'],
  ['two files, a target that is a file', 'file', [F, { ...G, source: 1 }], NO_DIRECTORY],
  ['a directory', 'new', [enter('d'), LEAVE], 'into'],
  ['a directory, a target that is a file', 'file', [enter('d'), LEAVE], NO_DIRECTORY],
  ['a directory, a parent that is missing', 'a/new', [enter(''), LEAVE], NO_PARENT],
  ['a symbolic link with an attribute', 'new', [NOTE, symlink('f', 'x')], 'as'],
  ['two of them', 'new', [NOTE, symlink('f', 'x'), NOTE, symlink('g', 'x', { source: 1 })], 'into'],
];

describe('the target path', () => {
  const on = useCompare();

  for (const [title, path, records, expected, settings] of ROWS)
    it(`${title}: ${expected}`, async () => {
      on.make('file file');
      const all = records.at(-1)?.type === 'end' ? records : [...records, END];
      const compared = await on.compare(all, { target: on.at(path), xattrs: true, ...settings });
      if (expected instanceof RegExp) {
        expect(compared.status).to.not.equal(0);
        expect(compared.events.at(-1)?.message).to.match(expected);
        return;
      }
      expect(compared.status).to.equal(0);
      const place = compared.records.findIndex(({ type }) => type === 'place');
      expect(compared.records[place]?.place).to.equal(expected === 'into' ? 0 : 1);
      expect(compared.records.slice(0, place).every(({ type }) => type === 'failed')).to.equal(true);
      const types = compared.records.filter(({ type }) => type !== 'place').map(({ type }) => type);
      expect([...types].sort()).to.deep.equal(all.map(({ type }) => type).sort());
    });

  it('a file is compared with the one whose name it gets', async () => {
    on.make('file g');
    expect(await on.passed([file('f')], { target: on.at('g') })).to.deep.equal([]);
    expect(await on.passed([F], { target: on.at('g') })).to.deep.equal(['file f all']);
    const { text } = await on.compare([F, END], { target: on.at('g'), plan: 'text' });
    expect(text).to.match(/^changed +6 B {2}g {2}\(size\)\n/);
  });

  it('may be preceded by owners', async () => {
    const owner = { type: 'owner', group: 0, id: ANN, name: 'no-such-user' } as const;
    const { records } = await on.compare([owner, owner, F, END], { target: on.at('new') });
    expect(records.map(({ type }) => type)).to.deep.equal(['owner', 'owner', 'place', 'file', 'end']);
    expect(records[2]?.place).to.equal(1);
    const behind = await on.compare([F, owner, file('g'), END], { target: on.at('new') });
    expect(behind.records.map(({ type }) => type)).to.deep.equal(['place', 'file', 'owner', 'file', 'end']);
  });

  it('is missing without a record', async () => {
    const { records, status } = await on.compare([FAILED, { ...END, failures: 1 }], { target: on.at('a/new') });
    expect(status).to.equal(0);
    expect(records.map(({ type }) => type)).to.deep.equal(['failed', 'end']);
  });

  it('a target that is missing has nothing', async () => {
    const tree = [enter('d'), F, LEAVE, END];
    const { records } = await on.compare(tree, { target: on.at('new'), remove: true });
    expect(records.map(({ want }) => want)).to.deep.equal([undefined, WANT.all, WANT.all, undefined, undefined]);
  });
});
