/** Where this installation and its native programs are. */
import { existsSync, readdirSync } from 'node:fs';
import { arch } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The directory that holds `bin/` and `build/`: the nearest one above this file, which is either a source or the
 * bundle.
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

/** The agent, and the programs that it starts: each set of them that is copied to a host. */
export const PROGRAMS = ['rdstage', 'rdhop', 'rdtree'] as const;

/** As `uname -s` and `uname -m` print them, in lower case: `linux-x86_64`, `linux-aarch64`. */
export type Platform = string;

export interface NativeBuild {
  /** Holds static builds of all programs. */
  readonly staticDir: string;
  /** Holds builds that may open libraries of their host; undefined where there are none. */
  readonly dynamicDir: string | undefined;
}

export const THIS_PLATFORM: Platform = `linux-${{ x64: 'x86_64', arm64: 'aarch64' }[arch()] ?? arch()}`;

/** Every platform whose programs can be copied to a host. */
export function locateBuilds(directory = nativeDirectory()): ReadonlyMap<Platform, NativeBuild> {
  const platforms = existsSync(directory) ? readdirSync(directory) : [];
  const builds = platforms.map((platform) => [platform, buildIn(join(directory, platform))] as const);
  return new Map(builds.filter(([, { staticDir }]) => hasAgent(staticDir)));
}

/** The agents for this machine itself, the better first; each uses the programs beside it. The last needs nothing. */
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
