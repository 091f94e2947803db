// SPDX-License-Identifier: Apache-2.0
// Copies of files and trees with rdcp and common tools, to a host on loopback and on this machine.
import { type Case, type Goal, MIB, nothing } from '../case.ts';
import { ofCopy } from '../readings.ts';
import { listener, type Setup } from './setup.ts';
import { emptyFilesOf, smallFilesOf } from './trees.ts';

/** In each group the tools to compare with come before rdcp. */
export interface CopyCases {
  readonly file: FileCopies;
  readonly tree: TreeCopies;
  readonly again: Pair;
  readonly empty: Pair;
}

interface Pair {
  readonly rsync: Case;
  readonly rdcp: Case;
}

interface FileCopies extends Pair {
  readonly scp: Case;
  readonly dd: Case;
  readonly pipe: Case;
}

interface TreeCopies extends Pair {
  readonly tar: Case;
  readonly tarPipe: Case;
  readonly rclone: Case;
  readonly cp: Case;
  readonly fpsync: Case;
  readonly local: Case;
}

/** Memory limit of each program of a copy. */
const RSS_MIB_MAX = 64;
const RSYNC = 'rsync -e "ssh -F $SSH_CONFIG" -a';
const RDCP = 'rdcp --json -F "$SSH_CONFIG" -a';
const OVER_SFTP =
  '":sftp,host=127.0.0.2,port=$(ssh -F "$SSH_CONFIG" -G h1 | sed -n "s/^port //p"),user=$(id -un),key_file=$SSH_KEY:$COPIES/copy"';
const RCLONE = 'rclone --config /dev/null copy --links --transfers 16 --checkers 16 --sftp-disable-hashcheck';

export function copyCases({ mib }: Setup): CopyCases {
  return { file: fileCopies(mib), tree: treeCopies(mib), again: copiesAgain(mib), empty: emptyCopies(mib) };
}

function fileCopies(mib: number): FileCopies {
  const [bytes, after] = [mib * MIB, 'cmp "$SOURCE" "$COPIES/copy"'];
  const by = (name: string, command: string, more: Partial<Case> = {}): Case => {
    return { ...copier(`${name}, a file`, command), bytes, after, ...more };
  };
  const rsync = by('rsync -a over ssh', `${RSYNC} "$SOURCE" h1:"$COPIES/copy"`);
  const scp = by('scp', 'scp -q -F "$SSH_CONFIG" "$SOURCE" h1:"$COPIES/copy"');
  const dd = by('dd, O_DIRECT', 'dd if="$SOURCE" of="$COPIES/copy" bs=1M oflag=direct conv=fsync status=none');
  const pipe = by('rdpipe < to >', 'rdpipe -F "$SSH_CONFIG" ":< $SOURCE" "h1:> $COPIES/copy"');
  const goals = [faster(rsync, 3), faster(scp, 3), faster(dd, 0.9), faster(pipe, 0.9), small()];
  return { rsync, scp, dd, pipe, rdcp: by('rdcp', `${RDCP} "$SOURCE" h1:"$COPIES/copy"`, { goals, read: ofReport }) };
}

function treeCopies(mib: number): TreeCopies {
  const by = (name: string, command: string, more: Partial<Case> = {}): Case => {
    return { ...copier(`${name}, small files`, command), bytes: smallFilesOf(mib).bytes, ...more };
  };
  const rsync = by('rsync -a over ssh', `${RSYNC} "$TREE/" h1:"$COPIES/copy/"`);
  const unpack = 'mkdir "$COPIES/copy"; nc -l 127.0.0.1 $PORT | tar -C "$COPIES/copy" -xf -';
  const tar = {
    ...by('tar, nc, tar', 'tar -C "$TREE" -cf - . | nc -N 127.0.0.1 $PORT'),
    parts: [
      listener(unpack),
      { on: 'here', command: 'tar -C "$TREE" -cf - . | nc -N 127.0.0.1 $PORT' },
    ] satisfies Case['parts'],
  };
  const to = 'mkdir $COPIES/copy; tar -C $COPIES/copy -xf -';
  const tarPipe = by('tar, rdpipe, tar', `rdpipe -F "$SSH_CONFIG" ":tar -C $TREE -cf - ." "h1:${to}"`);
  const rclone = by('rclone over sftp, 16 transfers', `${RCLONE} "$TREE" ${OVER_SFTP}`);
  const cp = by('cp -a on this machine', 'cp -a "$TREE" "$COPIES/copy"');
  const fpsync = by(
    'fpsync on this machine',
    'mkdir "$COPIES/copy"; fpsync -n 2 -f 2000 -t "$COPIES/.fpsync" "$TREE/" "$COPIES/copy/" > /dev/null',
  );
  const ours = { after: JUDGE, read: ofReport };
  const goals = [faster(rsync, 3.5), faster(tar, 1.2), faster(tarPipe, 0.9), faster(rclone, 1), small()];
  return {
    rsync,
    tar,
    tarPipe,
    rclone,
    cp,
    fpsync,
    rdcp: by('rdcp -a', `${RDCP} "$TREE/" h1:"$COPIES/copy/"`, { ...ours, goals }),
    local: by('rdcp -a on this machine', `${RDCP} "$TREE/" "$COPIES/copy/"`, { ...ours, goals: [faster(cp, 0.8)] }),
  };
}

function copiesAgain(mib: number): Pair {
  const before = '"$FRESH" && cp -a "$TREE" "$COPIES/copy" && sync -f "$COPIES"';
  const by = (name: string, command: string): Case => {
    return { ...copier(`${name}, nothing changed`, command), before, bytes: smallFilesOf(mib).bytes };
  };
  const rsync = by('rsync -a over ssh', `${RSYNC} "$TREE/" h1:"$COPIES/copy/"`);
  const rdcp = by('rdcp -a', `${RDCP} "$TREE/" h1:"$COPIES/copy/"`);
  return { rsync, rdcp: { ...rdcp, read: ofReport, goals: [faster(rsync, 2), small()] } };
}

function emptyCopies(mib: number): Pair {
  const count = emptyFilesOf(mib);
  const by = (name: string, command: string): Case => {
    const after = `test "$(find "$COPIES/copy" -type f | wc -l)" = ${count}`;
    return { ...copier(`${name}, empty files`, command), after };
  };
  const rsync = by('rsync -a over ssh', `${RSYNC} "$EMPTY/" h1:"$COPIES/copy/"`);
  const rdcp = by('rdcp -a', `${RDCP} "$EMPTY/" h1:"$COPIES/copy/"`);
  const goal: Goal = { figure: 'wall_s', base: rsync, bound: 'at most', value: 1 };
  return { rsync, rdcp: { ...rdcp, read: ofReport, goals: [goal, small()] } };
}

/** A case that copies to a new disk. */
function copier(name: string, command: string): Case {
  return { name, parts: [{ on: 'here', command }], before: '"$FRESH"', read: nothing };
}

const JUDGE =
  'test -z "$(rsync -aHAXSn --checksum --delete --itemize-changes "$TREE/" "$COPIES/copy/" | tee /dev/stderr)"';

const ofReport: Case['read'] = ([said = '']) => ofCopy(said);

function faster(base: Case, value: number): Goal {
  return { figure: 'mb_per_s', base, bound: 'at least', value };
}

function small(): Goal {
  return { figure: 'native_rss_mib', bound: 'at most', value: RSS_MIB_MAX };
}
