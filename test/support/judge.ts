// SPDX-License-Identifier: Apache-2.0
// Checks that a tree is a copy of another with rsync, find, and the number of allocated blocks.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';

export interface Judged {
  /** rsync's options; default: compare everything that root can preserve. */
  readonly rsync?: string;
  /** Do not compare owners, groups and devices, which only root can preserve. */
  readonly anyOwner?: boolean;
}

/** Make rsync list differences, including nanoseconds, and copy nothing. */
export const DRY_RUN = ['-n', '--checksum', '--delete', '--itemize-changes', '--modify-window=-1', '--8-bit-output'];

/** Fields of find -printf: the depth and the base name replace the path. */
const FIND_FIELDS = ['%y', '%m', '%s', '%T@', '%l', '%d', '%f'];
const BLOCK_BYTES = 512;

/** Fails with the list of differences. */
export function expectCopy(source: string, target: string, judged: Judged = {}): void {
  expect(judge(source, target, judged), `${target} is not a copy of ${source}`).to.deep.equal([]);
}

/** The differences in rsync's notation; empty for a perfect copy. */
export function judge(source: string, target: string, { rsync = '-aHAXS', anyOwner = false }: Judged = {}): string[] {
  const any = anyOwner ? ['--no-owner', '--no-group', '--no-devices'] : [];
  const { stdout } = execaSync('rsync', [rsync, ...DRY_RUN, ...any, `${source}/`, `${target}/`], {
    encoding: 'latin1',
    env: { LANG: 'C' },
  });
  return [...stdout.split('\n').filter(Boolean), ...differentHoles(source, target)];
}

/** For paths that are too long for rsync: compares types, modes, sizes, times, links and digests with find. */
export function expectSameListing(source: string, target: string): void {
  const [from, to] = [listing(source), listing(target)];
  const [missing, more] = [from.filter((line) => !to.includes(line)), to.filter((line) => !from.includes(line))];
  expect({ missing, more, lines: to.length }).to.deep.equal({ missing: [], more: [], lines: from.length });
}

/** Temporary files of rdcp and its list of them that were left anywhere below, without the fixtures' similar name. */
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

/** Files whose copies have over 8 blocks more than the source, so that holes were not preserved. */
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

/** 0 if the file does not exist, which rsync reports. */
function blocksOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.blocks ?? 0;
}
