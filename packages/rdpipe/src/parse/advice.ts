/** The advice for options of ssh, scp, cp and rsync that are others here. */
import type { Topic } from '../model/options.ts';

/** `option` is unknown here, or its value makes no sense: `-P`, `--bwlimit`. */
export function adviceFor(option: string, topic: Topic): string | undefined {
  return (topic === 'copy' ? COPY : SSH).get(option);
}

/** Options of ssh and scp that rdpipe lacks, and their equivalents. ssh takes values in the same word: `-lann`. */
const SSH: ReadonlyMap<string, string> = new Map([
  ['-l', 'write user@host:command'],
  ['-i', 'write -o IdentityFile=FILE'],
  ['-J', 'write -o ProxyJump=HOST'],
  ['-4', 'write -o AddressFamily=inet'],
  ['-6', 'write -o AddressFamily=inet6'],
  ['-A', 'write -o ForwardAgent=yes'],
  ['-P', "ssh's port is -o Port=PORT"],
  ['-C', 'write --compress zstd'],
  ['-r', 'rdcp -r copies folders'],
  ['-t', 'commands of a pipeline have no terminal'],
]);

const PARTIAL = 'on by itself: an interrupted copy goes on when it is run again';
const IN_ARCHIVE = 'part of -a';
const SSH_IS_USED = 'ssh is always used for control; --ssh-program PATH chooses which, -o its options';
const DELETE = 'write --delete: it removes at the end';
const COMPRESS = 'write --compress zstd';

/** Options of rsync, scp and cp. */
const COPY: ReadonlyMap<string, string> = new Map([
  ['-P', `ssh's port is -o Port=NUMBER; rsync's -P is ${PARTIAL}, with progress on a terminal`],
  ['-e', SSH_IS_USED],
  ['--rsh', SSH_IS_USED],
  ['-z', COMPRESS],
  ['-C', COMPRESS],
  ['--compress', COMPRESS],
  ['--port', "modes are part of -a, times always kept; ssh's port is -o Port=NUMBER"],
  ['--bwlimit', 'write --limit RATE, in bytes a second: 10M'],
  ['-l', 'symbolic links are always copied as links; a limit is --limit RATE; a user is user@host:path'],
  ['-L', 'symbolic links are always copied as links'],
  ['-d', IN_ARCHIVE],
  ['-D', IN_ARCHIVE],
  ['-g', IN_ARCHIVE],
  ['-R', 'write -r; for paths below SRC --files-from'],
  ['-S', 'holes are always kept'],
  ['--sparse', 'holes are always kept'],
  ['-t', 'times are always kept'],
  ['--times', 'times are always kept'],
  ['-f', 'write --exclude and --include'],
  ['--filter', 'write --exclude and --include'],
  ['-i', 'write -o IdentityFile=FILE; what is done to each path is -v'],
  ['--itemize-changes', 'write -v; with -n nothing is copied'],
  ['-I', 'write --checksum'],
  ['-J', 'write -o ProxyJump=HOST'],
  ['-3', 'data goes straight from host to host'],
  ['-4', 'write -o AddressFamily=inet'],
  ['-6', 'write -o AddressFamily=inet6'],
  ['-u', 'files that differ in size or time are copied, older or newer'],
  ['--update', 'files that differ in size or time are copied, older or newer'],

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
  ['--progress', 'on a terminal there is progress without it; lines elsewhere are --progress plain'],
  ['--stats', 'write -v'],
  ['--info', 'write -v'],
  ['--rsync-path', 'the agent of a host as root is --sudo HOST'],
]);
