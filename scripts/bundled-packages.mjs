// SPDX-License-Identifier: Apache-2.0
// Finds the packages of npm that are in a bundle, with their versions, in what esbuild says it read.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** `{ name: version }` of the code in the outputs of a build: `metafile` is esbuild's, `folder` where it ran. */
export function bundledPackages(metafile, folder) {
  const inputs = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.entries(inputs));
  const files = inputs.filter(([file, { bytesInOutput }]) => bytesInOutput > 0 && /(^|\/)node_modules\//.test(file));
  const manifests = files.map(([file]) => manifestOf(resolve(folder, file)));
  return Object.fromEntries(manifests.map(({ name, version }) => [name, version]));
}

/** The nearest one above a file. Those without a version only set a folder's type. */
function manifestOf(file) {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    const path = join(folder, 'package.json');
    const manifest = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
    if (manifest.version !== undefined) return manifest;
  }
  throw new Error(`no package.json above ${file}`);
}
