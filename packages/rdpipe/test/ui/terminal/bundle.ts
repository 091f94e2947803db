import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/**
 * A fixture of this folder as a script that node runs without tsx, which opens the standard streams itself. Registers
 * its own making and removal with mocha.
 */
export function bundled(fixture: string): { path(): string } {
  let folder: string;
  const path = () => join(folder, 'script.mjs');
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rdpipe-fixture-'));
    const entry = fileURLToPath(new URL(fixture, import.meta.url));
    await build({ entryPoints: [entry], outfile: path(), bundle: true, platform: 'node', format: 'esm' });
  });
  after(() => rm(folder, { recursive: true }));
  return { path };
}
