// SPDX-License-Identifier: Apache-2.0
// rdtree as `compare`: the parts of each entry that must be sent, by the state of the target,
// which is not changed.
import { lstatSync } from 'node:fs';
import { expect } from 'chai';
import { enter, file, link, SECONDS, special, symlink, useCompare, wordsOf } from '../support/compare.ts';
import { needsRoot, needsTool } from '../support/needs.ts';
import { ANN, AS_ANN, END, LEAVE, type TextSettings, type TreeRecord, WANT } from '../support/tree-stream.ts';

/** XXH3-128 of the five bytes `hello`. */
const HELLO = 'b5e9c1ad071b3e7fc779cfaa5e523818';
const USUAL: Partial<TextSettings> = { archive: false };
const CHECKSUM: Partial<TextSettings> = { checksum: true };
const UPDATE: Partial<TextSettings> = { update: true };
const ATTRIBUTES: Partial<TextSettings> = { acls: true, xattrs: true };

type Row = readonly [
  title: string,
  script: string,
  record: TreeRecord,
  want?: keyof typeof WANT | undefined,
  reasons?: string,
  settings?: Partial<TextSettings>,
];
const ROWS: readonly Row[] = [
  ['a new file', '', file('f'), 'all', 'new'],
  ['the same file', 'file f', file('f')],
  ['another size', 'file f', file('f', { size: 6 }), 'all', 'size'],
  ['a later second', 'file f', file('f', { seconds: SECONDS + 1 }), 'all', 'time'],
  ['a time before 1970', 'file f', file('f', { seconds: -1 }), 'all', 'time'],
  ['nanoseconds, of a target with seconds', 'file f', file('f', { ns: 123456789 })],
  ['nanoseconds, of a target with microseconds', 'file f; touch -d @1600000000.123456 f', file('f', { ns: 123456789 })],
  ['another nanosecond', 'file f; touch -d @1600000000.123456788 f', file('f', { ns: 123456789 }), 'all', 'time'],
  ['another mode', 'file f', file('f', { mode: 0o104755 }), 'metadata', 'mode'],
  ['another mode without archive', 'file f', file('f', { mode: 0o100755 }), undefined, '', USUAL],
  ['another time without archive', 'file f', file('f', { seconds: 7 }), 'all', 'time', USUAL],
  ['another owner without archive', 'file f', file('f', { uid: ANN, gid: ANN }), undefined, '', USUAL],
  ['the same digest', 'file f', file('f', { digest: HELLO }), undefined, '', CHECKSUM],
  ['the same digest, another time', 'file f', file('f', { digest: HELLO, seconds: 7 }), 'metadata', 'time', CHECKSUM],
  ['another digest', 'printf hallo >f; old f', file('f', { digest: HELLO }), 'all', 'digest', CHECKSUM],
  ['another size, with a digest', 'printf hell >f; old f', file('f', { digest: HELLO }), 'all', 'size', CHECKSUM],
  ['no digest at the source', 'file f', file('f'), undefined, '', CHECKSUM],
  ['a newer file, with -u', 'file f; chmod 600 f', file('f', { seconds: 7, size: 6 }), undefined, '', UPDATE],
  ['a file newer by a nanosecond, with -u', 'touch -d @1600000000.000000001 f', file('f'), undefined, '', UPDATE],
  ['an older file, with -u', 'file f', file('f', { ns: 1, size: 6 }), 'all', 'size', UPDATE],
  ['a file of the same time, with -u', 'file f', file('f', { size: 6 }), 'all', 'size', UPDATE],
  ['a newer symbolic link, with -u', 'symlink f x', symlink('f', 'y', { seconds: 7 }), 'all', 'time target', UPDATE],
  ['a file in place of a newer link, with -u', 'symlink f x', file('f', { seconds: 7 }), 'all', 'type', UPDATE],
  ['a file in place of a directory', 'directory f', file('f'), 'all', 'type'],
  ['a file in place of a link to one', 'file g; symlink f g', file('f'), 'all', 'type'],
  ['a new directory', '', enter('f'), 'all', 'new'],
  ['the same directory', 'directory f', enter('f'), 'nothing'],
  ['a directory of another mode', 'directory f', enter('f', { mode: 0o042755 }), 'metadata', 'mode'],
  ['a directory of another time', 'directory f', enter('f', { seconds: 7 }), 'metadata', 'time'],
  ['the same without archive', 'directory f', enter('f', { seconds: 7 }), 'nothing', '', USUAL],
  ['a directory in place of a file', 'file f', enter('f'), 'all', 'type'],
  ['a directory in place of a link to one', 'directory g; symlink f g', enter('f'), 'all', 'type'],
  ['the same symbolic link', 'symlink f to/here', symlink('f', 'to/here')],
  ['a symbolic link to elsewhere', 'symlink f to/here', symlink('f', 'to/her'), 'all', 'target'],
  ['a symbolic link of another time', 'symlink f x', symlink('f', 'x', { seconds: 7 }), 'metadata', 'time'],
  ['the same without archive', 'symlink f x', symlink('f', 'x', { seconds: 7 }), undefined, '', USUAL],
  ['a symbolic link in place of a file', 'file f', symlink('f', 'x'), 'all', 'type'],
  ['a new fifo', '', special('f', 0o010644), 'all', 'new'],
  ['the same fifo', 'mkfifo f; old f', special('f', 0o010644)],
];
const ROWS_OF_ROOT: readonly Row[] = [
  ['another owner', 'file f', file('f', { uid: ANN }), 'metadata', 'owner'],
  ['another group', 'file f', file('f', { gid: ANN }), 'metadata', 'group'],
  ['the same device', 'mknod f c 1 3; old f', special('f', 0o020644, 0x103)],
  ['another device', 'mknod f c 1 3; old f', special('f', 0o020644, 0x105), 'all', 'device'],
];

describe('compare', () => {
  const on = useCompare();

  for (const row of [...ROWS, ...ROWS_OF_ROOT]) {
    const [title, script, record, want, reasons = '', settings] = row;
    it(`${title}: ${want ?? 'does not pass'}`, async function () {
      if (ROWS_OF_ROOT.includes(row)) needsRoot(this);
      on.make(script);
      const leaves = record.type === 'enter' ? [LEAVE] : [];
      const expected = want === undefined ? [] : [`${record.type} f ${want}`, ...leaves.map(wordsOf)];
      const before = lstatSync(on.target, { bigint: true }).mtimeNs;
      expect(await on.passed([record, ...leaves], settings)).to.deep.equal(expected);
      expect(await on.reasons([record, ...leaves], settings)).to.equal(reasons);
      expect(lstatSync(on.target, { bigint: true }).mtimeNs).to.equal(before);
    });
  }

  describe('attributes', () => {
    const note = { type: 'xattr', name: 'user.note', value: 'one' } as const;
    const rows = [
      ['the same', 'setfattr -n user.note -v one f', [note], ''],
      ['another value', 'setfattr -n user.note -v two f', [note], 'xattr'],
      ['one is missing', '', [note], 'xattr'],
      ['an extra one', 'setfattr -n user.note -v one f; setfattr -n user.more f', [note], 'xattr'],
      ['none', '', [], ''],
      ['an extra ACL', 'setfacl -m u:4321:r f; chmod 644 f', [], 'acl'],
    ] as const;
    for (const [title, script, attributes, reasons] of rows)
      it(title, async function () {
        needsTool(this, 'setfattr', 'setfacl');
        on.make(`file f; ${script}`);
        const expected = reasons === '' ? [] : [...attributes.map(wordsOf), 'file f metadata'];
        expect(await on.passed([...attributes, file('f')], ATTRIBUTES)).to.deep.equal(expected);
        expect(await on.reasons([...attributes, file('f')], ATTRIBUTES)).to.equal(reasons);
        if (attributes.length === 0) expect(await on.passed([file('f')])).to.deep.equal([]);
      });

    it('of an unchanged directory do not pass', async function () {
      needsTool(this, 'setfattr');
      on.make('directory d; setfattr -n user.note -v one d');
      const more = { ...note, name: 'user.more' };
      expect(await on.passed([note, enter('d'), LEAVE], ATTRIBUTES)).to.deep.equal(['enter d nothing', 'leave']);
      expect(await on.passed([note, more, enter('d'), LEAVE], ATTRIBUTES)).to.deep.equal([
        'xattr user.note',
        'xattr user.more',
        'enter d metadata',
        'leave',
      ]);
    });
  });

  describe('hard links', () => {
    const DIRECTORY = 'enter d nothing';
    const tree = [enter('d'), link('g', 'f'), LEAVE];

    it('of one file do not pass', async () => {
      on.make('directory d; file f; ln f d/g; old d');
      expect(await on.passed([file('f'), ...tree])).to.deep.equal([DIRECTORY, 'leave']);
    });

    it('of two files pass', async () => {
      on.make('directory d; file f d/g; old d');
      expect(await on.passed([file('f'), ...tree])).to.deep.equal([DIRECTORY, 'link g all', 'leave']);
    });

    it('that are newer than the source do not pass with -u', async () => {
      on.make('directory d; file f d/g; touch d/g; old d');
      expect(await on.passed([file('f'), ...tree], UPDATE)).to.deep.equal([DIRECTORY, 'leave']);
    });

    it('pass when the file gets other content', async () => {
      on.make('directory d; file f; ln f d/g; old d');
      const other = file('f', { digest: '00'.repeat(16) });
      const words = ['file f all', DIRECTORY, 'link g all', 'leave'];
      expect(await on.passed([other, ...tree], CHECKSUM)).to.deep.equal(words);
    });

    it('are not looked up through a symbolic link', async () => {
      on.make('directory d; file f; ln f d/g; old d; symlink l .');
      const words = [DIRECTORY, 'link g all', 'leave'];
      expect(await on.passed([enter('d'), link('g', 'l/f'), LEAVE])).to.deep.equal(words);
    });
  });

  it('maps owners by their names', async function () {
    needsRoot(this);
    on.make('file f');
    const owners = [
      { type: 'owner', group: 0, id: 4001, name: 'root' },
      { type: 'owner', group: 1, id: 4002, name: 'root' },
    ] as const;
    const other = file('f', { uid: 4001, gid: 4002 });
    expect(await on.passed([...owners, other])).to.deep.equal(['owner root', 'owner root']);
    expect(await on.passed([other])).to.deep.equal(['file f metadata']);
  });

  it('compares no owner that it cannot set', async function () {
    needsRoot(this);
    on.make('chmod 755 .. .; file f');
    const { records } = await on.compare(
      [file('f', { uid: 4001, gid: 4002 }), file('f', { gid: ANN }), END],
      {},
      AS_ANN,
    );
    expect(records.map(wordsOf)).to.deep.equal(['place', 'file f metadata', 'end']);
  });

  it('finds nothing below a symbolic link', async () => {
    on.make('directory elsewhere; file elsewhere/f; symlink d elsewhere');
    const tree = [enter('d'), file('f'), enter('e'), file('f'), LEAVE, LEAVE];
    const words = ['enter d all', 'file f all', 'enter e all', 'file f all', 'leave', 'leave'];
    expect(await on.passed(tree, { remove: true })).to.deep.equal(words);
  });

  it('counts what it compared', async () => {
    on.make('file f m; directory d');
    const { events } = await on.compare([file('f'), file('m', { mode: 0o100600 }), file('g'), enter('d'), LEAVE, END]);
    const counted = { entries: 4, files: 3, bytes: 15, directories: 1, failed: 0 };
    const totals = { ...counted, same: 2, same_files: 2, same_bytes: 10 };
    expect(events.at(-1)).to.include({ event: 'progress', done: true, ...totals });
  });

  it('ends on a damaged stream', async () => {
    for (const records of [[file('a/b')], [file('..')], [enter('d')], [file('f', { want: WANT.rest })], [LEAVE]]) {
      const { status, events } = await on.compare([...records, END]);
      expect(status).to.not.equal(0);
      expect(events.at(-1)?.message).to.match(/^the stream of the tree is damaged/);
    }
  });

  it('refuses what was not asked for', async () => {
    const d = enter('d');
    const patterns = [{ include: false, pattern: '*.key' }];
    const LISTED = { list: 'nul', list_text: 'd/f\0' } as const;
    for (const [reason, records, settings] of [
      ['"x" (not a source)', [file('x')]],
      ['"" (not a source)', [enter('')]],
      ['"d" (not a source)', [enter('d', { source: 1 })]],
      ['"d" (without -r)', [d], { recursive: false }],
      ['"d/x.key" (excluded)', [d, file('x.key')]],
      ['"d/l" (a link to what was not asked for)', [d, file('f'), link('l', 'e/f')]],
      ['"d/x" (not in the list)', [enter(''), d, file('f'), file('x')], { sources: ['/'], ...LISTED }],
      ['"user.a" (without', [{ type: 'xattr', name: 'user.a', value: '' }, d]],
    ] as const satisfies readonly (readonly [string, readonly TreeRecord[], Partial<TextSettings>?])[]) {
      const {
        status,
        events,
        records: passed,
      } = await on.compare([...records, END], {
        sources: ['h/d'],
        patterns,
        ...settings,
      });
      expect([status, events.at(-1)?.code]).to.deep.equal([8, 'not_requested']);
      expect(events.at(-1)?.message).to.contain('that was not asked for: ').and.contain(reason);
      expect(passed.some(({ name }) => name !== undefined && name !== 'd' && name !== 'f')).to.equal(false);
    }
    expect(await on.passed([d, file('f'), LEAVE], { sources: ['h/d'], patterns })).to.have.lengthOf(3);
  });

  it('refuses a stream without any entry of a source, and without a failure', async () => {
    const sources = ['h/d', 'h/e'];
    const hidden = await on.compare([enter('d'), LEAVE, END], { sources });
    expect([hidden.status, hidden.events.at(-1)?.message]).to.deep.equal([
      8,
      'nothing of a source that was asked for: "e" (no reason was given)',
    ]);
    const failed = await on.compare([enter('d'), LEAVE, { ...END, failures: 1 }], { sources });
    expect(failed.status).to.equal(0);
  });

  it('enters trees deeper than the usual limit of descriptors', async () => {
    const depth = 1500;
    on.make(`mkdir -p ${'d/'.repeat(depth)}`);
    const tree = [...Array.from({ length: depth }, () => enter('d')), ...Array.from({ length: depth }, () => LEAVE)];
    const through = ['prlimit', '--nofile=1024:4096'];
    const { status, records } = await on.compare([...tree, END], { archive: false }, through);
    expect(status).to.equal(0);
    expect(records.filter(({ want }) => want === WANT.nothing).length).to.equal(depth);
  });
});
