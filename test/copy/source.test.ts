// SPDX-License-Identifier: Apache-2.0
// The source side of a copy: scan, read and clean, each run separately on real files.
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { eventually } from '../support/eventually.ts';
import { useFaultyFs } from '../support/faulty-fs.ts';
import { needsRoot, needsTool } from '../support/needs.ts';
import { type Program, useBench } from '../support/programs.ts';
import { output } from '../support/run-program.ts';
import {
  ANN,
  AS_ANN,
  decodeTree,
  END,
  encodeRecord,
  encodeTree,
  inText,
  LEAVE,
  MIB,
  PHASE,
  STATE,
  startTree,
  type TextSettings,
  type TreeRecord,
  WANT,
} from '../support/tree-stream.ts';

const DATA_DAMAGED = 8;
/** XXH3-128 of no bytes. */
const EMPTY_DIGEST = '99aa06d3014798d86001c324468d497f';
const DIRECTORY = { mode: 0o40755, uid: 0, gid: 0, ns: 0, seconds: 1, source: 0, want: WANT.all };
const FILE = { ...DIRECTORY, mode: 0o100644 };

interface Result {
  readonly status: number | null;
  readonly records: readonly TreeRecord[];
  readonly failed: readonly string[];
  readonly warnings: readonly string[];
}

describe('the source of a copy', () => {
  const bench = useBench();
  let count = 0;
  let at = '';

  beforeEach(() => {
    at = bench.path(`t${count++}`);
    mkdirSync(at);
    chmodSync(bench.directory, 0o755);
  });
  // rm, because paths in it may be too long for a system call.
  afterEach(() => execaSync('rm', ['-rf', at]));

  async function run(
    settings: TextSettings,
    input: Uint8Array = new Uint8Array(),
    through: readonly string[] = [],
  ): Promise<Result> {
    const program = startTree(bench, settings, 'pipe', through);
    program.child.stdin?.on('error', () => {}); // the program may end before it has read all
    program.child.stdin?.end(input);
    return resultOf(program);
  }

  function scan(settings: Omit<TextSettings, 'role'>, input = '', through: readonly string[] = []): Promise<Result> {
    return run({ role: 'scan', ...settings }, Buffer.from(input, 'latin1'), through);
  }

  function read(sources: readonly string[], records: readonly TreeRecord[], more: Partial<TextSettings> = {}) {
    return run({ role: 'read', sources, recursive: true, ...more }, encodeTree(PHASE.decisions, [...records, END]));
  }

  describe('scan', () => {
    it('takes a path as the user named it', async () => {
      mkdirSync(`${at}/d`);
      writeFileSync(`${at}/d/f`, '1');
      symlinkSync('d', `${at}/link`);
      writeFileSync(`${at}/file`, '22');
      const all = { recursive: true };
      expect(outline(await scan({ ...all, sources: [`${at}/d`] }))).to.equal('d/ d/f');
      expect(outline(await scan({ ...all, sources: [`${at}/d/`] }))).to.equal('/ f');
      expect(outline(await scan({ ...all, sources: [`${at}/d/.`] }))).to.equal('/ f');
      expect(outline(await scan({ ...all, sources: [`${at}/link`] }))).to.equal('link->d');
      expect(outline(await scan({ ...all, sources: [`${at}/link/`] }))).to.equal('/ f');
      const home = ['env', `HOME=${at}`];
      expect(outline(await scan({ ...all, sources: ['~/d', '~/file', '~/'] }, '', home))).to.equal(
        'd/ d/f file / file link->d d/ d/f',
      );
      const both = await scan({ ...all, sources: [`${at}/none`, `${at}/file`, `${at}/file/`] });
      expect(both.records.filter(({ type }) => type === 'file')).to.deep.include.members([
        { ...entryOf(`${at}/file`), type: 'file', name: 'file', source: 1, want: 0, size: 2 },
      ]);
      expect(both.failed).to.deep.equal([
        `${at}/none: cannot read: no such file or directory`,
        `${at}/file: cannot read: not a directory`,
      ]);
      expect(both.records.at(-1)).to.deep.equal({ type: 'end', entries: 3, bytes: 2, failures: 2 });
    });

    it('sends a directory only with -r', async () => {
      writeFileSync(`${at}/f`, '');
      mkdirSync(`${at}/d`);
      const result = await scan({ sources: [`${at}/d`, `${at}/f`] });
      expect(outline(result)).to.equal('!d f');
      expect(result.failed).to.deep.equal([`${at}/d: is a directory (to copy it, use -r)`]);
    });

    it('sends metadata, non-directories first, in byte order', async () => {
      for (const directory of ['a', 'z', 'a/b']) mkdirSync(`${at}/${directory}`);
      for (const file of ['y', 'B', 'a/c', '\u00ff']) writeFileSync(`${at}/${file}`, file);
      utimesSync(`${at}/y`, 1, 1_500_000_000.25);
      const result = await scan({ sources: [`${at}/`], recursive: true });
      expect(outline(result)).to.equal(`/ B y ${Buffer.from('\u00ff').toString('latin1')} a/ a/c a/b/ z/`);
      expect(result.records.find(({ name }) => name === 'y')).to.include({ seconds: 1_500_000_000, ns: 250_000_000 });
      expect(result.records.filter(({ type }) => type === 'leave').map(({ whole }) => whole)).to.deep.equal([
        1, 1, 1, 1,
      ]);
    });

    it('sends names of any bytes', async () => {
      const bytes = [...Array(256).keys()].filter((byte) => byte !== 0 && byte !== 47);
      const names = [bytes.slice(0, 127), bytes.slice(127)].map((part) => Buffer.from(part));
      for (const name of names) writeFileSync(Buffer.concat([Buffer.from(`${at}/`), name]), '');
      const result = await scan({ sources: [`${at}/`], recursive: true });
      const found = result.records.flatMap(({ type, name }) => (type === 'file' ? [name] : []));
      expect(found).to.deep.equal(names.map((name) => name.toString('latin1')));
    });

    it('sends hard links with -a, across directories and sources', async () => {
      for (const directory of ['d', 'd/sub', 'e']) mkdirSync(`${at}/${directory}`);
      writeFileSync(`${at}/d/z`, 'abc');
      linkSync(`${at}/d/z`, `${at}/d/sub/y`);
      linkSync(`${at}/d/z`, `${at}/e/x`);
      const sources = [`${at}/d`, `${at}/e/`];
      const result = await scan({ sources, recursive: true, archive: true });
      expect(outline(result)).to.equal('d/ d/z d/sub/ d/sub/y=d/z / x=d/z');
      expect(result.records.at(-1)).to.include({ entries: 6, bytes: 3 });
      expect(outline(await scan({ sources, recursive: true }))).to.equal('d/ d/z d/sub/ d/sub/y / x');
      const below = await scan({ sources: [`${at}/d/`], recursive: true, archive: true });
      expect(outline(below)).to.equal('/ z sub/ sub/y=z');
      const twice = await scan({ sources: [`${at}/d/z`, `${at}/d/z`], archive: true });
      expect(outline(twice)).to.equal('z z');
    });

    it('sends the names of owners once, with -a', async function () {
      needsRoot(this);
      for (const name of ['a', 'b', 'c']) writeFileSync(`${at}/${name}`, '');
      chownSync(`${at}/b`, 1, 4_000_000_000);
      const owners = async (archive: boolean) =>
        (await scan({ sources: [`${at}/`], recursive: true, archive })).records.filter(({ type }) => type === 'owner');
      const daemon = output('getent', ['passwd', '1']).toString().split(':')[0];
      expect(await owners(true)).to.deep.equal([
        { type: 'owner', group: 0, id: 0, name: 'root' },
        { type: 'owner', group: 1, id: 0, name: 'root' },
        { type: 'owner', group: 0, id: 1, name: daemon },
      ]);
      expect(await owners(false)).to.deep.equal([]);
    });

    it('sends special files, and without -a says that they are skipped', async () => {
      execaSync('mkfifo', [`${at}/fifo`]);
      expect(outline(await scan({ sources: [`${at}/`], recursive: true, archive: true }))).to.equal('/ fifo(0)');
      const without = await scan({ sources: [`${at}/`], recursive: true });
      expect(outline(without)).to.equal('/ fifo(0)');
      expect(without.warnings).to.deep.equal(['1 special file was skipped (to copy it, use -a)']);
      expect(without.records.at(-1)).to.include({ failures: 0 });
    });

    it('skips excluded paths and other file systems', async function () {
      needsRoot(this);
      needsTool(this, 'unshare');
      for (const directory of ['d', 'd/out', 'd/out/deep', 'd/mounted']) mkdirSync(`${at}/${directory}`);
      for (const file of ['d/a', 'd/a.o', 'd/out/b', 'd/mounted/c']) writeFileSync(`${at}/${file}`, '');
      const mounted = ['unshare', '--mount', 'sh', '-c', `mount -t tmpfs none ${at}/d/mounted; exec "$@"`, 'sh'];
      const patterns = [
        { include: false, pattern: 'out/' },
        { include: false, pattern: '/*.o' },
      ];
      const result = await scan(
        { sources: [`${at}/d`], recursive: true, patterns, one_file_system: true },
        '',
        mounted,
      );
      expect(outline(result)).to.equal('d/ d/a d/mounted/');
      expect(result.records.filter(({ type }) => type === 'leave').map(({ whole }) => whole)).to.deep.equal([0, 1]);
    });

    it('skips the target of the same run', async () => {
      mkdirSync(`${at}/d/.rdcp`, { recursive: true });
      writeFileSync(`${at}/d/.rdcp/0`, '');
      const result = await scan({ sources: [at], recursive: true });
      const [name] = at.split('/').slice(-1);
      expect(outline(result)).to.equal(`${name}/ ${name}/d/`);
      expect(result.failed).to.have.length(1);
      expect(result.failed[0]).to.match(/\/d: skipped: it is the destination of this copy/);
      expect((await scan({ sources: [`${at}/d/`], recursive: true })).failed).to.deep.equal([]);
    });

    it('skips the target on the same host', async () => {
      mkdirSync(`${at}/d/e`, { recursive: true });
      const [name] = at.split('/').slice(-1);
      const there = await scan({ sources: [at], target: `${at}/d/`, recursive: true });
      expect(outline(there)).to.equal(`${name}/`);
      expect(there.warnings).to.deep.equal(['DST was not copied, because it is inside SRC']);
      expect(there.records.filter(({ type }) => type === 'leave').map(({ whole }) => whole)).to.deep.equal([0]);
      const whole = await scan({ sources: [`${at}/`], target: at, recursive: true });
      expect(outline(whole)).to.equal('/ d/ d/e/');
      const itself = await scan({ sources: [at], target: at, recursive: true });
      expect(itself.failed).to.deep.equal([`${at}: cannot be copied into itself`]);
    });

    it('continues if a directory cannot be read', async function () {
      needsRoot(this);
      needsTool(this, 'setpriv');
      for (const directory of ['shut', 'open']) mkdirSync(`${at}/${directory}`);
      writeFileSync(`${at}/open/f`, '');
      chmodSync(`${at}/shut`, 0o700);
      const result = await scan(
        { sources: [at], recursive: true, archive: true, xattrs: true, acls: true },
        '',
        AS_ANN,
      );
      expect(result.failed).to.deep.equal([`${at}/shut: cannot read: permission denied`]);
      expect(result.status).to.equal(0);
      expect(result.records.filter(({ type }) => type === 'leave').map(({ whole }) => whole)).to.deep.equal([1, 0, 1]);
      expect(result.records.at(-1)).to.include({ failures: 1 });
    });

    it('sends digests for --checksum', async () => {
      const content = Buffer.alloc(3 * MIB + 1, 'x');
      for (const [name, bytes] of Object.entries({ a: content, b: content, c: '', d: 'y' }))
        writeFileSync(`${at}/${name}`, bytes);
      const { records } = await scan({ sources: [`${at}/`], recursive: true, checksum: true });
      const [a, b, c, d] = records.filter(({ type }) => type === 'file').map(({ digest }) => digest);
      expect(a).to.equal(b);
      expect(c).to.equal(EMPTY_DIGEST);
      expect(new Set([a, c, d]).size).to.equal(3);
    });

    it('sends only the paths of a list', async () => {
      for (const directory of ['d', 'd/e', 'd/e/g', 'd/out']) mkdirSync(`${at}/${directory}`);
      for (const file of ['d/a', 'd/b', 'd/e/f', 'd/e/g/h', 'd/out/i']) writeFileSync(`${at}/${file}`, '');
      symlinkSync('e', `${at}/d/link`);
      const list = ['./e/f', 'e//g/', 'b', '../d/a', '/etc/passwd', 'link/f', 'none', 'out/i', 'link', 'a/'];
      const settings = { sources: [`${at}/d`], patterns: [{ include: false, pattern: 'out' }] };
      const lines = await scan({ ...settings, list: 'lines' }, list.join('\n'));
      expect(outline(lines)).to.equal('d/ d/e/ d/e/f d/e/g/ d/b !d/link !d/none d/link->e !d/a');
      expect(lines.failed).to.deep.equal([
        `${at}/d/../d/a: not copied: it is not a path below the source`,
        `${at}/d//etc/passwd: not copied: it is not a path below the source`,
        `${at}/d/link: cannot read: too many levels of symbolic links`,
        `${at}/d/none: cannot read: no such file or directory`,
        `${at}/d/a: cannot read: not a directory`,
      ]);
      expect(lines.records.filter(({ type, whole }) => type === 'leave' && whole !== 0)).to.deep.equal([]);
      const deep = { ...settings, list: 'nul', recursive: true } as const;
      expect(outline(await scan(deep, 'e\0b\0'))).to.equal('d/ d/e/ d/e/f d/e/g/ d/e/g/h d/b');
      expect(outline(await scan({ ...deep, list_text: 'e' }, '\0b\0'))).to.equal('d/ d/e/ d/e/f d/e/g/ d/e/g/h d/b');
      expect(outline(await scan(deep, './'))).to.equal('d/ d/a d/b d/link->e d/e/ d/e/f d/e/g/ d/e/g/h');
    });

    it('sends attributes and ACLs if requested', async function () {
      needsRoot(this);
      needsTool(this, 'setfattr', 'setfacl', 'setpriv');
      writeFileSync(`${at}/f`, '');
      symlinkSync('f', `${at}/link`);
      execaSync('setfattr', ['-n', 'user.note', '-v', 'mine', `${at}/f`]);
      execaSync('setfattr', ['-n', 'trusted.note', '-v', 'root', `${at}/f`]);
      execaSync('setfattr', ['-h', '-n', 'trusted.link', '-v', 'L', `${at}/link`]);
      execaSync('setfacl', ['-m', `u:${ANN}:r`, `${at}/f`]);
      execaSync('setfacl', ['-d', '-m', `u:${ANN}:r`, at]);
      const sent = async (more: Partial<TextSettings>, through: readonly string[] = []) =>
        (await scan({ sources: [at], recursive: true, ...more }, '', through)).records
          .filter(({ type }) => type === 'xattr')
          .map(({ name }) => name)
          .sort();
      expect(await sent({})).to.deep.equal([]);
      expect(await sent({ acls: true })).to.deep.equal(['system.posix_acl_access', 'system.posix_acl_default']);
      expect(await sent({ xattrs: true })).to.deep.equal(['trusted.link', 'trusted.note', 'user.note']);
      expect(await sent({ xattrs: true }, AS_ANN)).to.deep.equal(['user.note']);
      const { records } = await scan({ sources: [`${at}/f`], xattrs: true });
      expect(records.map(({ type, name, value }) => [type, name, value]).slice(0, 3)).to.have.deep.members([
        ['xattr', 'user.note', 'mine'],
        ['xattr', 'trusted.note', 'root'],
        ['file', 'f', undefined],
      ]);
      expect(records[2]?.type).to.equal('file');
    });

    it('walks a tree deeper than the longest path', async () => {
      makeDeep(at, 200, 'n'.repeat(255));
      const result = await scan({ sources: [`${at}/`], recursive: true });
      expect(result.failed).to.deep.equal([]);
      expect(result.records.at(-1)).to.include({ entries: 202 });
    });

    it('continues if descriptors run out', async function () {
      needsTool(this, 'prlimit');
      makeDeep(at, 40, 'n');
      writeFileSync(`${at}/n/z`, '');
      mkdirSync(`${at}/n/z2`);
      const result = await scan({ sources: [`${at}/`], recursive: true }, '', ['prlimit', '--nofile=20:20']);
      expect(result.failed).to.have.length(1);
      expect(result.failed[0]).to.match(/\/n: cannot read: too many open files .ulimit -n raises the limit.$/);
      expect(result.records.filter(({ name }) => name === 'z' || name === 'z2')).to.have.length(2);
    });

    it('keeps little memory for a large directory and its hard links', async function () {
      needsRoot(this);
      needsTool(this, 'unshare', 'prlimit');
      const make = `mount -t tmpfs -o nr_inodes=0 none ${at} && cd ${at} && mkdir a b && cd a &&
        seq -f %060g 100000 | xargs touch && cp -al . ../b && exec prlimit --as=${64 * MIB} "$@"`;
      const within = ['unshare', '--mount', 'sh', '-c', make, 'sh'];
      const result = await scan({ sources: [`${at}/`], recursive: true, archive: true }, '', within);
      expect(result.records.at(-1)).to.include({ entries: 200_003, failures: 0 });
      expect(result.records.filter(({ type }) => type === 'link')).to.have.length(100_000);
    });
  });

  describe('read', () => {
    const faulty = useFaultyFs();

    it('adds contents, and passes on the rest in its order', async () => {
      const contents = { empty: 0, small: 5, one: MIB, more: MIB + 1, large: 20 * MIB + 7 };
      mkdirSync(`${at}/d`);
      for (const [name, bytes] of Object.entries(contents)) writeFileSync(`${at}/d/${name}`, noise(bytes));
      const between: TreeRecord[] = [
        { type: 'remove', name: 'r' },
        { type: 'xattr', name: 'user.x', value: 'v' },
      ];
      const decisions: TreeRecord[] = [
        { type: 'place', place: 0 },
        { type: 'owner', group: 0, id: 0, name: 'root' },
        { type: 'enter', name: 'd', ...DIRECTORY },
        ...Object.entries(contents).flatMap(([name, size]) => [
          ...between,
          { type: 'file', name, size, ...FILE } as const,
        ]),
        { type: 'file', name: 'same', size: 1, ...FILE, want: WANT.metadata },
        { type: 'symlink', name: 'l', ...DIRECTORY, mode: 0o120777, target: 't' },
        { type: 'failed', name: 'x' },
        LEAVE,
      ];
      const result = await read([`${at}/d`], decisions, { archive: true, xattrs: true });
      const other = result.records.filter(({ type }) => type !== 'data' && type !== 'file_end' && type !== 'end');
      expect(other.map(({ type, name }) => [type, name])).to.deep.equal(
        decisions.map(({ type, name }) => [type, name]),
      );
      const digests = await scan({ sources: [`${at}/d`], recursive: true, checksum: true });
      for (const name of Object.keys(contents)) {
        const got = contentOf(result, name);
        expect(got.bytes.equals(readFileSync(`${at}/d/${name}`)), name).to.equal(true);
        expect(got.end).to.deep.include({ state: STATE.whole, ...metadataOf(`${at}/d/${name}`) });
        expect(got.end?.digest).to.equal(digests.records.find((record) => record.name === name)?.digest);
      }
      expect(result.records.at(-1)).to.include({ type: 'end', failures: 0 });
    });

    it('sends no holes', async () => {
      const file = `${at}/f`;
      for (const [offset, text] of [
        [0, 'begin'],
        [8 * MIB, 'middle'],
      ] as const)
        execaSync('dd', [`of=${file}`, 'conv=notrunc', 'bs=1', `seek=${offset}`], { input: text });
      truncateSync(file, 100 * MIB);
      const result = await read([file], [{ type: 'file', name: 'f', size: 100 * MIB, ...FILE }]);
      const { sent, end } = contentOf(result, 'f');
      expect(sent).to.be.lessThan(MIB);
      expect(end).to.include({ state: STATE.whole, size: 100 * MIB });
      writeFileSync(`${at}/small`, '');
      truncateSync(`${at}/small`, 100_000);
      const hole = await read([`${at}/small`], [{ type: 'file', name: 'small', size: 100_000, ...FILE }]);
      expect(contentOf(hole, 'small')).to.deep.include({ sent: 0 });
      expect(contentOf(hole, 'small').end).to.include({ state: STATE.whole, size: 100_000, digest: EMPTY_DIGEST });
    });

    it('sends the data it has before further decisions arrive', async () => {
      for (const name of ['a', 'b']) writeFileSync(`${at}/${name}`, name);
      const program = startTree(bench, { role: 'read', sources: [at], recursive: true }, 'pipe');
      const names = () => decodeTree(program.stdout()).map(({ type, name }) => name ?? type);
      program.child.stdin?.write(
        encodeTree(PHASE.decisions, [{ type: 'enter', ...DIRECTORY, name: at.split('/').pop() ?? '' }]),
      );
      for (const name of ['a', 'b']) {
        program.child.stdin?.write(encodeRecord({ type: 'file', name, size: 1, ...FILE }));
        await eventually(() => expect(names().slice(-3)).to.deep.equal([name, 'data', 'file_end']));
      }
      program.child.stdin?.end(Buffer.concat([LEAVE, END].map(encodeRecord)));
      expect((await resultOf(program)).status).to.equal(0);
    });

    it('reads a file that changes once more, then drops it', async () => {
      const file = `${at}/f`;
      writeFileSync(file, noise(32 * MIB));
      const decisions = encodeTree(PHASE.decisions, [{ type: 'file', name: 'f', size: 32 * MIB, ...FILE }, END]);
      const start = () => {
        const program = startTree(bench, { role: 'read', sources: [file] }, 'pipe');
        program.child.stdin?.end(decisions);
        return program;
      };
      // The test reads the program's output only after the file has grown.
      const once = start();
      once.child.stdout?.pause();
      await eventually(() => expect(bytesReadBy(once.pid)).to.be.greaterThan(2 * MIB));
      appendFileSync(file, 'more');
      once.child.stdout?.resume();
      const read = await resultOf(once);
      const ends = read.records.filter(({ type }) => type === 'file_end');
      expect(ends.map(({ state, size }) => [state, size])).to.deep.equal([
        [STATE.again, 0],
        [STATE.whole, 32 * MIB + 4],
      ]);
      expect(contentOf(read, 'f').bytes.equals(readFileSync(file))).to.equal(true);
      expect(read.failed).to.deep.equal([]);
      const always = start();
      always.child.stdout?.on('data', () => appendFileSync(file, '.'));
      const dropped = await resultOf(always);
      const states = dropped.records.filter(({ type }) => type === 'file_end').map(({ state }) => state);
      expect(states).to.deep.equal([STATE.again, STATE.dropped]);
      expect(dropped.failed).to.deep.equal([`${file}: changed while it was read`]);
      expect(dropped.records.at(-1)).to.include({ failures: 1 });
    });

    it('never treats a read error as the end', async () => {
      const directory = faulty.directory('read');
      writeFileSync(`${directory}/bad`, noise(3 * MIB));
      writeFileSync(`${directory}/worse`, noise(MIB + 10));
      writeFileSync(`${directory}/good`, 'good');
      const files = ['bad', 'good', 'worse'].map((name) => ({ type: 'file', name, size: 3 * MIB, ...FILE }) as const);
      const result = await read([directory], [{ type: 'enter', name: 'read', ...DIRECTORY }, ...files, LEAVE]);
      expect(result.failed).to.deep.equal([
        `${directory}/bad: cannot read: input/output error`,
        `${directory}/worse: cannot read: input/output error`,
      ]);
      expect(contentOf(result, 'bad').end).to.include({ state: STATE.dropped });
      expect(contentOf(result, 'good').bytes.toString()).to.equal('good');
      expect(result.records.at(-1)).to.include({ failures: 2 });
    });

    it('follows no link, and waits for no fifo', async () => {
      for (const directory of ['d', 'd/e', 'd/g']) mkdirSync(`${at}/${directory}`);
      writeFileSync(`${at}/secret`, 'secret');
      for (const name of ['d/link', 'd/deep']) symlinkSync('../secret', `${at}/${name}`);
      rmSync(`${at}/d/g`, { recursive: true });
      symlinkSync('..', `${at}/d/g`);
      execaSync('mkfifo', [`${at}/d/fifo`]);
      const file = (name: string) => ({ type: 'file', name, size: 6, ...FILE }) as const;
      const result = await read(
        [`${at}/d`],
        [
          { type: 'enter', name: 'd', ...DIRECTORY },
          ...['link', 'fifo', 'gone', 'e'].map(file),
          { type: 'enter', name: 'g', ...DIRECTORY },
          file('secret'),
          LEAVE,
          LEAVE,
        ],
      );
      expect(result.failed).to.deep.equal([
        `${at}/d/link: is no longer a regular file`,
        `${at}/d/fifo: is no longer a regular file`,
        `${at}/d/gone: vanished: no such file or directory`,
        `${at}/d/e: is no longer a regular file`,
        `${at}/d/g/secret: cannot read: not a directory`,
      ]);
      expect(result.records.filter(({ type }) => type === 'data')).to.deep.equal([]);
    });

    it('sends the rest of a file after the blocks that both have', async () => {
      const block = 128 << 10;
      const whole = noise(10 * block + 100);
      writeFileSync(`${at}/f`, whole);
      for (let i = 0; i < 10; i++) writeFileSync(`${at}/${i}`, whole.subarray(i * block, (i + 1) * block));
      const scanned = await scan({ sources: [...Array(10).keys()].map((i) => `${at}/${i}`), checksum: true });
      const digests = scanned.records.flatMap(({ digest }) => digest ?? []);
      const rest = async (theirs: readonly string[]) => {
        const bytes = theirs.length * block;
        const result = await read(
          [`${at}/f`],
          [
            { type: 'xattr', name: 'user.x', value: 'v' },
            { type: 'blocks', blockBytes: block, bytes, digests: theirs.join('') },
            { type: 'file', name: 'f', size: whole.length, ...FILE, want: WANT.rest },
          ],
          { xattrs: true },
        );
        expect(result.records.slice(0, 3).map(({ type }) => type)).to.deep.equal(['xattr', 'blocks', 'file']);
        const [blocks] = result.records.filter(({ type }) => type === 'blocks');
        expect(contentOf(result, 'f').bytes.equals(whole.subarray(blocks?.bytes))).to.equal(true);
        expect(contentOf(result, 'f').end).to.include({ state: STATE.whole, size: whole.length });
        expect(blocks?.digests).to.equal(theirs.join('').slice(0, (32 * (blocks?.bytes ?? 0)) / block));
        return (blocks?.bytes ?? 0) / block;
      };
      expect(await rest(digests)).to.equal(10);
      expect(await rest(digests.slice(0, 4))).to.equal(4);
      expect(await rest([...digests.slice(0, 3), EMPTY_DIGEST, ...digests.slice(4)])).to.equal(3);
      expect(await rest([...digests, EMPTY_DIGEST])).to.equal(10);
      expect(await rest([])).to.equal(0);
    });

    it('sends a hostile target nothing outside the copy', async () => {
      for (const directory of ['d', 'd/out']) mkdirSync(`${at}/${directory}`);
      for (const file of ['d/f', 'd/out/f', 'other']) writeFileSync(`${at}/${file}`, 'secret');
      const file = (name: string, source = 0) => ({ type: 'file', name, size: 6, ...FILE, source }) as const;
      const directory = (name: string) => ({ type: 'enter', name, ...DIRECTORY }) as const;
      const cases: readonly (readonly [string, readonly TreeRecord[], Partial<TextSettings>?])[] = [
        ['"d" (not a source)', [file('d', 1)]],
        ['a file that was not asked for: "other" (not a source)', [file('other')]],
        ['a directory that was not asked for: "" (not a source)', [directory('')]],
        ['"d/out" (excluded)', [directory('d'), directory('out'), file('f'), LEAVE, LEAVE]],
        ['"d/g.o" (excluded)', [directory('d'), file('g.o'), LEAVE]],
        ['"d" (without -r)', [directory('d'), file('f'), LEAVE], { recursive: false }],
        ['"d/s" (without -a)', [directory('d'), { type: 'special', name: 's', ...DIRECTORY, mode: 0o10600 }, LEAVE]],
        ['a record has an invalid field', [directory('d'), directory('..'), file('other'), LEAVE, LEAVE]],
        ['a record has an invalid field', [directory('d'), file('../other'), LEAVE]],
      ];
      const patterns = ['out', '*.o'].map((pattern) => ({ include: false, pattern }));
      for (const [reason, records, more] of cases) {
        const result = await read([`${at}/d`], records, { patterns, ...more });
        expect(result.status).to.equal(DATA_DAMAGED);
        expect(result.warnings.join()).to.contain(reason);
        expect(result.records.filter(({ type }) => type === 'data')).to.deep.equal([]);
      }
    });
  });

  describe('clean', () => {
    it('removes files that are permanent at the target, unless they changed', async () => {
      for (const directory of ['d', 'd/e']) mkdirSync(`${at}/${directory}`);
      for (const file of ['d/a', 'd/b', 'd/e/c', 'd/e/g', 'single']) writeFileSync(`${at}/${file}`, file);
      symlinkSync('a', `${at}/d/link`);
      const done = (path: string, below: string, source = 0) =>
        ({ type: 'done', source, ...metadataOf(path), path: below }) as TreeRecord;
      const records = [
        done(`${at}/d/a`, 'a'),
        done(`${at}/d/b`, 'b'),
        done(`${at}/d/link`, 'link'),
        done(`${at}/d/e/c`, 'e/c'),
        { ...done(`${at}/d/e/g`, 'e/g'), size: 1 },
        done(`${at}/d/e`, 'e'),
        done(`${at}/single`, '', 1),
        { ...done(`${at}/d/a`, 'gone') },
      ];
      appendFileSync(`${at}/d/b`, '!');
      const stream = encodeTree(PHASE.results, [...records, END]);
      const settings = { role: 'clean', sources: [`${at}/d/`, `${at}/single`], recursive: true } as const;
      const result = await run(settings, stream);
      expect(result.failed).to.deep.equal([
        `${at}/d/b: changed since it was copied: not removed`,
        `${at}/d/e/g: changed since it was copied: not removed`,
        `${at}/d/gone: cannot be removed: no such file or directory`,
      ]);
      const left = ['d', 'd/a', 'd/b', 'd/link', 'd/e', 'd/e/c', 'd/e/g', 'single'].filter((path) =>
        isThere(`${at}/${path}`),
      );
      expect(left).to.deep.equal(['d', 'd/b', 'd/e', 'd/e/g']);
    });

    it('follows no link when removing', async () => {
      for (const directory of ['d', 'd/e', 'kept']) mkdirSync(`${at}/${directory}`);
      writeFileSync(`${at}/kept/f`, '1');
      const done = { type: 'done', source: 0, ...metadataOf(`${at}/kept/f`), path: 'e/f' } as const;
      renameSync(`${at}/d/e`, `${at}/d/old`);
      symlinkSync('../kept', `${at}/d/e`);
      const settings = { role: 'clean', sources: [`${at}/d`], recursive: true } as const;
      const result = await run(settings, encodeTree(PHASE.results, [done, END]));
      expect(result.failed).to.deep.equal([`${at}/d/e/f: cannot be removed: not a directory`]);
      expect(existsSync(`${at}/kept/f`)).to.equal(true);
    });

    it('removes nothing outside the copy', async () => {
      for (const directory of ['d', 'd/e', 'd/out']) mkdirSync(`${at}/${directory}`);
      for (const path of ['d/a', 'd/e/keep.log', 'd/out/f', 'single', 'other']) writeFileSync(`${at}/${path}`, '1');
      const settings = {
        role: 'clean',
        sources: [`${at}/d`, `${at}/single`],
        recursive: true,
        patterns: ['*.log', 'out/'].map((pattern) => ({ include: false, pattern })),
      } as const;
      const sent = async (path: string, source = 0, more: object = {}) => {
        const done = { type: 'done', source, ...metadataOf(`${at}/d/a`), path } as const;
        const { status, warnings } = await run({ ...settings, ...more }, encodeTree(PHASE.results, [done, END]));
        return [status, ...warnings.map((text) => text.replace(/.*(?=\(|a source)/, ''))];
      };
      const excluded = [DATA_DAMAGED, '(excluded)'];
      expect(await sent('e/keep.log')).to.deep.equal(excluded);
      expect(await sent('out/f')).to.deep.equal(excluded);
      expect(await sent('a', 0, { recursive: false })).to.deep.equal([DATA_DAMAGED, '(without -r)']);
      expect(await sent('', 2)).to.deep.equal([DATA_DAMAGED, 'a source that was not asked for']);
      expect(await sent('../other')).to.have.property('0', DATA_DAMAGED);
      expect(await sent(Array(5000).fill('x').join('/'))).to.deep.equal([DATA_DAMAGED, '(too deep)']);
      const left = ['d/a', 'd/e/keep.log', 'd/out/f', 'single', 'other'].filter((path) => isThere(`${at}/${path}`));
      expect(left).to.have.lengthOf(5);
    });
  });
});

async function resultOf(program: Program): Promise<Result> {
  const { status, stdout, stderr } = await program.ended;
  const events = stderr
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { event: string; path: string; message: string });
  return {
    status,
    records: decodeTree(stdout),
    failed: events.flatMap(({ event, path, message }) => (event === 'failed' ? [`${inText(path)}: ${message}`] : [])),
    warnings: events.flatMap(({ event, message }) => (event === 'warning' || event === 'fatal' ? [message] : [])),
  };
}

/** The entries with their paths: `d/`, `d/file`, `link->target`, `name=first name`, `special(device)`, `!failed`. */
function outline({ records }: Result): string {
  const directories: string[] = [];
  const words: string[] = [];
  for (const { type, name = '', target, device } of records) {
    const path = [...directories, name].filter((part) => part !== '').join('/');
    if (type === 'enter') {
      words.push(`${path}/`);
      directories.push(name);
    } else if (type === 'leave') directories.pop();
    else if (type === 'file') words.push(path);
    else if (type === 'symlink') words.push(`${path}->${target}`);
    else if (type === 'link') words.push(`${path}=${target}`);
    else if (type === 'special') words.push(`${path}(${device})`);
    else if (type === 'failed') words.push(`!${path}`);
  }
  return words.join(' ');
}

/** The content after the FILE of that name, since it last began, and its FILE_END. */
function contentOf({ records }: Result, name: string) {
  const begin = records.findIndex((record) => record.type === 'file' && record.name === name) + 1;
  let parts: TreeRecord[] = [];
  for (const record of records.slice(begin)) {
    if (record.type === 'data') parts.push(record);
    else if (record.state === STATE.again) parts = [];
    else {
      const bytes = Buffer.concat(parts.flatMap(({ data }) => data ?? []));
      return { bytes, sent: bytes.length, end: record.type === 'file_end' ? record : undefined };
    }
  }
  throw new Error(`${name} has no end`);
}

function metadataOf(path: string) {
  const { mode, uid, gid, mtimeNs, size } = lstatSync(path, { bigint: true });
  const [seconds, ns] = [mtimeNs / 1_000_000_000n, mtimeNs % 1_000_000_000n];
  return {
    mode: Number(mode),
    uid: Number(uid),
    gid: Number(gid),
    ns: Number(ns),
    seconds: Number(seconds),
    size: Number(size),
  };
}

function entryOf(path: string) {
  const { size: _, ...metadata } = metadataOf(path);
  return metadata;
}

function noise(bytes: number) {
  return Buffer.from(
    Uint32Array.from({ length: Math.ceil(bytes / 4) }, (_, i) => Math.imul(i + 1, 2654435761)).buffer,
  ).subarray(0, bytes);
}

function makeDeep(at: string, depth: number, name: string): void {
  const before = process.cwd();
  process.chdir(at);
  for (let i = 0; i < depth; i++) {
    mkdirSync(name);
    process.chdir(name);
  }
  writeFileSync('file', '');
  process.chdir(before);
}

/** Bytes read from files and pipes. Only root sees the number of a program that is not dumpable. */
function bytesReadBy(pid: number): number {
  return Number(/rchar: (\d+)/.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
