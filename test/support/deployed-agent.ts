// SPDX-License-Identifier: Apache-2.0
// Puts the agent into a host's home directory, as rdpipe does in its first run.
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { loadBundles } from '../../packages/rdpipe/src/agent/bundle.ts';
import { THIS_PLATFORM } from '../../packages/rdpipe/src/agent/locate.ts';

/** Without the agent, the first run on a host takes a second longer, to copy it. */
export async function putAgent(home: string): Promise<void> {
  const bundle = (await loadBundles()).get(THIS_PLATFORM);
  if (bundle === undefined) throw new Error(`no programs for ${THIS_PLATFORM}: run 'npm run build'`);
  const version = join(home, '.cache/rdpipe', bundle.digest);
  for (const { name, content } of [bundle.agent, ...bundle.others]) {
    const file = join(version, name);
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(file, await content(), { mode: 0o700 });
  }
  await writeFile(join(version, 'used'), '', { mode: 0o600 });
}
