/** Where this installation and its native programs are. */
import { existsSync, readdirSync, statSync } from 'node:fs';
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
export const PROGRAMS = ['rdstage', 'rdsend', 'rdrecv', 'rdtree'] as const;

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
export function locateBuilds(nativeDir = process.env.RDPIPE_NATIVE_DIR): ReadonlyMap<Platform, NativeBuild> {
  const root = installationRoot();
  const packaged = nativeDir ?? join(root, 'build/rdpipe/native');
  const builds = new Map(platformsIn(packaged).map((platform) => [platform, packagedBuild(join(packaged, platform))]));
  const made = {
    staticDir: madeIn(join(root, 'build/static')),
    dynamicDir: existing(madeIn(join(root, 'build/release'))),
  };
  if (!builds.has(THIS_PLATFORM) && isAgentIn(made.staticDir)) builds.set(THIS_PLATFORM, made);
  return builds;
}

/** The agent for this machine itself, which finds the other programs beside it; undefined where nothing is built. */
export function locateLocalAgent(nativeDir = process.env.RDPIPE_NATIVE_DIR): string | undefined {
  const root = installationRoot();
  const packaged = join(nativeDir ?? join(root, 'build/rdpipe/native'), THIS_PLATFORM);
  const folder = [packaged, join(root, 'build/release'), join(root, 'build/static')].find(isAgentIn);
  return folder && join(folder, 'rdstage');
}

function platformsIn(folder: string): Platform[] {
  return existsSync(folder) ? readdirSync(folder).filter((name) => isAgentIn(join(folder, name))) : [];
}

/** `make` puts what is to be copied to hosts apart, without symbols. */
function madeIn(folder: string): string {
  const stripped = join(folder, 'deploy');
  return isAgentIn(stripped) && !isNewer(folder, stripped) ? stripped : folder;
}

/** Whether a `make` that does not know the other folder has built a newer program. */
function isNewer(folder: string, than: string): boolean {
  const madeMs = (path: string) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return PROGRAMS.some((name) => madeMs(join(folder, name)) > madeMs(join(than, name)));
}

function packagedBuild(folder: string): NativeBuild {
  return { staticDir: folder, dynamicDir: existing(join(folder, 'dynamic')) };
}

function isAgentIn(folder: string): boolean {
  return existsSync(join(folder, 'rdstage'));
}

function existing(folder: string): string | undefined {
  return existsSync(join(folder, 'rdsend')) ? folder : undefined;
}
