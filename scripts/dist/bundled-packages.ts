// SPDX-License-Identifier: Apache-2.0
/** The npm packages whose modules are in the bundle, according to esbuild's list, not to package.json. */
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from '../source-files.ts';
import { type Component, makePurl } from './component.ts';

/** Versions by names, written by scripts/bundle.mjs. */
const PACKAGES = 'build/rdpipe/packages.json';
const STORE = 'node_modules/.pnpm';
const LICENCE_FILE = /^(licen[cs]e|copying|notice|copyright)/i;
const LICENCE_DIRECTORY = /^licen[cs]es$/i;

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  /** The form of old packages. */
  readonly licenses?: readonly { readonly type: string }[];
  readonly dependencies?: Readonly<Record<string, string>>;
}

export function bundledPackages(root = ROOT): Component[] {
  const packages: Readonly<Record<string, string>> = JSON.parse(readFileSync(join(root, PACKAGES), 'utf8'));
  const directories = Object.entries(packages).map(([name, version]) => directoryOf(join(root, STORE), name, version));
  return directories.map((directory) => describe(directory, directories));
}

/** pnpm has a directory per version: its name has `+` instead of `/`, and after `_` the packages used with it. */
function directoryOf(store: string, name: string, version: string): string {
  const wanted = `${name.replace('/', '+')}@${version}`;
  const found = readdirSync(store).find((directory) => directory.replace(/_.*/, '') === wanted);
  if (found === undefined) throw new Error(`${wanted} is in the bundle but not in ${store} (run npm run build)`);
  return join(store, found, 'node_modules', name);
}

function describe(directory: string, bundled: readonly string[]): Component {
  const manifest = manifestOf(directory);
  const texts = licenceFiles(directory).map((file) => readFileSync(file, 'utf8'));
  if (texts.length === 0) throw new Error(`${manifest.name} is in the bundle but has no licence file`);
  return {
    name: manifest.name,
    version: manifest.version,
    purl: purlOf(manifest),
    licence: licenceOf(manifest),
    website: `https://www.npmjs.com/package/${manifest.name}`,
    texts,
    uses: Object.keys(manifest.dependencies ?? {})
      .map((name) => neighbour(directory, manifest.name, name))
      .filter((other) => other !== undefined && bundled.includes(other))
      .map((other) => purlOf(manifestOf(other ?? ''))),
    programs: [],
  };
}

function manifestOf(directory: string): Manifest {
  return JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
}

function purlOf({ name, version }: Manifest): string {
  return makePurl('npm', name, version);
}

function licenceOf({ name, license, licenses = [] }: Manifest): string {
  const licence = license ?? licenses.map(({ type }) => type).join(' OR ');
  if (licence === '') throw new Error(`${name} is in the bundle but its package.json names no licence`);
  return licence;
}

function licenceFiles(directory: string): string[] {
  const names = readdirSync(directory).sort();
  const below = names.filter((name) => LICENCE_DIRECTORY.test(name));
  return [
    ...names.filter((name) => LICENCE_FILE.test(name) && !below.includes(name)).map((name) => join(directory, name)),
    ...below.flatMap((name) =>
      readdirSync(join(directory, name))
        .sort()
        .map((file) => join(directory, name, file)),
    ),
  ];
}

/** pnpm puts the dependencies of a package next to it. */
function neighbour(directory: string, own: string, name: string): string | undefined {
  const beside = own.includes('/') ? dirname(dirname(directory)) : dirname(directory);
  const path = join(beside, name);
  return existsSync(path) ? realpathSync(path) : undefined;
}
