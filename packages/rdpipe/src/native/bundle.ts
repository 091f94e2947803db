/** The programs of one platform as they are copied to a host, and the name of the directory that they make there. */
import { webcrypto } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { locateBuilds, type NativeBuild, type Platform } from './locate.ts';

export interface BundleFile {
  /** Below the version's directory: `rdstage`, `dynamic/rdsend`. */
  readonly name: string;
  readonly content: Buffer;
  readonly sha256: string;
  /** The content by gzip, made when it is first asked for. */
  compressed(): Promise<Buffer>;
}

export interface Bundle {
  /** Over the names and contents of all files. */
  readonly digest: string;
  readonly agent: BundleFile;
  readonly others: readonly BundleFile[];
}

export type Bundles = ReadonlyMap<Platform, Bundle>;

let loaded: Promise<Bundles> | undefined;

/** Reads every platform's programs, once a process. */
export function loadBundles(): Promise<Bundles> {
  loaded ??= readBundles(locateBuilds());
  return loaded;
}

export async function readBundles(builds: ReadonlyMap<Platform, NativeBuild>): Promise<Bundles> {
  const bundles = [...builds].map(async ([platform, build]) => [platform, await readBundle(build)] as const);
  return new Map(await Promise.all(bundles));
}

async function readBundle({ staticDir, dynamicDir }: NativeBuild): Promise<Bundle> {
  const agent = await readProgram(staticDir, 'rdstage', '');
  const staticOnes = await readPrograms(staticDir, '');
  const dynamicOnes = dynamicDir === undefined ? [] : await readPrograms(dynamicDir, 'dynamic/');
  const others = [...staticOnes, ...dynamicOnes];
  const list = [agent, ...others].map(({ name, sha256 }) => `${sha256}  ${name}\n`);
  return { digest: await sha256Of(Buffer.from(list.join(''))), agent, others };
}

function readPrograms(folder: string, prefix: string): Promise<BundleFile[]> {
  const present = ['rdsend', 'rdrecv'].filter((name) => existsSync(join(folder, name)));
  return Promise.all(present.map((name) => readProgram(folder, name, prefix)));
}

async function readProgram(folder: string, name: string, prefix: string): Promise<BundleFile> {
  return bundleFile(`${prefix}${name}`, await readFile(join(folder, name)));
}

export async function bundleFile(name: string, content: Buffer): Promise<BundleFile> {
  let compressed: Promise<Buffer> | undefined;
  return {
    name,
    content,
    sha256: await sha256Of(content),
    compressed() {
      compressed ??= compress(content, { level: constants.Z_BEST_SPEED });
      return compressed;
    },
  };
}

const compress = promisify(gzip);

/** In a thread of its own: programs have megabytes, and ssh is to be heard meanwhile. */
async function sha256Of(data: Buffer): Promise<string> {
  return Buffer.from(await webcrypto.subtle.digest('SHA-256', data)).toString('hex');
}
