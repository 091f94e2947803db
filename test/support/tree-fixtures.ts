// SPDX-License-Identifier: Apache-2.0
// Creates identical trees with everything that a copy can lose.
// They contain links, holes, times, modes, attributes, and names with any bytes.
import {
  chmodSync,
  closeSync,
  ftruncateSync,
  lchownSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { execaSync } from 'execa';
import { lots } from './sample.ts';

/** A part of a tree, in a directory with the part's name. */
interface Part {
  readonly name: string;
  /** Only root can create the part. */
  readonly byRoot?: true;
  make(root: string): void;
}

const MIB = 1024 * 1024;
const LONGEST_NAME = 255;
const LONGEST_LINK = 4095;
const DEPTH = 200;
/** A time with nanoseconds, to check that they are preserved. */
const WHEN = '@1600000000.123456789';

const PARTS: readonly Part[] = [
  { name: 'contents', make: makeContents },
  { name: 'links', make: makeHardLinks },
  { name: 'holes', make: makeHoles },
  { name: 'modes', make: makeModes },
  { name: 'acls', make: makeAcls },
  { name: 'attributes', make: makeAttributes },
  { name: 'special', make: makeFifos },
  { name: 'devices', byRoot: true, make: makeDevices },
  { name: 'owners', byRoot: true, make: makeOwners },
  { name: 'symlinks', make: makeSymlinks },
  { name: 'names', make: makeNames },
  { name: 'read-only', make: makeReadOnly },
  { name: 'times', make: () => {} },
];

/** Creates a directory with all parts that this user can create. */
export function makeTree(root: string): void {
  mkdirSync(root);
  const parts = PARTS.filter(({ byRoot }) => !byRoot || process.getuid?.() === 0);
  for (const { name, make } of parts) {
    mkdirSync(join(root, name));
    make(join(root, name));
  }
  setTimes(root);
  makeTimes(join(root, 'times'));
}

/** Changes a tree of makeTree() in every respect, as between two copies. */
export function changeTree(root: string): void {
  const at = (path: string) => join(root, path);
  writeFileSync(at('contents/3'), bytes(3000, 99)); // same size as before
  writeFileSync(at('contents/4'), bytes(50_000, 100));
  writeFileSync(at('contents/5'), '');
  rmSync(at('contents/6'));
  replace(at('contents/7'), () => mkdirSync(at('contents/7')));
  writeFileSync(at('contents/7/now in a directory'), 'x');
  replace(at('contents/empty directory'), () => writeFileSync(at('contents/empty directory'), 'now a file'));
  rmSync(at('contents/sub'), { recursive: true });
  renameSync(at('contents/8'), at('contents/another name'));
  writeFileSync(at('links/a/new'), 'new\n');
  linkSync(at('links/a/new'), at('links/b/new'));
  replace(at('links/b/other'), () => writeFileSync(at('links/b/other'), 'no longer the same file\n'));
  writeHole(at('holes/middle'), 5 * MIB, [[2 * MIB, 4096]]);
  chmodSync(at('modes/644'), 0o600);
  chmodSync(at('modes/directory 2755'), 0o700);
  run('setfacl', '-b', at('acls/file'));
  run('setfacl', '-k', at('acls/directory'));
  run('setfattr', '-x', 'user.one', at('attributes/file'));
  run('setfattr', '-n', 'user.more', '-v', 'more', at('attributes/file'));
  replace(at('symlinks/dangling'), () => symlinkSync('elsewhere', at('symlinks/dangling')));
  replace(at('symlinks/to a directory'), () => mkdirSync(at('symlinks/to a directory')));
  replace(at('special/fifo'), () => writeFileSync(at('special/fifo'), 'now a file'));
  run('touch', '-d', '@1650000000.000000001', at('times/plain'));
}

/** Creates nested directories, each with a file, whose path is longer than the kernel accepts. */
export function makeDeepTree(root: string): void {
  mkdirSync(root);
  inside(root, () => {
    for (let level = 0; level < DEPTH; level += 1) {
      writeFileSync('file', `${level}\n`);
      mkdirSync(deepName(level));
      process.chdir(deepName(level));
    }
  });
}

/** Creates a directory with `count` empty files, quickly. */
export function makeManyEntries(root: string, count: number): void {
  mkdirSync(root);
  inside(root, () => {
    for (let number = 0; number < count; number += 1) closeSync(openSync(`entry-${number}`, 'w'));
  });
}

/** Creates many small files in many directories, like the dependencies of a project. */
export function makeSmallFiles(root: string, directories: number, filesOfEach: number): void {
  mkdirSync(root);
  for (let directory = 0; directory < directories; directory += 1) {
    const path = join(root, `package-${directory}`);
    mkdirSync(path);
    for (let file = 0; file < filesOfEach; file += 1)
      writeFileSync(join(path, `file-${file}.js`), bytes(1024 + ((directory + file) % 7) * 512, directory + file));
  }
}

/** Writes a file with blocks of 4096 bytes at some offsets, and holes between them. */
export function writeHole(
  path: string,
  size: number,
  data: readonly (readonly [offset: number, length: number])[],
): void {
  const file = openSync(path, 'w');
  try {
    ftruncateSync(file, size);
    for (const [offset, length] of data) writeSync(file, bytes(length, offset), 0, length, offset);
  } finally {
    closeSync(file);
  }
}

/** Pseudo-random bytes that depend only on the seed. */
export function bytes(count: number, seed: number): Buffer {
  const next = lots(seed + 1);
  const buffer = Buffer.alloc(Math.ceil(count / 4) * 4);
  for (let place = 0; place < buffer.length; place += 4) buffer.writeUInt32LE(next(), place);
  return buffer.subarray(0, count);
}

function makeContents(root: string): void {
  for (let number = 0; number < 20; number += 1) writeFileSync(join(root, `${number}`), bytes(number * 1000, number));
  writeFileSync(join(root, 'large'), bytes(9 * MIB + 1, 7));
  writeFileSync(join(root, 'empty file'), '');
  for (const path of ['empty directory', 'sub', 'sub/sub', 'sub/empty']) mkdirSync(join(root, path));
  for (const path of ['sub/file', 'sub/sub/file']) writeFileSync(join(root, path), path);
}

function makeHardLinks(root: string): void {
  for (const name of ['a', 'b', 'c']) mkdirSync(join(root, name));
  for (const name of ['first', 'other']) {
    writeFileSync(join(root, 'b', name), `of ${name}\n`);
    for (const other of ['a', 'c']) linkSync(join(root, 'b', name), join(root, other, `${name} too`));
  }
  symlinkSync('nowhere', join(root, 'b/symlink'));
  linkSync(join(root, 'b/symlink'), join(root, 'c/symlink too'));
  run('mkfifo', join(root, 'a/fifo'));
  linkSync(join(root, 'a/fifo'), join(root, 'c/fifo too'));
}

function makeHoles(root: string): void {
  writeHole(join(root, 'all'), 16 * MIB, []);
  writeHole(join(root, 'middle'), 8 * MIB, [
    [0, 4096],
    [8 * MIB - 4096, 4096],
  ]);
  writeHole(join(root, 'ends'), 3 * MIB + 5, [[MIB, 65_536]]);
  writeHole(join(root, 'large'), 256 * MIB, [[200 * MIB, 5000]]);
}

/** `touch -h` sets the times of symbolic links too; directories come after their contents. */
function setTimes(root: string): void {
  run('find', root, '-depth', '-execdir', 'touch', '-h', '-d', WHEN, '{}', '+');
}

function makeTimes(root: string): void {
  const times = { plain: '@1234567890.000000001', last: '@4000000000.999999999', before: '@-1000000.5', epoch: '@0' };
  for (const [name, time] of Object.entries(times)) {
    writeFileSync(join(root, name), name);
    run('touch', '-d', time, join(root, name));
  }
  symlinkSync('plain', join(root, 'link'));
  run('touch', '-h', '-d', '@1111111111.111111111', join(root, 'link'));
  mkdirSync(join(root, 'directory'));
  run('touch', '-d', '@1222222222.222222222', join(root, 'directory'), root);
}

function makeModes(root: string): void {
  for (const mode of ['000', '400', '644', '777', '1644', '2755', '4755', '6711']) {
    writeFileSync(join(root, mode), mode);
    chmodSync(join(root, mode), Number.parseInt(mode, 8));
  }
  for (const mode of ['700', '1777', '2755']) {
    mkdirSync(join(root, `directory ${mode}`));
    chmodSync(join(root, `directory ${mode}`), Number.parseInt(mode, 8));
  }
}

function makeAcls(root: string): void {
  writeFileSync(join(root, 'file'), 'x');
  run('setfacl', '-m', 'u:1234:rw,g:4321:r', join(root, 'file'));
  mkdirSync(join(root, 'directory'));
  run('setfacl', '-m', 'u:1234:rwx,d:u:1234:rx,d:g:4321:rwx', join(root, 'directory'));
  writeFileSync(join(root, 'directory/inherits'), 'x');
  mkdirSync(join(root, 'directory/inherits too'));
  writeFileSync(join(root, 'directory/without'), 'x');
  run('setfacl', '-b', join(root, 'directory/without'));
}

function makeAttributes(root: string): void {
  writeFileSync(join(root, 'file'), 'x');
  mkdirSync(join(root, 'directory'));
  run('setfattr', '-n', 'user.one', '-v', 'a value', join(root, 'file'));
  run('setfattr', '-n', 'user.any bytes', '-v', '0x00ff0a22', join(root, 'file'));
  run('setfattr', '-n', 'user.empty', join(root, 'file'));
  run('setfattr', '-n', 'user.large', '-v', 'v'.repeat(2000), join(root, 'directory'));
  if (process.getuid?.() === 0) run('setfattr', '-n', 'trusted.one', '-v', 'of root', join(root, 'file'));
}

function makeFifos(root: string): void {
  run('mkfifo', '-m', '640', join(root, 'fifo'));
}

function makeDevices(root: string): void {
  run('mknod', '-m', '600', join(root, 'zero'), 'c', '1', '5');
  run('mknod', '-m', '660', join(root, 'loop'), 'b', '7', '77');
}

/** Owners without a user name, and one with a name. */
function makeOwners(root: string): void {
  for (const [name, user, group] of [
    ['numbers', 54_321, 12_345],
    ['nobody', 65_534, 65_534],
    ['daemon', 1, 1],
  ] as const) {
    writeFileSync(join(root, name), name);
    mkdirSync(join(root, `directory of ${name}`));
    symlinkSync(name, join(root, `link of ${name}`));
    for (const path of [name, `directory of ${name}`, `link of ${name}`]) lchownSync(join(root, path), user, group);
  }
  chmodSync(join(root, 'daemon'), 0o6755); // a change of owner clears these bits
}

function makeSymlinks(root: string): void {
  for (const [name, target] of [
    ['dangling', 'not/there'],
    ['to a directory', '../contents'],
    ['to itself', 'to itself'],
    ['loop a', 'loop b'],
    ['loop b', 'loop a'],
    ['absolute', '/etc/passwd'],
    ['out', '../../../../..'],
    ['longest', `${'d/'.repeat(LONGEST_LINK / 2)}x`],
  ] as const)
    symlinkSync(target, join(root, name));
}

function makeNames(root: string): void {
  const names = [
    ' ',
    ' leading and trailing ',
    '-rf',
    '--help',
    '...',
    '.hidden',
    '~',
    '$(touch ran)',
    'quotes \' " `',
    'back\\slash',
    'new\nline',
    'tab\tbell\u0007escape\u001b[31m',
    'host:path',
    'star * ? [a]',
    '#comment',
    'ünïcödé 文字 🙂',
    'x'.repeat(LONGEST_NAME),
    '.rdcp-looks-like-ours',
  ].map((name) => Buffer.from(name));
  const bytesOnly = [Buffer.from([0xff, 0xfe, 0x80]), Buffer.from([0xc3]), Buffer.from([0x01, 0x7f])];
  for (const name of [...names, ...bytesOnly]) {
    const path = Buffer.concat([Buffer.from(`${root}/`), name]);
    writeFileSync(path, name);
  }
  const directory = Buffer.concat([Buffer.from(`${root}/directory `), Buffer.from([0xff, 0x0a])]);
  mkdirSync(directory);
  writeFileSync(Buffer.concat([directory, Buffer.from('/file')]), 'x');
}

/** To copy into these directories, a user must make them writable briefly, or write before setting the mode. */
function makeReadOnly(root: string): void {
  mkdirSync(join(root, 'directory/inner'), { recursive: true });
  for (const path of ['directory/file', 'directory/inner/file']) {
    writeFileSync(join(root, path), path);
    chmodSync(join(root, path), 0o444);
  }
  for (const path of ['directory/inner', 'directory']) chmodSync(join(root, path), 0o555);
}

function deepName(level: number): string {
  return `${level}-`.padEnd(level % 10 === 0 ? LONGEST_NAME : 60, 'd');
}

/** Runs `work` in the directory, with relative paths: absolute paths may be too long. */
function inside(root: string, work: () => void): void {
  const before = process.cwd();
  process.chdir(root);
  try {
    work();
  } finally {
    process.chdir(before);
  }
}

function replace(path: string, make: () => void): void {
  unlinkOrRemove(path);
  make();
}

function unlinkOrRemove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    rmSync(path, { recursive: true });
  }
}

function run(program: string, ...words: readonly string[]): void {
  execaSync(program, words);
}
