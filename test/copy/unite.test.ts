// SPDX-License-Identifier: Apache-2.0
// rdtree as `unite`: the decisions of several targets become one stream,
// in the order of the source.
import { openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { enter, file, link, wordsOf } from '../support/compare.ts';
import { BIN, type Stdio, useBench } from '../support/programs.ts';
import { decodeTree, END, encodeTree, LEAVE, PHASE, type TreeRecord, WANT } from '../support/tree-stream.ts';

const INTO = { type: 'place', place: 0 } as const;
const AS = { type: 'place', place: 1 } as const;
const XATTR = { type: 'xattr', name: 'user.a', value: 'x' } as const;
const skip = (count: number): TreeRecord => ({ type: 'skip', count });
const remove = (name: string): TreeRecord => ({ type: 'remove', name });
const blocks = (...digests: readonly number[]): TreeRecord => ({
  type: 'blocks',
  blockBytes: 65536,
  bytes: 65536 * digests.length,
  digests: digests.map((digest) => `${digest}`.repeat(32)).join(''),
});

describe('the needs of several targets', () => {
  const bench = useBench();

  /** Unites encoded streams. */
  const uniteStreams = async (streams: readonly Buffer[]) => {
    const settings = bench.path('settings');
    writeFileSync(settings, JSON.stringify({ role: 'unite', run: '0', width: streams.length }));
    const shares = streams.map((stream, index) => {
      const path = bench.path(`share-${index}`);
      writeFileSync(path, stream);
      return openSync(path, 'r');
    });
    const fds = ['ignore', 'pipe', 'pipe', openSync(settings, 'r'), ...shares];
    const program = bench.start(join(BIN, 'rdtree'), ['--settings-fd', '3'], fds as unknown as Stdio);
    const { status, stdout, stderr } = await program.ended;
    return { status, records: decodeTree(stdout), stderr };
  };
  const unite = (...shares: readonly (readonly TreeRecord[])[]) =>
    uniteStreams(shares.map((records) => encodeTree(PHASE.share, records)));
  /** Returns records as text: `0200 file f all`, with the wants first. */
  const words = async (...shares: readonly (readonly TreeRecord[])[]) => {
    const { status, records, stderr } = await unite(...shares);
    expect(status, stderr).to.equal(0);
    return records.flatMap((record, index) => {
      const before = records[index - 1];
      const wants = before?.type === 'wants' ? `${before.wants} ` : '';
      return record.type === 'wants' ? [] : [`${wants}${wordsOf(record)}`];
    });
  };

  it('is the same stream if they need the same', async () => {
    const share = [INTO, enter('d'), XATTR, file('f'), LEAVE, link('l', 'd/f'), skip(3), END];
    const { records } = await unite(share, share);
    const own = share.filter(({ type }) => type !== 'skip' && type !== 'place');
    expect(records.filter(({ type }) => !['wants', 'place'].includes(type)).map(wordsOf)).to.deep.equal(
      decodeTree(encodeTree(PHASE.share, own)).map(wordsOf),
    );
    expect(records.filter(({ type }) => type === 'wants').map(({ wants }) => wants)).to.deep.equal(['0002', '0200']);
  });

  it('is in the order of the source, with the targets that need it', async () => {
    const found = await words(
      [INTO, enter('', { want: WANT.nothing }), skip(1), file('b'), skip(1), file('d'), remove('x'), LEAVE, END],
      [INTO, enter('', { want: WANT.nothing }), file('a'), file('b'), skip(2), remove('y'), LEAVE, END],
      [AS, enter(''), skip(1), file('b', { want: WANT.metadata }), file('c'), skip(1), LEAVE, END],
    );
    expect(found).to.deep.equal([
      '000202 place',
      '020002 place',
      '020200 place',
      '020200 enter  all',
      '020002 file a all',
      '020200 file b metadata',
      '000002 file b all',
      '020200 file c all',
      '000202 file d all',
      '000202 remove x',
      '020002 remove y',
      'leave',
      'end',
    ]);
  });

  it('has the blocks that all targets of a file have', async () => {
    const rest = file('f', { want: WANT.rest });
    const of = async (...shares: readonly (readonly TreeRecord[])[]) =>
      (await unite(...shares.map((records) => [INTO, ...records, END]))).records.slice(2 * shares.length);
    const digestsOf = (records: readonly TreeRecord[]) =>
      records.flatMap((record) => [
        record.digests?.replace(/(\d)\1{31}/g, '$1') ?? record.want ?? record.wants ?? 'end',
      ]);
    expect(digestsOf(await of([blocks(1, 2, 3), rest], [blocks(1, 2), rest]))).to.deep.equal(['12', WANT.rest, 'end']);
    expect(digestsOf(await of([blocks(1, 2, 3), rest], [blocks(1, 4, 3), rest]))).to.deep.equal([
      '1',
      WANT.rest,
      'end',
    ]);
    expect(digestsOf(await of([blocks(1), rest], [blocks(2), rest]))).to.deep.equal([WANT.all, 'end']);
    expect(digestsOf(await of([blocks(1), rest], [file('f')]))).to.deep.equal([WANT.all, 'end']);
    expect(digestsOf(await of([blocks(1), rest], [skip(1)]))).to.deep.equal(['0002', '1', WANT.rest, 'end']);
    const metadata = file('f', { want: WANT.metadata });
    expect(digestsOf(await of([blocks(1), rest], [metadata]))).to.deep.equal([
      '0200',
      WANT.metadata,
      '0002',
      '1',
      WANT.rest,
      'end',
    ]);
  });

  for (const [what, shares] of Object.entries({
    'a different file': [[file('a')], [file('b')]],
    'a different size': [[file('a')], [file('a', { size: 9 })]],
    'a different attribute': [
      [XATTR, file('a')],
      [{ ...XATTR, value: 'y' }, file('a')],
    ],
    'a directory that other targets lack': [[enter('d'), LEAVE], [skip(2)]],
    'an incomplete directory': [
      [enter('d'), LEAVE],
      [enter('d'), { type: 'leave', whole: 0 }],
    ],
    'an early end': [[file('a'), file('b')], [file('a')]],
    'more than possible': [[skip(2 ** 62), skip(2 ** 62), skip(2 ** 62), skip(2 ** 62)], [skip(1)]],
  } as const satisfies Record<string, readonly (readonly TreeRecord[])[]>)) {
    it(`is refused if one has ${what}`, async () => {
      const { status, stderr } = await unite(...shares.map((records) => [INTO, ...records, END]));
      expect(status, stderr).to.equal(8);
      expect(stderr).to.match(/target \d /);
    });
  }

  it('is refused if one is not a share, or was cut off', async () => {
    const share = encodeTree(PHASE.share, [INTO, file('a'), END]);
    expect((await uniteStreams([share, encodeTree(PHASE.decisions, [INTO, file('a'), END])])).status).to.equal(8);
    expect((await uniteStreams([share, share.subarray(0, -9)])).status).to.equal(5);
    expect((await uniteStreams([share, Buffer.concat([share, share])])).status).to.equal(8);
  });
});
