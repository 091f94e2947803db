// SPDX-License-Identifier: Apache-2.0
// Finds the packages of npm that are in a bundle, with their versions, in what esbuild says it read.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** `{ name: version }` of the code in the outputs of a build: `metafile` is esbuild's, `directory` where it ran. */
export function bundledPackages(metafile, directory) {
  const inputs = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.entries(inputs));
  const files = inputs.filter(([file, { bytesInOutput }]) => bytesInOutput > 0 && /(^|\/)node_modules\//.test(file));
  const manifests = files.map(([file]) => manifestOf(resolve(directory, file)));
  return Object.fromEntries(manifests.map(({ name, version }) => [name, version]));
}

/** The nearest one above a file. Those without a version only set a directory's type. */
function manifestOf(file) {
  for (let directory = dirname(file); directory !== dirname(directory); directory = dirname(directory)) {
    const path = join(directory, 'package.json');
    const manifest = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
    if (manifest.version !== undefined) return manifest;
  }
  throw new Error(`no package.json above ${file}`);
}
