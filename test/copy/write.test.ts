// SPDX-License-Identifier: Apache-2.0
// The writer of a copy by itself: streams made here, onto real files.
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { release } from 'node:os';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { eventually } from '../support/eventually.ts';
import { needsRoot, needsTool } from '../support/needs.ts';
import { type Program, useBench } from '../support/programs.ts';
import {
  ANN,
  AS_ANN,
  decodeTree,
  END,
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

const SINK_UNWRITABLE = 7;
const DATA_DAMAGED = 8;
const PEER_LOST = 5;
const METADATA = { uid: 0, gid: 0, ns: 5, seconds: 1_000_000_000 };
const ENTRY = { ...METADATA, source: 0, want: WANT.all };
const INTO = { type: 'place', place: 0 } as const;
const AS = { type: 'place', place: 1 } as const;

interface Result {
  readonly status: number | null;
  readonly done: readonly TreeRecord[];
  readonly events: readonly Event[];
  readonly failed: readonly string[];
  readonly fatal: string;
}

interface Event {
  readonly event: string;
  readonly path?: string;
  readonly message?: string;
  readonly action?: string;
  readonly [name: string]: unknown;
}

/** True if the kernel tells how files of this directory can be written past the page cache. */
function hasDirectIo(directory: string): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number);
  const fileSystem = execaSync('stat', ['-f', '-c', '%T', directory]).stdout;
  return ['ext2/ext3', 'xfs'].includes(fileSystem) && (major > 6 || (major === 6 && minor >= 1));
}

function cachedBytes(path: string): number {
  return Number(execaSync('fincore', ['--bytes', '--noheadings', '--output', 'RES', path]).stdout);
}

describe('the writer of a copy', () => {
  const bench = useBench();
  const digests = new Map<string, string>();
  let count = 0;
  let at = '';

  beforeEach(() => {
    at = bench.path(`t${count++}`);
    mkdirSync(at);
    chmodSync(bench.directory, 0o755);
    chmodSync(at, 0o777);
  });
  afterEach(() => execaSync('rm', ['-rf', at]));

  function start(settings: Partial<TextSettings> = {}, through: readonly string[] = []): Program {
    return startTree(bench, { role: 'write', target: `${at}/to`, recursive: true, ...settings }, 'pipe', through);
  }

  async function run(
    records: readonly TreeRecord[],
    settings: Partial<TextSettings> = {},
    through: readonly string[] = [],
  ): Promise<Result> {
    const program = start(settings, through);
    const phase = settings.role === 'copy' ? PHASE.decisions : PHASE.contents;
    program.child.stdin?.on('error', () => {}); // it may end before it has read all
    program.child.stdin?.end(encodeTree(phase, records));
    return resultOf(program);
  }

  /** Of a file's content, from the scanner. */
  async function digestOf(data: Buffer): Promise<string> {
    const known = digests.get(data.toString('latin1'));
    if (known !== undefined) return known;
    const file = bench.path('digest-of');
    writeFileSync(file, data);
    const scan = startTree(bench, { role: 'scan', sources: [file], checksum: true }, 'ignore');
    const { stdout } = await scan.ended;
    const digest = decodeTree(stdout).find(({ type }) => type === 'file')?.digest ?? '';
    digests.set(data.toString('latin1'), digest);
    return digest;
  }

  async function file(name: string, content: string | Buffer, more: Partial<TreeRecord> = {}): Promise<TreeRecord[]> {
    const data = Buffer.from(content);
    const head = { type: 'file', name, ...ENTRY, mode: 0o100644, size: data.length, ...more } as const;
    const parts = Array.from({ length: Math.ceil(data.length / MIB) }, (_, i) => data.subarray(i * MIB, (i + 1) * MIB));
    return [
      head,
      ...parts.map((part, i) => ({ type: 'data', offset: i * MIB, data: part }) as const),
      { ...head, type: 'file_end', state: STATE.whole, digest: await digestOf(data) },
    ];
  }

  it('copies a tree: contents, modes, times, links', async () => {
    const big = Buffer.alloc(3 * MIB + 17, 'big');
    const records = [
      INTO,
      enter('d', { mode: 0o40750, ns: 0, seconds: 77 }),
      ...(await file('small', 'hello', { mode: 0o100640 })),
      ...(await file('empty', '')),
      ...(await file('big', big, { mode: 0o104755 })),
      symlink('sym', '../../nowhere'),
      enter('closed', { mode: 0o40500 }),
      ...(await file('x', 'x', { mode: 0o100400 })),
      link('hard', 'd/small'),
      LEAVE,
      { type: 'special', name: 'fifo', ...ENTRY, mode: 0o10600, device: 0 } as const,
      LEAVE,
      END,
    ];
    const { status, failed, done } = await run(records, { archive: true, clean: true });
    expect([status, failed]).to.deep.equal([0, []]);
    const mode = (name: string) => (lstatSync(`${at}/to/d/${name}`).mode & 0o7777).toString(8);
    expect(['.', 'small', 'big', 'closed', 'closed/x', 'fifo'].map(mode)).to.deep.equal(
      ['750', '640', '4755', '500', '400', '600'], // prettier-ignore
    );
    expect(readFileSync(`${at}/to/d/big`).equals(big)).to.equal(true);
    expect(readlinkSync(`${at}/to/d/sym`)).to.equal('../../nowhere');
    expect(statSync(`${at}/to/d/closed/hard`).ino).to.equal(statSync(`${at}/to/d/small`).ino);
    for (const name of ['small', 'sym', 'fifo', 'closed'])
      expect(lstatSync(`${at}/to/d/${name}`, { bigint: true }).mtimeNs).to.equal(1_000_000_000_000_000_005n);
    expect(statSync(`${at}/to/d`).mtimeMs).to.equal(77_000);
    expect(done.filter(({ type }) => type === 'done').map(({ path }) => path)).to.have.members(
      ['small', 'empty', 'big', 'sym', 'fifo', 'closed/x', 'closed/hard'], // prettier-ignore
    );
    expect(done.at(-1)?.type).to.equal('end');
    expect(readdirSync(`${at}/to`)).to.deep.equal(['d']);
    // Once more onto itself.
    expect((await run(records, { archive: true, verify: true })).status).to.equal(0);
    expect(readFileSync(`${at}/to/d/big`).equals(big)).to.equal(true);
    expect(statSync(`${at}/to/d/closed/hard`).ino).to.equal(statSync(`${at}/to/d/small`).ino);
  });

  it('gives a single entry the name of the target', async () => {
    const { status } = await run([AS, ...(await file('other', 'one')), END]);
    expect([status, readFileSync(`${at}/to`, 'utf8'), readdirSync(at)]).to.deep.equal([0, 'one', ['to']]);
  });

  it('creates parents only if allowed', async () => {
    const records = [INTO, ...(await file('f', 'f')), END];
    const target = `${at}/a/b/c`;
    expect((await run(records, { target })).status).to.equal(SINK_UNWRITABLE);
    expect((await run(records, { target, make_parents: true })).status).to.equal(0);
    expect(readFileSync(`${target}/f`, 'utf8')).to.equal('f');
  });

  it('keeps the mode of a file that it replaces without archive', async () => {
    mkdirSync(`${at}/to`);
    writeFileSync(`${at}/to/old`, 'old');
    chmodSync(`${at}/to/old`, 0o604);
    const records = [INTO, ...(await file('old', 'new')), ...(await file('new', '', { mode: 0o104777 })), END];
    const { events } = await run(records, { paths: true });
    const modes = ['old', 'new'].map((name) => (statSync(`${at}/to/${name}`).mode & 0o7777).toString(8));
    expect([readFileSync(`${at}/to/old`, 'utf8'), ...modes]).to.deep.equal(['new', '604', '755']);
    const actions = events.filter(({ event }) => event === 'path').map(({ action }) => action);
    expect(actions).to.have.members(['changed', 'new']);
  });

  it('keeps holes', async () => {
    const data = Buffer.alloc(4096, 'x');
    const size = 64 * MIB;
    const head = { type: 'file', name: 'sparse', ...ENTRY, mode: 0o100644, size } as const;
    const records: TreeRecord[] = [
      INTO,
      head,
      { type: 'data', offset: 8 * MIB, data },
      { ...head, type: 'file_end', state: STATE.whole, digest: await digestOf(data) },
      END,
    ];
    for (const verify of [false, true]) {
      expect((await run(records, { verify })).status).to.equal(0);
      const { size: now, blocks } = statSync(`${at}/to/sparse`);
      expect([now, blocks < 64]).to.deep.equal([size, true]);
      expect(
        readFileSync(`${at}/to/sparse`)
          .subarray(8 * MIB, 8 * MIB + 4096)
          .equals(data),
      ).to.equal(true);
    }
  });

  it('writes a large file past the page cache, whatever its parts are', async () => {
    const size = 64 * MIB;
    const part = (offset: number, count: number) =>
      ({ type: 'data', offset, data: Buffer.alloc(count, `part at ${offset}`) }) as const;
    const aligned = [0, 1, 2, 3].map((i) => part(i * MIB, MIB));
    const parts = [...aligned, part(8 * MIB + 1, MIB), part(12 * MIB, MIB), part(size - 700, 700)];
    const head = { type: 'file', name: 'large', ...ENTRY, mode: 0o100644, size } as const;
    const digest = await digestOf(Buffer.concat(parts.map(({ data }) => data)));
    const end = { ...head, type: 'file_end', state: STATE.whole, digest } as const;
    const records = [INTO, ...(await file('a', 'small')), head, ...parts, end, ...(await file('z', 'small')), END];
    const whole = Buffer.alloc(size);
    for (const { offset, data } of parts) data.copy(whole, offset);
    for (const settings of [{}, { verify: true }, { partial: true }, { in_place: true }, { sync: false }]) {
      rmSync(`${at}/to`, { recursive: true, force: true });
      expect((await run(records, { sync: true, ...settings })).status).to.equal(0);
      if (hasDirectIo(at) && Object.keys(settings).length === 0)
        expect(cachedBytes(`${at}/to/large`)).to.be.lessThan(4 * MIB);
      expect(readFileSync(`${at}/to/large`).equals(whole)).to.equal(true);
    }
  });

  it('restarts a file that changed while it was read, and drops it if it changes again', async () => {
    for (const size of [10, 3 * MIB]) {
      const head = { type: 'file', name: 'f', ...ENTRY, mode: 0o100644, size } as const;
      const garbage = { type: 'data', offset: 0, data: Buffer.alloc(Math.min(size, MIB), 'g') } as const;
      const end = (state: number, digest = '') =>
        ({ ...head, type: 'file_end', state, ...(digest && { digest }) }) as const;
      const [, ...rest] = await file('f', Buffer.alloc(size, 'n'));
      const again = [INTO, head, garbage, end(STATE.again), ...rest, { ...head, name: 'g' }, garbage];
      const { status } = await run([...again, end(STATE.dropped), END]);
      expect([status, readdirSync(`${at}/to`)]).to.deep.equal([0, ['f']]);
      expect(readFileSync(`${at}/to/f`).equals(Buffer.alloc(size, 'n'))).to.equal(true);
    }
  });

  it('ends when a digest differs, and leaves no file', async () => {
    for (const size of [10, 3 * MIB]) {
      const records = await file('f', Buffer.alloc(size, 'n'));
      const damaged = records.map((record) =>
        record.type === 'data' ? { ...record, data: Buffer.alloc(record.data?.length ?? 0, 'm') } : record,
      );
      const { status, fatal } = await run([INTO, ...damaged, END]);
      expect([status, readdirSync(`${at}/to`)]).to.deep.equal([DATA_DAMAGED, []]);
      expect(fatal).to.contain('/to/f');
    }
  });

  it('replaces obstacles, but not a directory with contents', async () => {
    mkdirSync(`${at}/to/full/x`, { recursive: true });
    mkdirSync(`${at}/to/void`);
    symlinkSync(at, `${at}/to/dir`);
    writeFileSync(`${at}/to/dir2`, '');
    const records = [
      INTO,
      ...(await file('full', 'f')),
      ...(await file('void', 'v')),
      enter('dir'),
      ...(await file('in', 'i')),
      LEAVE,
      enter('dir2'),
      LEAVE,
      END,
    ];
    const { status, failed } = await run(records);
    expect([status, failed]).to.deep.equal([0, [`${at}/to/full`]]);
    expect(readFileSync(`${at}/to/void`, 'utf8')).to.equal('v');
    expect(lstatSync(`${at}/to/dir`).isDirectory() && lstatSync(`${at}/to/dir2`).isDirectory()).to.equal(true);
    expect(existsSync(`${at}/in`)).to.equal(false);
    expect((await run(records, { remove: true })).failed).to.deep.equal([]);
    expect(readFileSync(`${at}/to/full`, 'utf8')).to.equal('f');
  });

  it('sets only metadata, also the time of a directory that changed inside', async () => {
    mkdirSync(`${at}/to/d`, { recursive: true });
    writeFileSync(`${at}/to/d/f`, 'content');
    const inode = statSync(`${at}/to/d/f`).ino;
    const records = [
      INTO,
      enter('d', { want: WANT.nothing, ns: 0, seconds: 99 }),
      { type: 'file', name: 'f', ...ENTRY, mode: 0o100600, size: 7, want: WANT.metadata } as const,
      ...(await file('g', 'g')),
      LEAVE,
      END,
    ];
    expect((await run(records, { archive: true })).status).to.equal(0);
    const now = statSync(`${at}/to/d/f`);
    expect([now.ino, now.mode & 0o777, now.mtimeMs]).to.deep.equal([inode, 0o600, 1_000_000_000_000]);
    expect([readFileSync(`${at}/to/d/f`, 'utf8'), statSync(`${at}/to/d`).mtimeMs]).to.deep.equal(['content', 99_000]);
  });

  it('writes in place', async () => {
    mkdirSync(`${at}/to`);
    writeFileSync(`${at}/to/f`, 'a longer content');
    linkSync(`${at}/to/f`, `${at}/other`);
    expect((await run([INTO, ...(await file('f', 'new')), END], { in_place: true })).status).to.equal(0);
    expect(readFileSync(`${at}/other`, 'utf8')).to.equal('new');
  });

  describe('removal', () => {
    beforeEach(() => {
      mkdirSync(`${at}/to/gone/deep`, { recursive: true });
      writeFileSync(`${at}/to/gone/deep/f`, '');
      mkdirSync(`${at}/outside`);
      writeFileSync(`${at}/outside/kept`, '');
      symlinkSync(`${at}/outside`, `${at}/to/gone/link`);
    });
    const removal = [INTO, enter('', { ns: 0, seconds: 3 }), { type: 'remove', name: 'gone' } as const, LEAVE, END];

    it('removes entries that the source lacks, not targets of links', async () => {
      const { status, events } = await run(removal, { remove: true, remove_most: 4 });
      expect([status, readdirSync(`${at}/to`), readdirSync(`${at}/outside`)]).to.deep.equal([0, [], ['kept']]);
      expect(events.at(-1)).to.include({ removed: 4, done: true });
      expect(statSync(`${at}/to`).mtimeMs).to.equal(3000);
    });

    it('removes nothing above the limit, or if the source could not be read', async () => {
      for (const [records, settings] of [
        [removal, { remove_most: 3 }],
        [removal.map((record) => (record === END ? { ...END, failures: 1 } : record)), {}],
        [[INTO, { type: 'failed', name: 'x' } as const, ...removal.slice(1)], {}],
      ] as const) {
        const { status, failed, events } = await run(records, { remove: true, ...settings });
        expect([status, failed, readdirSync(`${at}/to`)]).to.deep.equal([0, [`${at}/to`], ['gone']]);
        expect(events.find(({ event }) => event === 'failed')?.message).to.contain('nothing was removed');
      }
      expect((await run(removal.slice(0, -1), { remove: true })).status).to.equal(PEER_LOST);
      expect(readdirSync(`${at}/to`)).to.deep.equal(['gone']);
    });

    it('keeps excluded files in a directory that the source lacks, and the directory, as rsync does', async () => {
      const patterns = ['*.key', '/gone/keep/', 'other'].map((pattern) => ({ include: false, pattern }));
      const tree = () =>
        execaSync('find', ['.', '-printf', '%P\n'], { cwd: `${at}/to` })
          .stdout.split('\n')
          .sort();
      const before = tree();
      mkdirSync(`${at}/to/gone/keep/deep`, { recursive: true });
      for (const directory of ['a', 'a/b', 'keep2']) mkdirSync(`${at}/to/gone/${directory}`);
      for (const name of ['x', 'k.key', 'a/b/k.key', 'a/b/x', 'keep2/x', 'keep/x'])
        writeFileSync(`${at}/to/gone/${name}`, '');
      const kept = ['a', 'a/b', 'a/b/k.key', 'k.key', 'keep', 'keep/deep', 'keep/x'].map((name) => `gone/${name}`);
      // Of keep2 and x, keep2/x and a/b/x, and the entries that were there.
      const removed = 4 + before.length - 2;
      const limited = await run(removal, { remove: true, remove_most: removed - 1, patterns });
      expect(limited.events.find(({ event }) => event === 'failed')?.message).to.contain('nothing was removed');
      const { status, events, failed } = await run(removal, { remove: true, remove_most: removed, patterns });
      expect([status, failed, tree()]).to.deep.equal([0, [], ['', 'gone', ...kept]]);
      expect(events.at(-1)).to.include({ removed, done: true });
      expect(events.find(({ event }) => event === 'warning')?.message).to.equal(
        'kept 3 excluded paths in directories that the source does not have',
      );
    });

    it('replaces no directory in which a pattern excludes a file', async () => {
      mkdirSync(`${at}/to/d/f/deep`, { recursive: true });
      for (const name of ['deep/k.key', 'x']) writeFileSync(`${at}/to/d/f/${name}`, '');
      const records = [INTO, enter('d'), ...(await file('f', 'f')), LEAVE, END];
      const patterns = [{ include: false, pattern: '/f/deep/*.key' }];
      const { status, failed } = await run(records, { remove: true, patterns });
      expect([status, failed, readdirSync(`${at}/to/d/f`).sort()]).to.deep.equal([0, [`${at}/to/d/f`], ['deep', 'x']]);
      expect((await run(records, { remove: true })).failed).to.deep.equal([]);
      expect(statSync(`${at}/to/d/f`).isFile()).to.equal(true);
    });
  });

  describe('interrupted', () => {
    it('keeps only whole files when the stream is cut off, or at SIGTERM', async () => {
      const records = [INTO, enter('d'), ...(await file('small', 'x')), ...(await file('big', Buffer.alloc(3 * MIB)))];
      const { status, events } = await run(records.slice(0, -1));
      expect([status, readdirSync(`${at}/to`), readdirSync(`${at}/to/d`)]).to.deep.equal([PEER_LOST, ['d'], ['small']]);
      expect(events.filter(({ event }) => event === 'progress').at(-1)).to.include({ files: 1, done: false });
      expect(statSync(`${at}/to/d`).mode & 0o777).to.equal(0o755);
      rmSync(`${at}/to/d/small`);
      const program = start();
      program.child.stdin?.write(encodeTree(PHASE.contents, records.slice(0, -1)));
      await eventually(() => expect(readdirSync(`${at}/to/d`)).to.have.length.above(0));
      program.child.kill('SIGTERM');
      expect((await program.ended).status).to.be.oneOf([9, 10]);
      expect(readdirSync(`${at}/to/d`)).to.deep.equal(['small']);
    });

    it('leaves old files intact after kill -9, and the next run removes leftovers', async () => {
      const records = [INTO, enter('d'), ...(await file('f', 'new')), ...(await file('big', Buffer.alloc(3 * MIB)))];
      mkdirSync(`${at}/to/d`, { recursive: true });
      writeFileSync(`${at}/to/d/f`, 'old');
      writeFileSync(`${at}/to/d/.rdcp-mine`, ''); // of somebody else
      for (let i = 0; i < 5; i++) {
        const program = start();
        program.child.stdin?.on('error', () => {});
        program.child.stdin?.write(encodeTree(PHASE.contents, records.slice(0, -1)));
        await eventually(() => expect(readdirSync(`${at}/to/d`)).to.have.length.above(2));
        program.child.kill('SIGKILL');
        await program.ended;
        expect(readFileSync(`${at}/to/d/f`, 'utf8')).to.equal('old');
      }
      expect((await run([...records, LEAVE, END])).status).to.equal(0);
      expect(readFileSync(`${at}/to/d/f`, 'utf8')).to.equal('new');
      expect(readdirSync(`${at}/to`)).to.deep.equal(['d']);
      expect(readdirSync(`${at}/to/d`).sort()).to.deep.equal(['.rdcp-mine', 'big', 'f']);
    });

    it('continues a large file, and two runs at once both succeed', async () => {
      const block = 4 * MIB;
      const data = Buffer.concat([...Array(9).keys()].map((i) => Buffer.alloc(MIB, `${i}`)));
      const whole = await file('f', data);
      const { status, events } = await run([INTO, ...whole.slice(0, -2)], { partial: true });
      const [partial = ''] = readdirSync(`${at}/to`);
      expect([status, partial.length]).to.deep.equal([PEER_LOST, 38]);
      const kept = events.find(({ event }) => event === 'kept');
      expect([inText(kept?.path ?? ''), kept?.bytes]).to.deep.equal([`${at}/to/f`, 2 * block]);
      const blocks = [await digestOf(data.subarray(0, block)), await digestOf(data.subarray(block, 2 * block))];
      const head = { ...whole[0], type: 'file', want: WANT.rest } as const;
      const resumed: TreeRecord[] = [
        INTO,
        { type: 'blocks', blockBytes: block, bytes: 2 * block, digests: blocks.join('') },
        head,
        { type: 'data', offset: 2 * block, data: data.subarray(2 * block) },
        { ...head, type: 'file_end', state: STATE.whole, digest: await digestOf(data.subarray(2 * block)) },
        END,
      ];
      // One that holds the partial file while the other copies.
      const first = start({ partial: true });
      first.child.stdin?.write(encodeTree(PHASE.contents, resumed.slice(0, 3)));
      await eventually(() => expect(statSync(`${at}/to/${partial}`).size).to.equal(2 * block));
      // Not by flock(1), which would hold the lock itself for a moment.
      const { ino } = statSync(`${at}/to/${partial}`);
      await eventually(() => expect(readFileSync('/proc/locks', 'utf8')).to.match(new RegExp(`FLOCK.*:${ino} `)));
      const second = await run(resumed, { partial: true, verify: true, ...({ run: 'b' } as object) });
      expect([second.status, second.failed]).to.deep.equal([0, []]);
      expect(readFileSync(`${at}/to/f`).equals(data)).to.equal(true);
      rmSync(`${at}/to/f`);
      first.child.stdin?.end(encodeTree(PHASE.contents, resumed.slice(3)).subarray(16));
      const { status: ended, events: said } = await resultOf(first);
      expect([ended, said.at(-1)?.resumed_bytes]).to.deep.equal([0, 2 * block]);
      expect(readFileSync(`${at}/to/f`).equals(data)).to.equal(true);
      expect(readdirSync(`${at}/to`)).to.deep.equal(['f']);
      // A partial file that is no longer what was compared.
      await run([INTO, ...whole.slice(0, -2)], { partial: true });
      rmSync(`${at}/to/f`);
      writeFileSync(`${at}/to/${partial}`, Buffer.alloc(9 * MIB, 'other'));
      expect((await run(resumed, { partial: true })).failed).to.deep.equal([`${at}/to/f`]);
      expect(existsSync(`${at}/to/f`)).to.equal(false);
    });
  });

  describe('hostile', () => {
    it('writes nothing outside of the target through a symbolic link', async () => {
      mkdirSync(`${at}/to`);
      mkdirSync(`${at}/outside`);
      symlinkSync(`${at}/outside`, `${at}/to/d`);
      symlinkSync(`${at}/outside/f`, `${at}/to/f`);
      const records = [
        INTO,
        ...(await file('f', 'f')),
        enter('d'),
        ...(await file('g', 'g')),
        link('h', 'out/secret'),
        LEAVE,
        symlink('out', `${at}/outside`),
        END,
      ];
      writeFileSync(`${at}/outside/secret`, '');
      const { failed } = await run(records, { archive: true });
      expect(failed).to.deep.equal([`${at}/to/d/h`]);
      expect(readdirSync(`${at}/outside`)).to.deep.equal(['secret']);
      expect(readFileSync(`${at}/to/f`, 'utf8')).to.equal('f');
    });

    it('stays in a directory that is swapped for a symbolic link', async () => {
      mkdirSync(`${at}/outside`);
      const program = start({ remove: true });
      program.child.stdin?.write(encodeTree(PHASE.contents, [INTO, enter('d'), ...(await file('f', 'f'))]));
      await eventually(() => expect(readdirSync(`${at}/to/d`)).to.have.length(1));
      renameSync(`${at}/to/d`, `${at}/to/moved`);
      symlinkSync(`${at}/outside`, `${at}/to/d`);
      const rest = [...(await file('g', 'g')), { type: 'remove', name: 'kept' } as const, LEAVE, END];
      writeFileSync(`${at}/outside/kept`, '');
      program.child.stdin?.end(encodeTree(PHASE.contents, rest).subarray(16));
      const { status } = await resultOf(program);
      expect([status, readdirSync(`${at}/outside`)]).to.deep.equal([0, ['kept']]);
      expect(readdirSync(`${at}/to/moved`).sort()).to.deep.equal(['f', 'g']);
    });

    describe('takes nothing that was not asked for, and changes nothing for it:', () => {
      // An option of the user's, sources, and what the target is; the last record is refused for the reason given.
      const D = enter('d');
      const OLD = { type: 'file', name: 'd', ...ENTRY, mode: 0o100777, size: 0, want: WANT.metadata } as const;
      const special = (name: string) => ({ type: 'special', name, ...ENTRY, mode: 0o20666, device: 259 }) as const;
      const remove = (name: string) => ({ type: 'remove', name }) as const;
      const xattr = (name: string) => ({ type: 'xattr', name, value: 'v' }) as const;
      const head = (name: string) => ({ type: 'file', name, ...ENTRY, mode: 0o100644, size: 1 }) as const;
      const LISTED: Partial<TextSettings> = { sources: ['s/'], list: 'lines', list_text: 'd/own\nd/y\n' };
      const CELLS: readonly (readonly [string, readonly TreeRecord[], string, Partial<TextSettings>?])[] = [
        ['a file next to the source', [INTO, head('.bashrc')], '".bashrc" (not a source)'],
        ['a directory next to the source', [INTO, enter('.ssh')], '".ssh" (not a source)'],
        ['the target in place of the source', [INTO, enter('')], '"" (not a source)'],
        ['a symbolic link next to the source', [INTO, symlink('evil', '/')], '"evil" (not a source)'],
        ['a source that does not exist', [INTO, { ...head('d'), source: 1 }], '"d" (not a source)'],
        ['a directory without -r', [INTO, D], '"d" (without -r)', { recursive: false }],
        ['a file that is excluded', [INTO, D, head('x.key')], '"d/x.key" (excluded)'],
        ['a directory that is excluded', [INTO, D, enter('kept')], '"d/kept" (excluded)'],
        ['a file that the list lacks', [INTO, enter(''), head('new')], '"new" (not in the list)', LISTED],
        ['one in a directory above a listed one', [INTO, enter(''), D, head('x')], '"d/x" (not in the list)', LISTED],
        ['metadata of another file', [INTO, { ...OLD, name: 'another' }], '"another" (not a source)'],
        ['a device without -a', [INTO, D, special('null')], '"d/null" (without -a)'],
        ['a hard link without -a', [INTO, D, link('x', 'd/own')], '"d/x" (without -a)'],
        ['an owner without -a', [INTO, { type: 'owner', group: 0, id: 1, name: 'root' }], '"root" (without -a)'],
        ['an attribute without -X', [INTO, xattr('user.x'), D], '"user.x" (without'],
        ['an ACL without -A', [INTO, xattr('system.posix_acl_access'), D], '(without -A', { xattrs: true }],
        ['a removal without --delete', [INTO, D, remove('own')], '"d/own" (without --delete)'],
        ['a removal next to the source', [INTO, remove('another')], '"another" (not in a copied', { remove: true }],
        ['one after the source', [INTO, D, LEAVE, remove('another')], '"another" (not in a copied', { remove: true }],
        ['a removal of an excluded name', [INTO, D, remove('own.key')], '(excluded)', { remove: true }],
        ['one of an excluded directory', [INTO, D, remove('kept')], '"d/kept" (excluded)', { remove: true }],
        ['a removal of journals', [INTO, enter(''), remove('.rdcp')], '(a file of', { remove: true, sources: ['d/'] }],
        ['a link to another file', [INTO, D, link('x', 'another')], '"d/x" (a link to', { archive: true }],
        ['a link to an excluded file', [INTO, D, link('x', 'd/own.key')], '(a link to', { archive: true }],
        ['one file in place of the target', [AS, head('d')], 'to" (it is a directory)'],
        ['a second file', [AS, head('d'), head('d')], '"d" (the target is one file)'],
        ['a removal next to one file', [AS, remove('another')], '(not in a copied', { remove: true }],
        ['a link to a file next to one', [AS, link('d', 'outside')], '"d" (the target is one file)', { archive: true }],
        ['an entry without a place', [D], '"d" (the target is not yet known)'],
      ];
      const NEW = ['a second file', 'a removal next to one file', 'a link to a file next to one'];
      const patterns = ['*.key', 'kept/'].map((pattern) => ({ include: false, pattern }));
      // The run itself had its journal in .rdcp, and perhaps a temporary file in `at`, for the record before the
      // refused one: both have other times.
      const listing = () => {
        const changed = ['(', '-path', at, '-o', '-name', '.rdcp', ')', '-printf', '%p %y %m %i\\n'];
        return execaSync('find', [at, ...changed, '-o', '-printf', '%p %y %m %i %T@ %C@\\n']).stdout;
      };

      for (const [title, records, reason, settings] of CELLS)
        it(title, async () => {
          const name = NEW.includes(title) ? 'new' : 'to';
          for (const directory of ['to/d/kept', 'to/.rdcp']) mkdirSync(`${at}/${directory}`, { recursive: true });
          const names = ['outside', 'to/another', 'to/d/own', 'to/d/own.key', 'to/d/kept/f', 'to/.rdcp/other'];
          for (const path of names) writeFileSync(`${at}/${path}`, path);
          const before = listing();
          // Contents of the files before the last record.
          const whole = await Promise.all(
            records.map((record, at) =>
              record.type === 'file' && at < records.length - 1 ? file('d', 'x') : [record],
            ),
          );
          const result = await run([...whole.flat(), END], {
            sources: ['h/d'],
            target: `${at}/${name}`,
            patterns,
            ...settings,
          });
          expect(result.status).to.equal(DATA_DAMAGED);
          expect(result.fatal).to.contain('that was not asked for: ').and.contain(reason);
          expect(result.events.find(({ event }) => event === 'fatal')?.code).to.equal('not_requested');
          expect(existsSync(`${at}/new`)).to.equal(false);
          expect(listing()).to.equal(before);
        });

      it('but all of that when it was', async () => {
        mkdirSync(`${at}/to/d`, { recursive: true });
        writeFileSync(`${at}/to/d/old`, '');
        const records = [INTO, D, ...(await file('f', 'f')), link('x', 'd/f'), remove('old'), LEAVE, END];
        const settings = { sources: ['~/d'], patterns, archive: true, remove: true };
        expect((await run(records, settings)).status).to.equal(0);
        expect(readdirSync(`${at}/to/d`).sort()).to.deep.equal(['f', 'x']);
      });
    });

    it('accepts no directory in place of a single file', async () => {
      expect((await run([AS, enter('d'), LEAVE, END])).status).to.equal(DATA_DAMAGED);
    });

    it('limits attributes kept for nested directories', async () => {
      const value = 'x'.repeat(1 << 16);
      const named = [...Array(200).keys()].map((i): TreeRecord => ({ type: 'xattr', name: `user.${i}`, value }));
      const levels = (count: number) => Array.from({ length: count }, () => [...named, enter('d')]).flat();
      const { status } = await run([INTO, ...levels(2), LEAVE, LEAVE, END], { xattrs: true });
      expect(status).to.equal(0);
      expect((await run([INTO, ...levels(8)], { xattrs: true })).status).to.equal(DATA_DAMAGED);
    });
  });

  it('gives no file away as a user, and sets no setuid for a wrong owner', async function () {
    needsRoot(this);
    needsTool(this, 'setpriv');
    const records = [
      INTO,
      ...(await file('suid', 's', { mode: 0o104755, uid: 4321 })),
      ...(await file('own', 'o', { mode: 0o104755, uid: ANN, gid: ANN })),
      { type: 'special', name: 'dev', ...ENTRY, mode: 0o20600, device: 259 } as const,
      END,
    ];
    const { status, failed, events } = await run(records, { archive: true, paths: true }, AS_ANN);
    expect([status, failed]).to.deep.equal([0, [`${at}/to/dev`]]);
    const mode = (name: string) => (statSync(`${at}/to/${name}`).mode & 0o7777).toString(8);
    expect([mode('suid'), mode('own')]).to.deep.equal(['755', '4755']);
    expect(events.filter(({ event }) => event === 'warning')[0]?.message).to.match(/^1 entries keep their old owner/);
    expect(events.at(-1)?.owners_refused).to.equal(1);
    mkdirSync(`${at}/closed`, { mode: 0o755 });
    const refused = await run([INTO, ...(await file('f', 'f')), END], { target: `${at}/closed` }, AS_ANN);
    expect([refused.status, refused.failed]).to.deep.equal([0, [`${at}/closed/f`]]);
  });

  it('leaves the mode of a closed directory in which nothing changes', async function () {
    needsRoot(this);
    needsTool(this, 'setpriv');
    const CLOSED = { mode: 0o40555, uid: ANN, gid: ANN };
    expect((await run([INTO, enter('d', CLOSED), LEAVE, END], { archive: true }, AS_ANN)).status).to.equal(0);
    const same = enter('d', { ...CLOSED, want: WANT.nothing });
    expect((await run([INTO, same, LEAVE, END], { archive: true }, AS_ANN)).status).to.equal(0);
    expect(statSync(`${at}/to/d`).mode & 0o777).to.equal(0o555);
  });

  it('continues if another user copies to the same directory, or was killed there', async function () {
    needsRoot(this);
    needsTool(this, 'setpriv');
    mkdirSync(`${at}/to`);
    chmodSync(`${at}/to`, 0o777);
    const records = [INTO, ...(await file('f', 'f')), END];
    const first = start();
    first.child.stdin?.write(encodeTree(PHASE.contents, records.slice(0, -1)));
    await eventually(() => expect(statSync(`${at}/to/.rdcp`).mode & 0o7777).to.equal(0o1777));
    const beside = await run([INTO, ...(await file('g', 'g')), END], { ...({ run: 'b' } as object) }, AS_ANN);
    expect([beside.status, beside.failed, beside.events.filter(({ event }) => event === 'warning')]).to.deep.equal([
      0,
      [],
      [],
    ]);
    first.child.stdin?.end(encodeTree(PHASE.contents, [END]).subarray(16));
    expect((await resultOf(first)).status).to.equal(0);
    expect(readdirSync(`${at}/to`).sort()).to.deep.equal(['f', 'g']);
    mkdirSync(`${at}/to/.rdcp`, { mode: 0o700 });
    writeFileSync(`${at}/to/.rdcp/dead`, '');
    const after = await run([INTO, ...(await file('h', 'h')), END], {}, AS_ANN);
    expect([after.status, after.failed]).to.deep.equal([0, []]);
    expect(after.events.find(({ event }) => event === 'warning')?.message).to.match(/^\.rdcp .* another user/);
  });

  it('removes what a dead run of the same user left, below the target only', async function () {
    needsRoot(this);
    const directories = ['to', 'to/below/it', 'to/.rdcp', 'out'];
    const names = ['.rdcp-dead-0', '.rdcp-dead-17', '.rdcp-dead-x', '.rdcp-dead-beef-0'];
    const remaining = async (uid: number) => {
      for (const directory of directories) mkdirSync(`${at}/${directory}`, { recursive: true });
      for (const directory of directories) for (const name of names) writeFileSync(`${at}/${directory}/${name}`, '');
      symlinkSync('../out', `${at}/to/link`);
      chmodSync(`${at}/to/.rdcp`, 0o1777);
      writeFileSync(`${at}/to/.rdcp/dead`, '');
      chownSync(`${at}/to/.rdcp/dead`, uid, uid);
      expect((await run([INTO, ...(await file('f', 'f')), END])).status).to.equal(0);
      const left = directories.map((directory) => names.filter((name) => existsSync(`${at}/${directory}/${name}`)));
      rmSync(`${at}/to`, { recursive: true });
      return left;
    };
    expect(await remaining(ANN)).to.deep.equal([names, names, names, names]);
    const others = names.slice(2);
    expect(await remaining(0)).to.deep.equal([others, others, others, names]);
  });

  it('sets owners as root, and keeps the setuid bit', async function () {
    needsRoot(this);
    const records = [INTO, ...(await file('f', 'f', { mode: 0o106755, uid: ANN, gid: ANN })), END];
    expect((await run(records, { archive: true })).status).to.equal(0);
    const { uid, gid, mode } = statSync(`${at}/to/f`);
    expect([uid, gid, mode & 0o7777]).to.deep.equal([ANN, ANN, 0o6755]);
    chownSync(`${at}/to/f`, 0, 0);
  });

  it('copies what fits when the disk is full, and removes temporary files', async function () {
    needsRoot(this);
    mkdirSync(`${at}/to`);
    execaSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', `${at}/to`]);
    try {
      const big = [...(await file('big', Buffer.alloc(9 * MIB))), ...(await file('less', Buffer.alloc(5 * MIB)))];
      const records = [INTO, ...(await file('small', 'small')), ...big, ...(await file('last', Buffer.alloc(MIB)))];
      // One file at a time: the last one must not need the space of another that will not fit.
      const { status, failed, events } = await run([...records, END], { partial: true, jobs: 1 });
      expect([status, failed]).to.deep.equal([0, [`${at}/to/big`, `${at}/to/less`]]);
      expect(readdirSync(`${at}/to`).sort()).to.deep.equal(['last', 'small']);
      const words = events.filter(({ event }) => event === 'failed').map(({ message }) => message);
      expect(words).to.deep.equal(Array(2).fill('cannot write: no space left on device'));
    } finally {
      execaSync('umount', [`${at}/to`]);
    }
  });

  it('copies on one host without a stream of contents', async () => {
    mkdirSync(`${at}/from/sub`, { recursive: true });
    writeFileSync(`${at}/from/f`, 'hello');
    execaSync('bash', ['-c', 'truncate -s 20M "$1"; echo end >>"$1"', 'bash', `${at}/from/sub/sparse`]);
    const head = (name: string, size: number) => ({ type: 'file', name, ...ENTRY, mode: 0o100644, size }) as const;
    const records = [
      INTO,
      enter('from'),
      head('f', 5),
      enter('sub'),
      head('sparse', 20 * MIB + 4),
      LEAVE,
      head('missing', 1),
      LEAVE,
      END,
    ];
    for (const verify of [false, true]) {
      const { status, failed } = await run(records, { role: 'copy', sources: [`${at}/from`], verify, partial: true });
      expect([status, failed]).to.deep.equal([0, [`${at}/from/missing`]]);
      expect(readFileSync(`${at}/to/from/f`, 'utf8')).to.equal('hello');
      execaSync('cmp', [`${at}/from/sub/sparse`, `${at}/to/from/sub/sparse`]);
      expect(statSync(`${at}/to/from/sub/sparse`).blocks).to.be.below(100);
      expect(readdirSync(`${at}/to/from`).sort()).to.deep.equal(['f', 'sub']);
    }
  });
});

function enter(name: string, more: Partial<TreeRecord> = {}): TreeRecord {
  return { type: 'enter', name, ...ENTRY, mode: 0o40755, ...more };
}

function symlink(name: string, target: string): TreeRecord {
  return { type: 'symlink', name, ...ENTRY, mode: 0o120777, target };
}

function link(name: string, target: string): TreeRecord {
  return { type: 'link', name, ...ENTRY, mode: 0o100644, size: 0, target };
}

async function resultOf(program: Program): Promise<Result> {
  const { status, stdout, stderr } = await program.ended;
  const events = stderr
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Event);
  const failed = events.filter(({ event }) => event === 'failed').map(({ path = '' }) => inText(path));
  const fatal = events.find(({ event }) => event === 'fatal')?.message ?? '';
  return { status, done: decodeTree(stdout), events, failed, fatal };
}
