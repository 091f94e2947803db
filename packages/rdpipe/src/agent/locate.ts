/** Finds this installation and its native programs. */
import { existsSync, readdirSync } from 'node:fs';
import { arch } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Returns the directory that holds `bin/` and `build/`: the nearest one above this file, which is a source file or the
 * bundle.
 * @throws Error if there is none.
 */
export function installationRoot(): string {
  let directory = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(directory, 'bin/rdpipe'))) {
    const parent = dirname(directory);
    if (parent === directory) throw new Error('bin/rdpipe is missing: this copy of rdpipe is incomplete');
    directory = parent;
  }
  return directory;
}

/** The agent and the programs that it starts; a host gets copies of all of them. */
export const PROGRAMS = ['rdstage', 'rdhop', 'rdtree'] as const;

/** The output of `uname -s` and `uname -m` in lower case: `linux-x86_64`, `linux-aarch64`. */
export type Platform = string;

export interface NativeBuild {
  /** Directory of the static builds of all programs. */
  readonly staticDir: string;
  /** Directory of the builds that may load libraries of their host; undefined if there are none. */
  readonly dynamicDir: string | undefined;
}

export const THIS_PLATFORM: Platform = `linux-${{ x64: 'x86_64', arm64: 'aarch64' }[arch()] ?? arch()}`;

/** Returns the builds of every platform whose programs can be copied to a host. */
export function locateBuilds(directory = nativeDirectory()): ReadonlyMap<Platform, NativeBuild> {
  const platforms = existsSync(directory) ? readdirSync(directory) : [];
  const builds = platforms.map((platform) => [platform, buildIn(join(directory, platform))] as const);
  return new Map(builds.filter(([, { staticDir }]) => hasAgent(staticDir)));
}

/**
 * Returns the agents for this machine, the preferred one first. Each uses the programs in its directory. The static
 * one, which is the last, needs no libraries.
 */
export function locateLocalAgents(directory = nativeDirectory()): readonly string[] {
  const directories = ['dynamic', 'static'].map((kind) => join(directory, THIS_PLATFORM, kind));
  return directories.filter(hasAgent).map((found) => join(found, 'rdstage'));
}

function nativeDirectory(): string {
  return process.env.RDPIPE_NATIVE_DIR ?? join(installationRoot(), 'build/rdpipe/native');
}

function buildIn(directory: string): NativeBuild {
  const dynamicDir = join(directory, 'dynamic');
  return { staticDir: join(directory, 'static'), dynamicDir: hasAgent(dynamicDir) ? dynamicDir : undefined };
}

function hasAgent(directory: string): boolean {
  return existsSync(join(directory, 'rdstage'));
}
