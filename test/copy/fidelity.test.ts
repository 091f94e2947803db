// SPDX-License-Identifier: Apache-2.0
// Copies keep everything that rsync -aHAXS keeps, over each route;
// a second run copies only the changes.
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { expectCopy, expectSameListing, judge, temporariesIn } from '../support/judge.ts';
import { useLab } from '../support/lab.ts';
import { needsRoot, needsTool } from '../support/needs.ts';
import type { Result } from '../support/shell.ts';
import { changeTree, makeDeepTree, makeManyEntries, makeTree } from '../support/tree-fixtures.ts';

const ROUTES = [
  { name: 'from here to a host', from: '', to: 'h1:' },
  { name: 'from a host to here', from: 'h1:', to: '' },
  { name: 'from host to host', from: 'h1:', to: 'h2:' },
  { name: 'on this machine', from: '', to: '' },
  { name: 'on one host', from: 'h1:', to: 'h1:' },
] as const;
const ENTRIES = 5000;
/** Longest part of a message with a long path that a failed test shows. */
const SHOWN_MAX = 2000;
const ANN = 61_235;
/** Sessions on this host run as a user other than root. */
const AS_ANN = `ForceCommand exec setpriv --reuid ${ANN} --regid ${ANN} --clear-groups sh -c "$SSH_ORIGINAL_COMMAND"`;

describe('rdcp', () => {
  const lab = useLab({ hosts: [{ name: 'ann', server: [AS_ANN] }] });
  const at = (path: string) => join(lab.directory, path);

  before(function () {
    needsRoot(this);
    needsTool(this, 'rsync', 'setfacl', 'setfattr', 'setpriv');
    chmodSync(join(lab.homes, '..'), 0o711);
    chownSync(lab.host('ann').home, ANN, ANN);
  });
  after(() => rmSync(`/var/tmp/rdpipe-${ANN}`, { recursive: true, force: true }));
  // rm, because the paths are too deep for node.
  afterEach(() => void execaSync('rm', ['-rf', at('deep'), at('deep copy')]));

  it('is judged by a comparison that sees differences', () => {
    for (const name of ['source', 'target']) makeTree(at(name));
    expectCopy(at('source'), at('target'));
    changeTree(at('source'));
    expect(judge(at('source'), at('target'))).to.have.length.above(25);
    cpSync(at('source/holes/middle'), at('target/holes/middle'));
    execaSync('cp', ['--sparse=never', at('source/holes/middle'), at('target/holes/middle')]);
    expect(judge(at('source'), at('target')).at(-1)).to.match(/^holes\/middle takes \d+ bytes, not \d+$/);
  });

  for (const { name, from, to } of ROUTES) {
    const copy = (options: string) => lab.sh(`rdcp ${options} ${from}$PWD/source/ ${to}$PWD/target/`);

    it(`keeps everything ${name}, and copies again what changed`, async () => {
      makeTree(at('source'));
      copied(await copy('-aAX'));
      expectCopy(at('source'), at('target'));
      const before = inodesOf(at('target'));
      copied(await copy('-aAX --delete'));
      expect(inodesOf(at('target'))).to.deep.equal(before);
      changeTree(at('source'));
      copied(await copy('-aAX --delete'));
      expectCopy(at('source'), at('target'));
      expect(temporariesIn(at('target'))).to.deep.equal([]);
    });
  }

  it('lists its plan with -n, and does nothing', async () => {
    for (const name of ['source', 'target']) makeTree(at(name));
    changeTree(at('source'));
    const before = inodesOf(at('target'));
    const { status, text, stderr } = await lab.sh('rdcp -n -aAX --delete h1:$PWD/source/ h2:$PWD/target/');
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    for (const path of ['contents/3', 'contents/6', 'links/a/new', 'modes/644'])
      expect(text, path).to.match(new RegExp(`^\\w+ +(?:[\\d.]+ [KMG]?i?B +)?${path}( |$)`, 'm'));
    expect(text).not.to.include('contents/10');
    expect(inodesOf(at('target'))).to.deep.equal(before);
  });

  it('descends deeper than the longest path', async () => {
    makeDeepTree(at('deep'));
    copied(await lab.sh(`rdcp -a h1:$PWD/deep/ h2:"$PWD/deep copy/"`));
    expectSameListing(at('deep'), at('deep copy'));
  });

  it(`copies a directory of ${ENTRIES} entries, and removes from it`, async () => {
    makeManyEntries(at('many'), ENTRIES);
    copied(await lab.sh('rdcp -a h1:$PWD/many h2:$PWD/target'));
    expectCopy(at('many'), at('target/many'));
    execaSync('find', [at('many'), '-name', '*7', '-delete']);
    copied(await lab.sh('rdcp -a --delete h1:$PWD/many h2:$PWD/target'));
    expectCopy(at('many'), at('target/many'));
  });

  for (const words of [
    'source target',
    'source/ target',
    'source there',
    'source/ there/',
    'source/. there',
    'source/file target',
    'source/file target/',
    'source/file there',
    'source/file source/sub there',
    'source/sub source/sub/inner/ there',
    'source/link there',
    'source/link/ there',
    'source/file linked',
    'source/sub linked/',
  ])
    it(`puts ${words} where rsync puts it`, async () => {
      for (const side of ['ours', 'theirs']) makePlaces(at(side));
      execaSync('rsync', ['-aH', ...words.split(' ')], { cwd: at('theirs') });
      const sourcesAndTarget = words.split(' ').map((word) => `${at('ours')}/${word}`);
      const [target, ...sources] = sourcesAndTarget.reverse();
      copied(await lab.sh(`rdcp -a ${sources.map((source) => `h1:${source}`).join(' ')} h2:${target}`));
      expectCopy(at('theirs'), at('ours'), { rsync: '-aHAXSO' }); // existing directories have other times
    });

  it('without -a keeps times, gives new files modes by the umask, and leaves those of old ones', async () => {
    mkdirSync(at('source'));
    mkdirSync(at('target'));
    for (const name of ['new', 'old']) writeFileSync(at(`source/${name}`), name);
    chmodSync(at('source/new'), 0o4777);
    chmodSync(at('source/old'), 0o777);
    writeFileSync(at('target/old'), 'before', { mode: 0o600 });
    copied(await lab.sh('umask 027; rdcp -r source/ target/'));
    const [made, kept] = [statSync(at('target/new')), statSync(at('target/old'))];
    expect([made.mode & 0o7777, kept.mode & 0o7777]).to.deep.equal([0o750, 0o600]);
    expect(made.mtimeMs).to.equal(statSync(at('source/new')).mtimeMs);
    expect(readFileSync(at('target/old'), 'utf8')).to.equal('old');
  });

  it('finds hidden changes only with --checksum', async () => {
    for (const [directory, text] of [
      ['source', 'after!'],
      ['target', 'before'],
    ] as const) {
      mkdirSync(at(directory));
      writeFileSync(at(`${directory}/file`), text);
      utimesSync(at(`${directory}/file`), 1_600_000_000, 1_600_000_000);
    }
    copied(await lab.sh('rdcp -a h1:$PWD/source/ h2:$PWD/target/'));
    expect(readFileSync(at('target/file'), 'utf8')).to.equal('before');
    copied(await lab.sh('rdcp -a --checksum h1:$PWD/source/ h2:$PWD/target/'));
    expect(readFileSync(at('target/file'), 'utf8')).to.equal('after!');
  });

  it('replaces a link at the target, and writes nothing to its target', async () => {
    mkdirSync(at('source/dir'), { recursive: true });
    for (const path of ['source/dir/file', 'source/file']) writeFileSync(at(path), 'new');
    for (const path of ['target', 'elsewhere']) mkdirSync(at(path));
    writeFileSync(at('elsewhere/file'), 'old');
    symlinkSync('../elsewhere', at('target/dir'));
    symlinkSync('../elsewhere/file', at('target/file'));
    copied(await lab.sh('rdcp -a h1:$PWD/source/ h2:$PWD/target/'));
    expectCopy(at('source'), at('target'));
    expect(readdirSync(at('elsewhere'))).to.deep.equal(['file']);
    expect(readFileSync(at('elsewhere/file'), 'utf8')).to.equal('old');
  });

  describe('by a user who is not root', () => {
    beforeEach(() => chmodSync(lab.directory, 0o777));

    it('names unreadable paths with status 23, copies the rest, and removes nothing of them', async () => {
      makeReadable(at('source'));
      execaSync('cp', ['-a', at('source'), at('target')]);
      writeFileSync(at('target/closed/kept'), 'kept');
      writeFileSync(at('target/more'), 'more');
      for (const name of ['new', 'secret']) writeFileSync(at(`source/${name}`), 'new here');
      for (const path of ['source/secret', 'source/closed']) chmodSync(at(path), 0);
      const result = await lab.sh('rdcp -r --delete ann:$PWD/source/ h2:$PWD/target/');
      expect(result.status, result.stderr).to.equal(23);
      for (const path of ['secret', 'closed'])
        expect(result.stderr).to.match(new RegExp(`/source/${path}: .*permission denied`, 'im'));
      expect(readdirSync(at('target')).sort()).to.deep.equal(['closed', 'more', 'new', 'open', 'secret']);
      expect(readFileSync(at('target/closed/kept'), 'utf8')).to.equal('kept');
    });

    it('keeps everything except owners, and reports that with -v', async () => {
      makeReadable(at('source'));
      for (const name of ['open', 'secret']) chownSync(at(`source/${name}`), 54_321, 12_345);
      for (const [name, option, lines] of [
        ['target', '', 0],
        ['shown', '-v', 1],
      ] as const) {
        mkdirSync(at(name));
        chownSync(at(name), ANN, ANN);
        const result = await lab.sh(`rdcp -a ${option} h1:$PWD/source/ ann:$PWD/${name}/`);
        expect(result.status, result.stderr).to.equal(0);
        expect(result.stderr.match(/keep their old owner or group/g) ?? [], result.stderr).to.have.length(lines);
      }
      expectCopy(at('source'), at('target'), { rsync: '-aHS', anyOwner: true });
    });

    it('writes into directories that are read-only', async () => {
      makeReadable(at('source'));
      mkdirSync(at('source/read-only'));
      writeFileSync(at('source/read-only/file'), 'x', { mode: 0o444 });
      chmodSync(at('source/read-only'), 0o555);
      mkdirSync(at('target'));
      chownSync(at('target'), ANN, ANN);
      const owned = { rsync: '-aHS', anyOwner: true };
      await lab.sh('rdcp -a h1:$PWD/source/ ann:$PWD/target/');
      expectCopy(at('source'), at('target'), owned);
    });
  });
});

/** Expects status 0 and no output. */
function copied({ status, text, stderr }: Result): void {
  expect({ status, text, stderr: stderr.slice(0, SHOWN_MAX) }).to.deep.equal({ status: 0, text: '', stderr: '' });
}

/** Inode numbers and change times of all entries below: they show each file that was written or changed in any way. */
function inodesOf(directory: string): string[] {
  const { stdout } = execaSync('find', [directory, '-mindepth', '1', '-printf', '%i %C@ %P\\0'], {
    encoding: 'latin1',
  });
  return stdout.split('\0').sort();
}

/** `there` is a directory, `linked` is a link to one, `target` does not exist. */
function makePlaces(directory: string): void {
  mkdirSync(join(directory, 'source/sub/inner'), { recursive: true });
  for (const path of ['source/file', 'source/sub/one', 'source/sub/inner/two'])
    writeFileSync(join(directory, path), path);
  symlinkSync('sub', join(directory, 'source/link'));
  mkdirSync(join(directory, 'there'));
  symlinkSync('there', join(directory, 'linked'));
  execaSync('find', [directory, '-depth', '-execdir', 'touch', '-h', '-d', '@1600000000', '{}', '+']);
}

/** So far, everyone may read these files. */
function makeReadable(directory: string): void {
  mkdirSync(join(directory, 'closed'), { recursive: true });
  for (const path of ['open', 'secret', 'closed/file']) writeFileSync(join(directory, path), path);
}
