import {
  chmodSync,
  existsSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { needsRoot } from '../../../../test/support/needs.ts';
import { walkPath } from '../../src/config/path-walk.ts';

describe('the directory of a path', () => {
  let directory: string;
  const file = (name: string) => join(directory, name);
  const write = (path: string) => walkPath(file(path), (end) => writeFileSync(end.path, 'new'));
  const descriptors = () => readdirSync('/proc/self/fd').length;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'rdpipe-test-place-'));
    mkdirSync(file('a'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  for (const target of ['f', './f', '../a//./f', 'nothing/../f'])
    it(`is where a link to ${target} leads, whether the target exists or not`, () => {
      mkdirSync(file('a/nothing'));
      symlinkSync(target, file('a/link'));
      symlinkSync(directory, file('way'));
      const before = descriptors();
      for (const path of ['a/link', 'way/a/link']) {
        write(path);
        expect(readFileSync(file('a/f'), 'utf8')).to.equal('new');
        rmSync(file('a/f'));
      }
      expect(descriptors()).to.be.at.most(before);
    });

  for (const [path, code] of [
    ['none/f', 'ENOENT'],
    ['f/', 'ENOENT'],
    ['file/f', 'ENOTDIR'],
    ['file/', 'ENOTDIR'],
    ['a', 'EISDIR'],
    ['a/..', 'EISDIR'],
    ['n'.repeat(256), 'ENAMETOOLONG'],
  ] as const)
    it(`fails for ${path.slice(0, 8)}: ${code}`, () => {
      writeFileSync(file('file'), 'old');
      const before = descriptors();
      expect(() => write(path))
        .to.throw()
        .with.property('code', code);
      expect(descriptors()).to.be.at.most(before);
    });

  it('follows at most 40 links', () => {
    for (let i = 0; i <= 40; i += 1) symlinkSync(`l${i + 1}`, file(`l${i}`));
    write('l1');
    expect(readFileSync(file('l41'), 'utf8')).to.equal('new');
    expect(() => write('l0')).to.throw('too many symbolic links');
  });

  it('stays in its directory when another directory takes the name', () => {
    mkdirSync(file('elsewhere'));
    walkPath(file('a/f'), (end) => {
      renameSync(file('a'), file('moved'));
      symlinkSync('elsewhere', file('a'));
      writeFileSync(end.path, 'new');
    });
    expect([existsSync(file('moved/f')), existsSync(file('elsewhere/f'))]).to.deep.equal([true, false]);
  });

  for (const [mode, owner, isRefused] of [
    [0o1777, 1234, true],
    [0o1770, 1234, true],
    [0o1777, 65534, true],
    [0o1777, 0, false],
    [0o1755, 1234, false],
    [0o777, 1234, false],
  ] as const)
    it(`${isRefused ? 'refuses' : 'follows'} links of ${owner} in a directory of mode ${mode.toString(8)}`, function () {
      needsRoot(this);
      symlinkSync('../f', file('a/link'));
      symlinkSync('..', file('a/way'));
      for (const name of ['link', 'way']) lchownSync(file(`a/${name}`), owner, owner);
      chmodSync(file('a'), mode);
      for (const path of ['a/link', 'a/way/f']) {
        if (isRefused) expect(() => write(path)).to.throw(`is a link of user ${owner} (name its target instead)`);
        else write(path);
      }
      expect(existsSync(file('f'))).to.equal(!isRefused);
    });

  for (const mode of [0o777, 0o1777])
    it(`follows no link in another user's directory of mode ${mode.toString(8)} in a shared one`, function () {
      needsRoot(this);
      mkdirSync(file('a/part'));
      symlinkSync('../../f', file('a/part/link'));
      symlinkSync('../..', file('a/part/way'));
      symlinkSync('../../f', file('a/part/own'));
      for (const name of ['part', 'part/link', 'part/way']) lchownSync(file(`a/${name}`), 1234, 0);
      chmodSync(file('a/part'), mode);
      chmodSync(file('a'), 0o1777);
      for (const [path, owner] of [
        ['a/part/link', 1234],
        ['a/part/way/f', 1234],
        ['a/part/own', 0],
      ] as const)
        expect(() => write(path)).to.throw(`another user's part of a shared directory, is a link of user ${owner}`);
      expect(existsSync(file('f'))).to.equal(false);
      write('a/part/f');
      expect(readFileSync(file('a/part/f'), 'utf8')).to.equal('new');
    });

  it("refuses files of third users in another user's directory that is shared itself", function () {
    needsRoot(this);
    mkdirSync(file('a/part'));
    writeFileSync(file('a/part/g'), 'old');
    writeFileSync(file('a/theirs'), 'old');
    for (const [name, owner] of [
      ['part', 1234],
      ['part/g', 1235],
      ['theirs', 1234],
    ] as const)
      lchownSync(file(`a/${name}`), owner, 0);
    for (const name of ['a/part', 'a']) chmodSync(file(name), 0o1777);
    for (const path of ['a/part/g', 'a/part/../theirs']) expect(() => write(path)).to.throw('is a file of user 123');
    lchownSync(file('a/part/g'), 1234, 0);
    write('a/part/g');
    expect(readFileSync(file('a/part/g'), 'utf8')).to.equal('new');
  });
});
