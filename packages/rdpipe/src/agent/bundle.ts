/** The programs of one platform as they are copied to a host, and their digest. */
import { createHash, webcrypto } from 'node:crypto';
import { existsSync, promises, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { locateBuilds, type NativeBuild, type Platform, PROGRAMS } from './locate.ts';

export interface BundleFile {
  /** Relative to the version's directory: `rdstage`, `dynamic/rdhop`. */
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
  content(): Promise<Buffer>;
}

export interface Bundle {
  /** SHA-256 over the names and digests of all files. */
  readonly digest: string;
  readonly agent: BundleFile;
  /**
   * All programs but `agent`. Programs below `dynamic/`, which may include another agent, use libraries of the host;
   * they run on a host that has kept any of them.
   */
  readonly others: readonly BundleFile[];
}

export type Bundles = ReadonlyMap<Platform, Bundle>;

let loaded: Promise<Bundles> | undefined;

/** Returns the bundle of every platform, searched for once per process. Programs are read when they are copied. */
export function loadBundles(): Promise<Bundles> {
  loaded ??= readBundles(locateBuilds());
  return loaded;
}

/** Returns a bundle for each build. @throws Error if a build has no rdstage. */
export async function readBundles(builds: ReadonlyMap<Platform, NativeBuild>): Promise<Bundles> {
  const bundles = [...builds].map(async ([platform, build]) => [platform, await readBundle(build)] as const);
  return new Map(await Promise.all(bundles));
}

async function readBundle({ staticDir, dynamicDir }: NativeBuild): Promise<Bundle> {
  const [agent, ...staticOnes] = await readPrograms(staticDir, '', PROGRAMS);
  if (agent === undefined) throw new Error(`${staticDir} holds no rdstage`);
  const dynamicOnes = dynamicDir === undefined ? [] : await readPrograms(dynamicDir, 'dynamic/', PROGRAMS);
  const others = [...staticOnes, ...dynamicOnes];
  const list = [agent, ...others].map(({ name, sha256 }) => `${sha256}  ${name}\n`);
  return { digest: createHash('sha256').update(list.join('')).digest('hex'), agent, others };
}

function readPrograms(directory: string, prefix: string, names: readonly string[]): Promise<BundleFile[]> {
  const present = names.filter((name) => existsSync(join(directory, name)));
  const sums = knownSums(directory, present);
  const files = present.map(async (name) => {
    const path = join(directory, name);
    const sha256 = sums.get(name) ?? (await sha256Of(await promises.readFile(path)));
    return { name: `${prefix}${name}`, bytes: statSync(path).size, sha256, content: () => promises.readFile(path) };
  });
  return Promise.all(files);
}

/**
 * Returns the digests that `make` wrote next to the programs, or none if a program has changed since. A wrong digest
 * does no harm: the host to which the program is copied rejects it.
 */
function knownSums(directory: string, names: readonly string[]): ReadonlyMap<string, string> {
  const path = join(directory, 'sha256sums');
  if (!existsSync(path)) return new Map();
  const writtenMs = statSync(path).mtimeMs;
  if (names.some((name) => statSync(join(directory, name)).mtimeMs > writtenMs)) return new Map();
  const lines = [...readFileSync(path, 'utf8').matchAll(/^([0-9a-f]{64}) [ *](\S+)$/gm)];
  return new Map(lines.map(([, sum = '', name = '']) => [name, sum]));
}

/**
 * Returns the digest in hexadecimal. Runs in another thread: programs have megabytes, and ssh needs this thread
 * meanwhile.
 */
export async function sha256Of(data: Buffer): Promise<string> {
  return Buffer.from(await webcrypto.subtle.digest('SHA-256', data)).toString('hex');
}
