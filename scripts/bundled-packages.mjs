// SPDX-License-Identifier: Apache-2.0
// Finds the npm packages in a bundle, with their versions, in esbuild's metafile.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** `{ name: version }` for the code in a build's outputs: `metafile` is esbuild's, `directory` is where it ran. */
export function bundledPackages(metafile, directory) {
  const inputs = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.entries(inputs));
  const files = inputs.filter(([file, { bytesInOutput }]) => bytesInOutput > 0 && /(^|\/)node_modules\//.test(file));
  const manifests = files.map(([file]) => manifestOf(resolve(directory, file)));
  return Object.fromEntries(manifests.map(({ name, version }) => [name, version]));
}

/** The nearest package.json above a file; one without a version only sets a directory's type, and is skipped. */
function manifestOf(file) {
  for (let directory = dirname(file); directory !== dirname(directory); directory = dirname(directory)) {
    const path = join(directory, 'package.json');
    const manifest = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
    if (manifest.version !== undefined) return manifest;
  }
  throw new Error(`no package.json above ${file}`);
}
