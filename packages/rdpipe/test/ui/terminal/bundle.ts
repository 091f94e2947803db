import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/**
 * A fixture of this directory as a script that node runs without tsx, which would open the standard streams.
 * Registers hooks of mocha that create and remove it.
 */
export function bundled(fixture: string): { path(): string } {
  let directory: string;
  const path = () => join(directory, 'script.mjs');
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'rdpipe-fixture-'));
    const entry = fileURLToPath(new URL(fixture, import.meta.url));
    await build({ entryPoints: [entry], outfile: path(), bundle: true, platform: 'node', format: 'esm' });
  });
  after(() => rm(directory, { recursive: true }));
  return { path };
}
