// SPDX-License-Identifier: Apache-2.0
// rdtree as `compare` with --delete: names that the target has and the source lacks.
import { expect } from 'chai';
import { enter, file, special, useCompare, wordsOf } from '../support/compare.ts';
import { needsRoot } from '../support/needs.ts';
import { ANN, AS_ANN, END, LEAVE, startTree, type TextSettings, type TreeRecord } from '../support/tree-stream.ts';

const CUT = { type: 'leave', whole: 0 } as const;
const SECOND = enter('', { source: 1 });

describe('--delete', () => {
  const on = useCompare();
  const removals = async (records: readonly TreeRecord[], settings: Partial<TextSettings> = {}) =>
    (await on.passed(records, { remove: true, ...settings })).filter((words) => /^remove|^leave/.test(words));

  beforeEach(() => {
    on.make('directory d d/sub d/old .rdcp d/.rdcp; file f d/f d/extra d/sub/f d/old/f top d/.rdcp-1-2');
    on.make('symlink d/link /');
  });

  it('names superfluous entries of a directory', async () => {
    const words = await removals([enter('d'), file('f'), enter('sub'), LEAVE, LEAVE]);
    expect(words.slice(0, 2)).to.deep.equal(['remove f', 'leave']);
    expect(words.slice(2).sort()).to.deep.equal(['leave', 'remove .rdcp', 'remove extra', 'remove link', 'remove old']);
  });

  it('names nothing without --delete', async () => {
    expect(await removals([enter('d'), LEAVE], { remove: false })).to.deep.equal(['leave']);
  });

  it('names nothing in a directory that was not sent completely', async () => {
    const words = await removals([enter('d'), enter('sub'), LEAVE, CUT]);
    expect(words).to.deep.equal(['remove f', 'leave', 'leave']);
  });

  it('keeps names that could not be read, and those that are excluded', async () => {
    const patterns = ['/extra', 'ol[d]/', 'link/', '/.rdcp'].map((pattern) => ({ include: false, pattern }));
    const records = [enter('d'), { type: 'failed', name: 'f' } as const, enter('sub'), LEAVE, LEAVE];
    expect(await removals(records, { patterns })).to.deep.equal(['remove f', 'leave', 'remove link', 'leave']);
  });

  it('keeps special files that are skipped, and removes others', async () => {
    const fifo = special('extra', 0o10644);
    const words = await removals([enter('d'), file('f'), enter('sub'), CUT, fifo, LEAVE], { archive: false });
    expect(words.slice(1).sort()).to.deep.equal(['leave', 'remove .rdcp', 'remove link', 'remove old']);
  });

  it('keeps the journals of running copies in the target directory', async () => {
    const words = await removals([enter(''), file('f'), enter('d'), CUT, LEAVE]);
    expect(words).to.deep.equal(['leave', 'leave', 'remove top']);
  });

  it('keeps the names of all sources in the target directory', async () => {
    const merged = [enter(''), file('f'), LEAVE, SECOND, file('top'), LEAVE];
    expect(await removals([...merged, enter('d', { source: 2 }), CUT])).to.deep.equal(['leave', 'leave', 'leave']);
    expect(await removals(merged)).to.deep.equal(['leave', 'leave', 'remove d']);
  });

  it('names nothing in the target directory when a source is missing or incomplete', async () => {
    const failed = await on.compare([enter(''), LEAVE, { ...END, failures: 1 }], { remove: true });
    expect(failed.records.map(wordsOf)).to.deep.equal(['place', 'enter  metadata', 'leave', 'end']);
    expect(await removals([enter(''), CUT, SECOND, LEAVE])).to.deep.equal(['leave', 'leave']);
    expect(await removals([file('f')])).to.deep.equal([]);
  });

  it('refuses two sources with one directory', async () => {
    const merged = [enter(''), enter('d'), LEAVE, LEAVE];
    const d = enter('d', { source: 1 });
    for (const sources of [
      [enter('d'), LEAVE, d, LEAVE],
      [...merged, SECOND, enter('d'), LEAVE, LEAVE],
      [...merged, d, LEAVE],
    ]) {
      const { status, events } = await on.compare([...sources, END], { remove: true });
      expect(status).to.equal(10);
      expect(events.at(-1)?.message).to.match(/^two sources have d: with --delete/);
    }
  });

  it('has one failure for a directory that cannot be listed', async function () {
    needsRoot(this);
    on.make(`chmod 755 .. .; chown -R ${ANN} .; chmod 311 d`);
    const { events, records } = await on.compare([enter('d'), file('f'), LEAVE, END], { remove: true }, AS_ANN);
    expect(records.map(wordsOf)).to.deep.equal(['place', 'enter d metadata', 'leave', 'end']);
    const path = Buffer.from(on.at('d')).toString('hex');
    const message = 'nothing is removed there: cannot list it: permission denied';
    expect(events.filter(({ event }) => event === 'failed')).to.deep.equal([
      { event: 'failed', path, code: 'EACCES', message },
    ]);
    expect(events.at(-1)?.failed).to.equal(1);
  });

  it('of 20,000 names', async () => {
    on.make('mkdir many; cd many; seq 1 20000 | xargs touch');
    const scan = startTree(on.bench, { role: 'scan', sources: [on.at('many')], recursive: true }, 'ignore');
    const { stdout } = await scan.ended;
    on.make('touch many/{1..9}-more; rm many/7');
    const { records } = await on.compare(stdout, { remove: true });
    const words = records.map(wordsOf).filter((word) => /^file|^remove/.test(word));
    const expected = Array.from({ length: 9 }, (_, index) => `remove ${index + 1}-more`);
    expect(words.sort()).to.deep.equal(['file 7 all', ...expected]);
  });
});
