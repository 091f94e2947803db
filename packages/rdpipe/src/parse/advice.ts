/** Advice for options of ssh, scp, cp and rsync that differ in rdpipe and rdcp. */
import type { Topic } from '../model/options.ts';

/** Advice for an unknown option, or one whose value is wrong: `-P`, `--bwlimit`; undefined: none. */
export function adviceFor(option: string, topic: Topic): string | undefined {
  return (topic === 'copy' ? COPY : SSH).get(option);
}

/** Options of ssh and scp that rdpipe lacks, and their equivalents. */
const SSH: ReadonlyMap<string, string> = new Map([
  ['-l', 'use user@host:command'],
  ['-i', 'use -o IdentityFile=FILE'],
  ['-J', 'use -o ProxyJump=HOST'],
  ['-4', 'use -o AddressFamily=inet'],
  ['-6', 'use -o AddressFamily=inet6'],
  ['-A', 'use -o ForwardAgent=yes'],
  ['-P', "for ssh's port use -o Port=PORT"],
  ['-C', 'use --compress zstd'],
  ['-r', 'to copy directories use rdcp -r'],
  ['-t', 'commands in a pipeline have no terminal'],
]);

const IN_ARCHIVE = 'part of -a';
const SSH_IS_USED = 'ssh is always used for control; choose its program with --ssh-program PATH, its options with -o';
const DELETE = 'use --delete, which deletes after copying';
const BACKUP = 'not available: to keep earlier versions, make snapshots with --link-dest DIR';
const COMPRESS = 'use --compress zstd';

/** Options of rsync, scp and cp. */
const COPY: ReadonlyMap<string, string> = new Map([
  ['-e', SSH_IS_USED],
  ['--rsh', SSH_IS_USED],
  ['-C', COMPRESS],
  ['--compress', COMPRESS],
  ['--port', "modes are part of -a, times are always kept; for ssh's port use -o Port=NUMBER"],
  ['--bwlimit', 'use --limit RATE, in bytes per second: 10M'],
  ['-l', 'symbolic links are always copied as links; for a rate limit use --limit RATE, for a user user@host:path'],
  ['-L', 'symbolic links are always copied as links'],
  ['-d', IN_ARCHIVE],
  ['-D', IN_ARCHIVE],
  ['-g', IN_ARCHIVE],
  ['-R', 'use -r; to choose paths below SRC use --files-from'],
  ['-S', 'holes are always kept'],
  ['--sparse', 'holes are always kept'],
  ['-t', 'times are always kept'],
  ['--times', 'times are always kept'],
  ['-f', 'use --exclude and --include'],
  ['--filter', 'use --exclude and --include'],
  ['-i', 'for a key file use -o IdentityFile=FILE; to list changed paths use -v'],
  ['--itemize-changes', 'use -v; add -n for a dry run'],
  ['-I', 'use --checksum'],
  ['-J', 'use -o ProxyJump=HOST'],
  ['-3', 'data goes straight from host to host'],
  ['-4', 'use -o AddressFamily=inet'],
  ['-6', 'use -o AddressFamily=inet6'],
  ['--backup', BACKUP],
  ['-b', BACKUP],
  ['--backup-dir', BACKUP],
  ['--suffix', BACKUP],
  ['--chmod', 'not available: run chmod before or after the copy'],
  ['--hard-links', IN_ARCHIVE],
  ['--perms', IN_ARCHIVE],
  ['--owner', IN_ARCHIVE],
  ['--group', IN_ARCHIVE],
  ['--devices', IN_ARCHIVE],
  ['--specials', IN_ARCHIVE],
  ['--links', 'symbolic links are always copied as links'],
  ['--delete-after', DELETE],
  ['--delete-before', DELETE],
  ['--delete-during', DELETE],
  ['--delete-delay', DELETE],
  ['--stats', 'use -v'],
  ['--info', 'use -v'],
  ['--rsync-path', 'to run as root on HOST use --sudo HOST'],
]);
