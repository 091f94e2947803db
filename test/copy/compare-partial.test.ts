// SPDX-License-Identifier: Apache-2.0
// rdtree as `compare`: finds and digests the partial file that an interrupted copy of a large file
// left.
import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { enter, file, useCompare, wordsOf } from '../support/compare.ts';
import { needsRoot } from '../support/needs.ts';
import { ANN, END, LEAVE, MIB, type TextSettings, type TreeRecord } from '../support/tree-stream.ts';

/** The names of the partial files of `f` and `g`, with the XXH3-128 of these names. */
const PARTIAL = '.rdcp-b3b2b50bf19ad7d533c155909ff3ba9a';
const PARTIAL_OF_G = '.rdcp-6c55a0c73e6b89e1aa19e6ddf2f9b697';
const FILE = file('f', { size: 20 * MIB + 3 });

type Row = readonly [title: string, script: string, more?: Partial<TreeRecord>, settings?: Partial<TextSettings>];
const UNUSED: readonly Row[] = [
  ['without --partial', `truncate -s 17M ${PARTIAL}`, {}, { partial: false }],
  ['of a small file', `truncate -s 17M ${PARTIAL}`, { size: 8 * MIB - 1 }],
  ['without a complete block', `truncate -s 8388607 ${PARTIAL}`],
  ['with another name', `truncate -s 17M ${PARTIAL_OF_G}`],
  ['that are symbolic links', `truncate -s 17M big; symlink ${PARTIAL} big`],
  ['that are directories', `directory ${PARTIAL}`],
  ['that are fifos', `mkfifo ${PARTIAL}`],
];

describe('partial files', () => {
  const on = useCompare();

  async function blocks(): Promise<TreeRecord> {
    const { records } = await on.compare([FILE, END], { partial: true });
    return records.find(({ type }) => type === 'blocks') ?? END;
  }

  it('pass as digests of their complete blocks', async () => {
    on.make(`truncate -s 17M ${PARTIAL}`);
    const note = { type: 'xattr', name: 'user.a', value: '' } as const;
    const { records } = await on.compare([note, FILE, END], { partial: true, xattrs: true });
    expect(records.map(wordsOf)).to.deep.equal(['place', 'xattr user.a', 'blocks', 'file f rest', 'end']);
    const { blockBytes, bytes, digests = '' } = await blocks();
    expect([blockBytes, bytes, digests.length]).to.deep.equal([8 * MIB, 16 * MIB, 64]);
    expect(digests.slice(0, 32)).to.equal(digests.slice(32));
  });

  it('differ by their content', async () => {
    on.make(`printf x >${PARTIAL}; truncate -s 17M ${PARTIAL}`);
    const { digests = '' } = await blocks();
    expect(digests.slice(0, 32)).to.not.equal(digests.slice(32));
  });

  it('count up to the length of the file', async () => {
    on.make(`truncate -s 100M ${PARTIAL}`);
    expect((await blocks()).bytes).to.equal(16 * MIB);
  });

  for (const [title, script, more, settings] of UNUSED)
    it(`${title} are not used`, async () => {
      on.make(script);
      expect(await on.passed([{ ...FILE, ...more }], { partial: true, ...settings })).to.deep.equal(['file f all']);
    });

  it('of another user are not used', async function () {
    needsRoot(this);
    on.make(`truncate -s 17M ${PARTIAL}; chown ${ANN} ${PARTIAL}`);
    expect(await on.passed([FILE], { partial: true })).to.deep.equal(['file f all']);
  });

  it('that another copy has open are not used, and not removed', async () => {
    on.make(`truncate -s 17M ${PARTIAL}`);
    const holder = on.bench.bash('exec 9<"$1"; flock -x 9; echo held; exec sleep 1000', on.at(PARTIAL));
    await new Promise<void>((resolve) => holder.child.stdout?.once('data', () => resolve()));
    const merged = [enter('', { seconds: 7 }), LEAVE];
    expect(await on.passed([FILE], { partial: true })).to.deep.equal(['file f all']);
    expect(await on.passed(merged, { remove: true })).to.deep.equal(['enter  metadata', 'leave']);
    holder.child.kill('SIGKILL');
    await holder.ended;
    expect((await on.passed(merged, { remove: true })).at(-1)).to.equal(`remove ${PARTIAL}`);
  });

  it('stay only if their file is wanted', async () => {
    on.make(`truncate -s 17M ${PARTIAL}`);
    const merged = [enter('', { seconds: 7 }), FILE, LEAVE];
    const settings = { remove: true, partial: true };
    const words = ['enter  metadata', 'blocks', 'file f rest', 'leave'];
    expect(await on.passed(merged, settings)).to.deep.equal(words);
    on.make(`truncate -s ${FILE.size} f; old f`);
    expect(await on.passed(merged, settings)).to.deep.equal(['enter  metadata', 'leave', `remove ${PARTIAL}`]);
    execFileSync('cmp', ['-n', '1', on.at('f'), on.at(PARTIAL)]);
  });
});
