// SPDX-License-Identifier: Apache-2.0
// Judges whether one tree is a copy of another: by rsync, by find's listings, and by the blocks that files take.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';

export interface Judged {
  /** Default: everything that root can keep. */
  readonly rsync?: string;
  /** Neither owners nor groups are compared: what a user who is not root can keep. */
  readonly anyOwner?: boolean;
}

/** Of an rsync that lists differences and copies nothing; nanoseconds count, too. */
export const DRY_RUN = ['-n', '--checksum', '--delete', '--itemize-changes', '--modify-window=-1', '--8-bit-output'];

/** The depth and the last name in place of the path. */
const FIND_FIELDS = ['%y', '%m', '%s', '%T@', '%l', '%d', '%f'];
const BLOCK_BYTES = 512;

/** Fails with the differences. */
export function expectCopy(source: string, target: string, judged: Judged = {}): void {
  expect(judge(source, target, judged), `${target} is no copy of ${source}`).to.deep.equal([]);
}

/** The differences as rsync lists them, none for a perfect copy. */
export function judge(source: string, target: string, { rsync = '-aHAXS', anyOwner = false }: Judged = {}): string[] {
  const any = anyOwner ? ['--no-owner', '--no-group', '--no-devices'] : [];
  const { stdout } = execaSync('rsync', [rsync, ...DRY_RUN, ...any, `${source}/`, `${target}/`], {
    encoding: 'latin1',
    env: { LANG: 'C' },
  });
  return [...stdout.split('\n').filter(Boolean), ...differentHoles(source, target)];
}

/** For trees whose paths are longer than rsync takes: types, modes, sizes, times, links and digests by find. */
export function expectSameListing(source: string, target: string): void {
  const [from, to] = [listing(source), listing(target)];
  const [missing, more] = [from.filter((line) => !to.includes(line)), to.filter((line) => !from.includes(line))];
  expect({ missing, more, lines: to.length }).to.deep.equal({ missing: [], more: [], lines: from.length });
}

/** The temporary files of rdcp, and its list of them, that were left anywhere below; never a name of the fixtures. */
export function temporariesIn(directory: string): string[] {
  const { stdout } = execaSync('find', [directory, '-name', '.rdcp', '-o', '-name', '.rdcp-*']);
  return stdout.split('\n').filter((path) => path !== '' && !path.endsWith('/.rdcp-looks-like-ours'));
}

function listing(directory: string): string[] {
  const found = execaSync('find', ['.', '-printf', `${FIND_FIELDS.join(' ')}\\0`], {
    cwd: directory,
    encoding: 'latin1',
  });
  const digests = execaSync('find', ['.', '-type', 'f', '-execdir', 'sha256sum', '-bz', '{}', ';'], {
    cwd: directory,
    encoding: 'latin1',
  });
  const withoutTop = found.stdout.split('\0').filter((line) => !line.endsWith(' 0 .'));
  const lines = withoutTop.map((line) => line.replace(/^(d \d+) \d+/, '$1')); // sizes of directories vary
  return [...lines, ...digests.stdout.split('\0')].sort();
}

/** A copy of a file with holes takes no more than a few blocks more than the file. */
function differentHoles(source: string, target: string): string[] {
  const directory = join(source, 'holes');
  return namesIn(directory).flatMap((name) => {
    const [from, to] = [blocksOf(join(directory, name)), blocksOf(join(target, 'holes', name))];
    return to <= from + 8 ? [] : [`holes/${name} takes ${to * BLOCK_BYTES} bytes, not ${from * BLOCK_BYTES}`];
  });
}

function namesIn(directory: string): string[] {
  return statSync(directory, { throwIfNoEntry: false }) === undefined ? [] : readdirSync(directory);
}

/** 0: it is not there, which rsync says. */
function blocksOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.blocks ?? 0;
}
