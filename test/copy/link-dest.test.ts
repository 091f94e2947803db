// SPDX-License-Identifier: Apache-2.0
// Snapshots by hard links: rdcp --link-dest makes what rsync makes,
// and never changes an earlier snapshot.
import { existsSync, lstatSync, readdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { enter, file, symlink, useCompare } from '../support/compare.ts';
import { eventually } from '../support/eventually.ts';
import { expectCopy } from '../support/judge.ts';
import { useLab } from '../support/lab.ts';
import { needsRoot, needsTool } from '../support/needs.ts';
import { signalProcess } from '../support/processes.ts';
import { succeeded } from '../support/shell.ts';
import { changeTree, makeTree } from '../support/tree-fixtures.ts';
import { LEAVE } from '../support/tree-stream.ts';

describe('rdcp --link-dest', () => {
  const lab = useLab();
  const at = (path: string) => join(lab.directory, path);

  /** Runs the lines, each of which must succeed. */
  const succeed = async (script: string) => succeeded(await lab.sh(`set -e; ${script}`), '');

  before(function () {
    needsRoot(this);
    needsTool(this, 'rsync', 'setfacl', 'setfattr');
  });

  it('makes the same snapshot as rsync, from host to host', async () => {
    makeTree(at('tree'));
    await succeed('mkdir ours theirs; rm -r tree/holes; rsync -aHAX tree/ ours/1; rsync -aHAX tree/ theirs/1');
    await succeed('mkdir tree/holes');
    changeTree(at('tree'));
    const before = stateOf(at('ours/1'));
    await succeed(`rsync -aHAX --link-dest ../1 tree/ theirs/2
      rdcp -aAX --link-dest ../1 "h1:$PWD/tree/" "h2:$PWD/ours/2"`);
    expect(linksOf(at('ours'))).to.deep.equal(linksOf(at('theirs')));
    expectCopy(at('tree'), at('ours/2'));
    expect(stateOf(at('ours/1'))).to.deep.equal(before);
  });

  it('never changes an earlier snapshot, whatever has changed since', async () => {
    await succeed(`mkdir s; echo 1 > s/content; echo 1 > s/mode; echo 1 > s/gone; ln -s 1 s/symlink
      echo 1 > s/hard; ln s/hard s/link; mkdir d; rdcp -a s/ d/1; rdcp -a --link-dest ../1 s/ d/2`);
    const before = stateOf(at('d/1'));
    // The second snapshot is copied again, and shares its files with the first one.
    await succeed(`echo 22 > s/content; chmod 700 s/mode s/hard; rm s/gone; touch -h -d @1 s/symlink
      rdcp -a --delete --link-dest ../1 s/ d/2; [ ! -e d/2/gone ]; test d/2/hard -ef d/2/link`);
    expect(stateOf(at('d/1'))).to.deep.equal(before);
    expectCopy(at('s'), at('d/2'));
  });

  it('leaves the directory in place where --delete would remove it', async () => {
    await succeed(`mkdir -p s t/old/1 t/other; echo 1 > s/a; cp -a s/a t/old/1/
      rdcp -a --delete --link-dest old/1 s/ t; test t/a -ef t/old/1/a; [ ! -e t/other ]`);
  });

  it('resumes a snapshot that was interrupted', async () => {
    await succeed(`mkdir s; seq -f 's/%g' 300 | xargs touch -d @1; mkdir d; cp -a s d/1
      head -c 10M /dev/urandom > s/large`);
    const line = 'rdcp -a --link-dest ../1 h1:"$PWD/s/" h2:"$PWD/d/2"';
    const running = lab.start(`exec ${line} --limit 4M`);
    await eventually(() => expect(hiddenBytes(at('d/2'))).to.be.above(MIB));
    signalProcess(running.pid, 'SIGKILL');
    await running.result;
    await lab.expectNothingLeft();
    await succeed(line);
    expectCopy(at('s'), at('d/2'));
    expect(lstatSync(at('d/2/300')).ino).to.equal(lstatSync(at('d/1/300')).ino);
  });

  it('accepts a DIR for a single file, an absolute one, and the nearest of several', async () => {
    await succeed(`mkdir s d; echo 1 > s/a; cp -a s d/1; cp -a s d/2; touch -d @1 d/1/a
      rdcp --link-dest 2 s/a d/a; test d/a -ef d/2/a
      rdcp -a --link-dest "$PWD/d/1" --link-dest ../2 s/ d/3; test d/3/a -ef d/2/a
      rdcp -a --mkpath --link-dest ../../2 s/ d/new/4/; test d/new/4/a -ef d/2/a`);
  });

  it('compares contents with --checksum', async () => {
    await succeed(`mkdir -p s d/1; echo 1 > s/a; echo 1 > s/b; echo 1 > d/1/a; echo 2 > d/1/b
      touch -d @1 s/a s/b d/1/a d/1/b; rdcp -r --checksum --link-dest ../1 s/ d/2
      test d/2/a -ef d/1/a; [ ! d/2/b -ef d/1/b ]; cmp s/b d/2/b`);
  });

  it('plans the links', async () => {
    const { text } = await lab.sh(`mkdir s d; echo 1 > s/a; cp -a s d/1; rdcp -an --link-dest ../1 s/ d/2`);
    expect(text)
      .to.match(/^link +a -> \.\.\/1\/a$/m)
      .and.to.match(/would copy 0 files, .*; make 1 link;/);
  });

  it('fails before anything is copied if DIR cannot be used', async () => {
    await succeed('mkdir s d; echo 1 > s/a');
    for (const [directory, message] of [
      ['../none', 'cannot open the directory ../none of --link-dest, relative to d/2: no such file or directory'],
      ['1', 'cannot open the directory 1 of --link-dest, relative to d/2: no such file or directory'],
      ['/proc', '/proc of --link-dest is on another file system than the target d/2 (hard links need the same one)'],
    ] as const) {
      const { status, stderr } = await lab.sh(`rdcp -a --link-dest ${directory} s/ d/2`);
      expect({ status, stderr }).to.deep.equal({
        status: 125,
        stderr: `rdcp: cannot continue: this machine: ${message}\n`,
      });
      expect(existsSync(at('d/2'))).to.equal(false);
    }
  });

  it('fails rather than copy into DIR', async () => {
    const { status, stderr } = await lab.sh(`mkdir s d; echo 1 > s/a; rdcp -a --link-dest . s/ d; ls d`);
    expect(status).to.equal(0); // of ls
    expect(stderr).to.include('the copy would go into the directory of --link-dest, and change it');
    expect(readdirSync(at('d'))).to.deep.equal([]);
  });
});

describe('compare with --link-dest', () => {
  const on = useCompare();
  const LINKED = { link_dests: ['../old'] };
  const DIRECTORY = 'directory ../old ../old/d; file ../old/d/f;';
  const inD = (...records: readonly Parameters<typeof on.passed>[0][number][]) => [enter('d'), ...records, LEAVE];

  for (const [title, script, record, want] of [
    ['the same file', '', file('f'), 'link'],
    ['another time', '', file('f', { seconds: 7 }), 'all'],
    ['another mode', '', file('f', { mode: 0o100755 }), 'all'],
    ['another size', '', file('f', { size: 6 }), 'all'],
    ['a symbolic link', 'symlink ../old/d/l x;', symlink('l', 'x'), 'link'],
    ['no such entry', '', symlink('l', 'x'), 'all'],
    ['a file in a directory that is a symbolic link', 'mv ../old/d ../old/e; ln -s e ../old/d;', file('f'), 'all'],
    ['a file that the target has', 'directory d; file d/f;', file('f'), undefined],
    ['a file whose metadata differs at the target', 'directory d; file d/f; chmod 600 d/f;', file('f'), 'link'],
    ['a shared file with other metadata', 'directory d; ln ../old/d/f d/f;', file('f', { mode: 0o100755 }), 'all'],
  ] as const)
    it(`${title}: ${want ?? 'does not pass'}`, async () => {
      on.make(`rm -rf ../old; ${DIRECTORY} ${script}`);
      const passed = await on.passed(inD(record), LINKED);
      const expected = want === undefined ? [] : [`${record.type} ${record.name} ${want}`];
      expect(passed.filter((words) => !/^(enter|leave)/.test(words))).to.deep.equal(expected);
    });
});

const MIB = 1024 * 1024;

/** Paths below `root` in order, as binary strings. */
function pathsBelow(root: string): readonly string[] {
  const { stdout } = execaSync('find', [root, '-mindepth', '1', '-printf', '%P\\0'], { encoding: 'latin1' });
  return stdout.split('\0').slice(0, -1).sort();
}

function statusOf(root: string, path: string): Stats {
  return lstatSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, 'latin1')]));
}

/** For each entry of the two snapshots its type, its number of names, and the first of them. */
function linksOf(root: string): readonly string[] {
  const first = new Map<number, string>();
  return pathsBelow(root).map((path) => {
    const { ino, mode, nlink } = statusOf(root, path);
    if (!first.has(ino)) first.set(ino, path);
    return `${path}: ${mode.toString(8)} ${nlink} ${first.get(ino)}`;
  });
}

/** Everything about the entries that a copy could change, except the number of names. */
function stateOf(root: string): readonly string[] {
  return pathsBelow(root).map((path) => {
    const { ino, mode, uid, gid, size, mtimeMs } = statusOf(root, path);
    return [path, ino, mode, uid, gid, size, mtimeMs].join(' ');
  });
}

function hiddenBytes(directory: string): number {
  if (!existsSync(directory)) return 0;
  const names = readdirSync(directory).filter((name) => name.startsWith('.rdcp'));
  return names.reduce((sum, name) => sum + lstatSync(join(directory, name)).size, 0);
}
