// SPDX-License-Identifier: Apache-2.0
// Writes build/rdpipe/program.cache: V8's compiled code of a run between two hosts on this machine.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execaSync } from 'execa';

/** Does the parts of ssh that rdpipe uses: the configuration, a connection that lasts and makes its path, a shell. */
const STAND_IN = `#!/bin/sh
for word do
  case $last$word in
    -G) printf 'hostname %s\\nuser nobody\\nport 22\\n' "$$"; exit ;;
    -S*) socket=$word ;;
    sh) cd && exec sh ;;
  esac
  case $word in -S) last=$word ;; *) last= ;; esac
done
: >"$socket"
exec sleep 60
`;

/** Without it the program runs as well: that this fails is no failure of the build. */
export function keepCompiledCode(root) {
  const folder = mkdtempSync(join(tmpdir(), 'rdpipe-build-'));
  try {
    mkdirSync(join(folder, 'home'));
    writeFileSync(join(folder, 'ssh'), STAND_IN, { mode: 0o700 });
    const keep = ['--require', join(root, 'scripts/keep-compiled-code.cjs')];
    const words = [...keep, join(root, 'build/rdpipe/rdpipe.cjs'), '-v', 'one:cat', 'two:cat'];
    const env = { PATH: `${folder}:${process.env.PATH}`, HOME: join(folder, 'home') };
    const options = { input: 'hi\n', env, extendEnv: false, timeout: 60_000, reject: false };
    const { failed, stderr } = execaSync(process.execPath, words, options);
    if (failed) console.error(`bundle: no compiled code was kept, so that rdpipe starts more slowly: ${stderr}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
