// SPDX-License-Identifier: Apache-2.0
// Sinks that cannot be written and sources that cannot be read:
// one line names the reason, and old files stay.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Fault, useFaultyFs, useTmpfs } from '../support/faulty-fs.ts';
import { useLab } from '../support/lab.ts';
import { useLoopDisk } from '../support/loop-disk.ts';
import { failed } from '../support/shell.ts';

/** How the first and last host are reached, which decides what connects them: TCP, or sockets of this machine. */
interface Way {
  readonly name: string;
  readonly options: string;
  readonly first: string;
  readonly last: string;
}

interface Place extends Way {
  /** A directory on the faulty disk. */
  readonly directory: string;
  /** A directory on another disk. */
  readonly scratch: string;
}

interface DiskCase {
  readonly name: string;
  /** Whether rdpipe itself reads or writes there: a command of this machine has the user's own descriptors. */
  readonly fits?: (way: Way) => boolean;
  readonly disk: 'small' | 'local' | 'crowded' | Fault;
  prepare(place: Place): void;
  words(place: Place): string;
  readonly why: RegExp;
  expectAfter(place: Place): void;
}

export interface DiskCell {
  readonly way: Way;
  readonly disk: DiskCase;
}

const WAYS: readonly Way[] = [
  { name: 'between two hosts', options: '--ssh openssh', first: 'h1', last: 'h2' },
  { name: 'between two hosts, with its own ssh client', options: '--ssh ssh2', first: 'h1', last: 'h2' },
  { name: 'on this machine', options: '', first: '', last: '' },
  { name: 'from here to a host', options: '', first: '', last: 'h2' },
  { name: 'from a host to here', options: '', first: 'h1', last: '' },
];

const MUCH_BYTES = 5 * 1024 * 1024;
const OLD = 'what was there before\n';

const CASES: readonly DiskCase[] = [
  sinkCase('a full disk under a file that is replaced', 'small', '>', OLD),
  sinkCase('a full disk under a new file', 'small', '>', null),
  sinkCase('a full disk under a file that grows', 'small', '>>', OLD),
  sinkCase('a full disk under a new file that grows', 'small', '>>', null),
  sinkCase('a full local disk under a file that is replaced', 'local', '>', OLD),
  sinkCase('a full local disk under a file that grows', 'local', '>>', OLD),
  sinkCase('a disk that takes no more files', 'crowded', '>', OLD),
  sinkCase('a write error', 'write', '>', OLD),
  sinkCase('a write error in a file that grows', 'write', '>>', OLD),
  sinkCase('a failing fsync', 'fsync', '>', OLD),
  sinkCase('a failing fsync of a file that grows', 'fsync', '>>', OLD),
  sinkCase('a failing fsync of a new file that grows', 'fsync', '>>', null),
  sinkCase('a failing close', 'close', '>', OLD),
  sinkCase('a failing close of a file that grows', 'close', '>>', OLD),
  sinkCase('a file that cannot be renamed', 'rename', '>', OLD),
  deviceCase(),
  sourceCase('a read error, before a command', consumer, expectNoCommit),
  sourceCase('a read error, before a sink', ({ last, scratch }) => `${last}:'> ${scratch}/target'`, expectOldTarget),
  sourceCase(
    'a read error, before a sink that grows',
    ({ last, scratch }) => `${last}:'>> ${scratch}/target'`,
    expectOldTarget,
  ),
  inputCase(),
  outputCase(),
];

export const DISK_CELLS: readonly DiskCell[] = CASES.flatMap((disk) =>
  WAYS.filter((way) => disk.fits?.(way) ?? true).map((way) => ({ way, disk })),
);

export function describeDisks(cells: readonly DiskCell[]): void {
  describe('a run fails, and keeps the old contents, at', () => {
    const lab = useLab();
    const faulty = useFaultyFs();
    const small = useTmpfs('size=2m');
    const local = useLoopDisk('4M');
    const crowded = useTmpfs('nr_inodes=2');

    for (const { way, disk } of cells)
      it(`${disk.name}, ${way.name}`, async () => {
        const place = { ...way, directory: directoryOn(disk.disk), scratch: lab.directory };
        disk.prepare(place);
        failed(await lab.sh(`exec rdpipe ${way.options} ${disk.words(place)}`), 125, disk.why);
        disk.expectAfter(place);
      });

    function directoryOn(disk: DiskCase['disk']): string {
      if (disk === 'small') return small();
      if (disk === 'local') return local.directory;
      return disk === 'crowded' ? crowded() : faulty.directory(disk);
    }
  });
}

function sinkCase(name: string, disk: DiskCase['disk'], operator: '>' | '>>', old: string | null): DiskCase {
  const reason =
    disk === 'write' || disk === 'fsync' || disk === 'rename' ? 'input/output error' : 'no space left on device';
  return {
    name,
    disk,
    prepare({ directory }) {
      rmSync(join(directory, 'target'), { force: true });
      if (old !== null) writeFileSync(join(directory, 'target'), old);
    },
    words: ({ first, last, directory }) =>
      `${first}:'head -c ${MUCH_BYTES} /dev/urandom' ${last}:'${operator} ${directory}/target'`,
    why: new RegExp(`^rdpipe: stage 2 \\([^:]*: ${operator} .*\\): cannot .*/target: ${reason}`),
    expectAfter({ directory }) {
      expect(readdirSync(directory)).to.deep.equal(old === null ? [] : ['target']);
      if (old !== null) expect(readFileSync(join(directory, 'target'), 'utf8')).to.equal(old);
    },
  };
}

function deviceCase(): DiskCase {
  return {
    name: '/dev/full',
    disk: 'small',
    prepare() {},
    words: ({ first, last }) => `${first}:'head -c ${MUCH_BYTES} /dev/zero' ${last}:'> /dev/full'`,
    why: /^rdpipe: stage 2 \([^:]*: > \/dev\/full\): cannot write \/dev\/full: no space left on device/,
    expectAfter() {},
  };
}

function sourceCase(name: string, next: (place: Place) => string, expectAfter: (place: Place) => void): DiskCase {
  return {
    name,
    disk: 'read',
    prepare(place) {
      writeFileSync(join(place.directory, 'source'), Buffer.alloc(MUCH_BYTES));
      writeFileSync(join(place.scratch, 'target'), OLD);
    },
    words: (place) => `${place.first}:'< ${place.directory}/source' ${next(place)}`,
    why: /^rdpipe: stage 1 \([^:]*: < .*\): cannot read .*\/source: input\/output error/,
    expectAfter,
  };
}

function inputCase(): DiskCase {
  return {
    name: 'a read error of standard input',
    fits: ({ last }) => last !== '',
    disk: 'read',
    prepare: ({ directory }) => writeFileSync(join(directory, 'source'), Buffer.alloc(MUCH_BYTES)),
    words: (place) => `${consumer(place)} < ${place.directory}/source`,
    why: /^rdpipe: standard input: cannot read standard input: input\/output error/,
    expectAfter: expectNoCommit,
  };
}

function outputCase(): DiskCase {
  return {
    name: 'a full disk under standard output',
    fits: ({ last }) => last !== '',
    disk: 'small',
    prepare() {},
    words: ({ first, last, directory }) => `${first}:'cat /dev/zero' ${last}:cat > ${directory}/output`,
    why: /^rdpipe: standard output: cannot write standard output: no space left on device/,
    expectAfter: ({ directory }) => expect(readdirSync(directory)).to.deep.equal(['output']),
  };
}

/** A command that creates `committed` when it has seen the end of its input. */
function consumer({ last, scratch }: Place): string {
  return `${last}:'cat > /dev/null; touch ${scratch}/committed'`;
}

function expectNoCommit({ scratch }: Place): void {
  expect(existsSync(join(scratch, 'committed'))).to.equal(false);
}

function expectOldTarget({ scratch }: Place): void {
  expect(readdirSync(scratch)).to.deep.equal(['target']);
  expect(readFileSync(join(scratch, 'target'), 'utf8')).to.equal(OLD);
}
