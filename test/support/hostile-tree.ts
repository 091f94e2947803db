// SPDX-License-Identifier: Apache-2.0
// Programs of a host whose rdtree, a script in one role, sends what was not asked for.
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BIN } from './programs.ts';
import { RING_FUNCTIONS } from './shell-ring.ts';
import { END, encodeTree, PHASE, type TreeRecord } from './tree-stream.ts';

const PHASES = { scan: PHASE.entries, read: PHASE.contents, compare: PHASE.decisions };

/** Copies the programs into the new `directory`; its rdtree sends `records` in `role`, and is itself in any other. */
export function makeHostile(directory: string, role: keyof typeof PHASES, records: readonly TreeRecord[]): void {
  mkdirSync(directory);
  for (const name of ['rdstage', 'rdhop', 'rdrecv']) copyFileSync(join(BIN, name), join(directory, name));
  copyFileSync(join(BIN, 'rdtree'), join(directory, 'honest'));
  writeFileSync(join(directory, 'stream'), encodeTree(PHASES[role], [...records, END]));
  const send = role === 'read' ? 'into_ring' : 'cat';
  const script = `#!/bin/sh
    ${RING_FUNCTIONS}
    settings=$(mktemp) && cat <&3 > "$settings" && exec 3< "$settings" || exit 99
    case $(cat "$settings"; rm "$settings") in
      *'"role":"${role}"'*) ${send} ${directory}/stream; exec cat > /dev/null ;;
      *) exec ${directory}/honest "$@" ;;
    esac`;
  writeFileSync(join(directory, 'rdtree'), script, { mode: 0o755 });
}
