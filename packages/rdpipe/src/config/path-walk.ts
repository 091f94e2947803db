/** Walks a path link by link and holds its directory open, as a sink does (docs/adr/0014). */
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

/** A name in a directory that is held open, so that all that follows happens in that directory. */
export interface PathEnd {
  /** Leads through the open directory, which cannot be exchanged. No symbolic link, unless it is the kernel's. */
  readonly path: string;
  /** The same for the directory. */
  readonly directory: string;
  /** Undefined: nothing is there. */
  readonly found: Stats | undefined;
}

const LINKS_MAX = 40;
/** Of the kernel, for Linux on every CPU that node runs on. */
const O_PATH = 0o10000000;
const PROC_SUPER_MAGIC = 0x9fa0;
/** Stands for every user that is not mapped in this user namespace. */
const OVERFLOW_UID = 65534;

/**
 * Follows symbolic links, the last one even if nothing is there.
 * @throws what node's functions do; and where a link or the end of the path is another user's, in a directory for all.
 */
export function walkPath<T>(path: string, use: (end: PathEnd) => T): T {
  let directory = openSync(path.startsWith('/') ? '/' : '.', O_PATH | constants.O_DIRECTORY);
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
      if (found !== undefined && (found.isSymbolicLink() || rest.length === 0)) refuseStrangers(name, found, directory);
      const followed = found?.isSymbolicLink() === true ? byKernel(here, next) : found;
      if (followed === undefined && found !== undefined) {
        const target = readlinkSync(next);
        if (target.startsWith('/')) enter('/');
        names = [...namesOf(target), ...rest];
        links += 1;
      } else if (rest.length === 0) return use({ path: next, directory: here, found: followed });
      else {
        enter(next, followed === found ? constants.O_NOFOLLOW : 0);
        names = rest;
      }
    }
    throw new Error('too many symbolic links');
  } finally {
    closeSync(directory);
  }
}

/** A path that ends in a slash is a directory's. */
function namesOf(path: string): readonly string[] {
  const names = path.split('/').filter((name) => name !== '');
  return path.endsWith('/') ? [...names, '.'] : names;
}

/** Where a link below /proc leads; there may be no path to it. A file is found by its path, to be replaced. */
function byKernel(directory: string, link: string): Stats | undefined {
  if (statfsSync(`${directory}/.`).type !== PROC_SUPER_MAGIC) return undefined;
  const found = statSync(link, { throwIfNoEntry: false });
  return found?.isFile() === true ? undefined : found;
}

function refuseStrangers(name: string, found: Stats, directory: number): void {
  const { mode, uid } = fstatSync(directory);
  const isForAll = (mode & 0o1000) !== 0 && (mode & 0o022) !== 0;
  const isOwners = found.uid === uid && found.uid !== OVERFLOW_UID;
  if (!isForAll || isOwners || found.uid === process.geteuid?.()) return;
  const [what, remedy] = found.isSymbolicLink()
    ? ['a link', 'name its target instead']
    : ['a file', 'remove it or choose another name'];
  throw new Error(`${name}, in a shared directory, is ${what} of user ${found.uid} (${remedy})`);
}
