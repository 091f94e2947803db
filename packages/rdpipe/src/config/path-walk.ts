/** Walks a path link by link, holding its directory open, as a sink does (docs/adr/0014). */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  type Stats,
  statfsSync,
  statSync,
} from 'node:fs';

/** A name in a directory that is held open, so that every later operation is in that directory. */
export interface PathEnd {
  /** A path through the open directory, which cannot be replaced. Not a symbolic link, except one of /proc. */
  readonly path: string;
  /** The path of the open directory. */
  readonly directory: string;
  /** Undefined: the name does not exist. */
  readonly found: Stats | undefined;
}

const LINKS_MAX = 40;
/** The kernel's value, the same on every CPU that node supports. */
const O_PATH = 0o10000000;
const PROC_SUPER_MAGIC = 0x9fa0;
/** The owner shown for all users that are not mapped in this user namespace. */
const OVERFLOW_UID = 65534;

/**
 * Follows all symbolic links, also the last, and passes the end to `use`, which need not exist. Returns `use`'s result.
 * @throws errors of node's fs, and an error if a link or the end is another user's file in a shared directory.
 */
export function walkPath<T>(path: string, use: (end: PathEnd) => T): T {
  let directory = openSync(path.startsWith('/') ? '/' : '.', O_PATH | constants.O_DIRECTORY);
  let isForeign = false;
  const enter = (next: string, flags = 0) => {
    const entered = openSync(next, O_PATH | constants.O_DIRECTORY | flags);
    closeSync(directory);
    directory = entered;
  };
  try {
    let names = namesOf(path);
    for (let links = 0; links <= LINKS_MAX; ) {
      const [name = '.', ...rest] = names;
      const here = `/proc/self/fd/${directory}`;
      const next = `${here}/${name}`;
      const found = lstatSync(next, { throwIfNoEntry: rest.length > 0 });
      if (found !== undefined) refuseStrangers(name, found, { directory, isForeign, isLast: rest.length === 0 });
      const followed = found?.isSymbolicLink() === true ? byKernel(here, next) : found;
      if (followed === undefined && found !== undefined) {
        const target = readlinkSync(next);
        if (target.startsWith('/')) {
          enter('/');
          isForeign = false;
        }
        names = [...namesOf(target), ...rest];
        links += 1;
      } else if (rest.length === 0) return use({ path: next, directory: here, found: followed });
      else {
        isForeign ||= found !== undefined && belongsToStranger(found, directory);
        enter(next, followed === found ? constants.O_NOFOLLOW : 0);
        names = rest;
      }
    }
    throw new Error('too many symbolic links');
  } finally {
    closeSync(directory);
  }
}

/** The names in a path; a trailing slash, which requires a directory, becomes `.`. */
function namesOf(path: string): readonly string[] {
  const names = path.split('/').filter((name) => name !== '');
  return path.endsWith('/') ? [...names, '.'] : names;
}

/** The target of a link below /proc, which may have no path; undefined: not in /proc, or a file, replaced by path. */
function byKernel(directory: string, link: string): Stats | undefined {
  if (statfsSync(`${directory}/.`).type !== PROC_SUPER_MAGIC) return undefined;
  const found = statSync(link, { throwIfNoEntry: false });
  return found?.isFile() === true ? undefined : found;
}

interface Place {
  readonly directory: number;
  /** The directory is that of a user of a shared directory, or below it. */
  readonly isForeign: boolean;
  readonly isLast: boolean;
}

/**
 * Below another user's directory no link is followed: that user's may lead to any file of this user, and could take the
 * place of another before it is read, by its name.
 */
function refuseStrangers(name: string, found: Stats, { directory, isForeign, isLast }: Place): void {
  const isLink = found.isSymbolicLink();
  if (!(isLink && isForeign) && !((isLink || isLast) && belongsToStranger(found, directory))) return;
  const where = isForeign ? "in another user's part of a shared directory" : 'in a shared directory';
  const [what, remedy] = isLink
    ? ['a link', 'name its target instead']
    : ['a file', 'remove it or choose another name'];
  throw new Error(`${name}, ${where}, is ${what} of user ${found.uid} (${remedy})`);
}

function belongsToStranger(found: Stats, directory: number): boolean {
  const { mode, uid } = fstatSync(directory);
  const isForAll = (mode & 0o1000) !== 0 && (mode & 0o022) !== 0;
  const isOwners = found.uid === uid && found.uid !== OVERFLOW_UID;
  return isForAll && !isOwners && found.uid !== process.geteuid?.();
}
