// SPDX-License-Identifier: Apache-2.0
// rdcp between hosts of which one is hostile: a script in place of its rdtree sends what was not asked for.
import { copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { AGENT } from '../support/agent-driver.ts';
import { enter, file } from '../support/compare.ts';
import { useLab } from '../support/lab.ts';
import { END, encodeTree, LEAVE, PHASE, STATE, type TreeRecord, WANT } from '../support/tree-stream.ts';

const INTO = { type: 'place', place: 0 } as const;
const D = enter('d', { want: WANT.nothing });
const F = file('f', { size: 3 });
const REMOVE = { type: 'remove', name: 'old' } as const;
const DROPPED = { ...F, type: 'file_end', state: STATE.dropped } as const;

/** The hostile host, its hostile role, what that sends, and what rdcp says of the host. */
const CELLS = [
  [
    'a file next to the source',
    'h1',
    'scan',
    [enter('d'), LEAVE, file('.bashrc')],
    'sent a file that was not asked for: ".bashrc"',
  ],
  [
    'a removal after the scan',
    'h1',
    'read',
    [INTO, D, REMOVE, LEAVE],
    'sent a removal that was not asked for: "d/old"',
  ],
  [
    'a request for another file',
    'h2',
    'compare',
    [INTO, file('secret')],
    'sent a file that was not asked for: "secret"',
  ],
  [
    'a file that is left out',
    'h1',
    'read',
    [INTO, D, LEAVE],
    'did not send exactly what h2 asked for, and gave no reason',
  ],
  [
    'a file without content',
    'h1',
    'read',
    [INTO, D, F, DROPPED, LEAVE],
    'did not send exactly what h2 asked for, and gave',
  ],
] as const satisfies readonly (readonly [string, string, string, readonly TreeRecord[], string])[];

describe('rdcp with a hostile host', () => {
  const lab = useLab();
  let count = 0;

  for (const [title, host, role, records, words] of CELLS)
    it(`ends at ${title}, and names the host`, async () => {
      const config = hostile(host, role, records);
      for (const directory of ['d', 'to/d']) mkdirSync(join(lab.directory, directory), { recursive: true });
      for (const name of ['d/f', 'secret', 'to/d/old']) writeFileSync(join(lab.directory, name), name);
      const { status, stderr } = await lab.sh(`rdcp --config ${config} -r h1:"$PWD/d" h2:"$PWD/to"`);
      expect(stderr).to.contain(`${host} ${words}`);
      expect(stderr).to.contain('its copy of rdpipe may have been tampered with');
      expect([status, readdirSync(join(lab.directory, 'to'))]).to.deep.equal([125, ['d']]);
      expect(existsSync(join(lab.directory, 'to/d/old'))).to.equal(true);
    });

  /** A configuration in which the host's rdtree sends these records in this role, and is itself in any other. */
  function hostile(host: string, role: string, records: readonly TreeRecord[]): string {
    const directory = join(lab.homes, `hostile-${count++}`);
    const phase = { scan: PHASE.entries, read: PHASE.contents, compare: PHASE.decisions }[role] ?? PHASE.entries;
    mkdirSync(directory);
    for (const name of ['rdstage', 'rdhop']) copyFileSync(join(AGENT, '..', name), join(directory, name));
    copyFileSync(join(AGENT, '..', 'rdtree'), join(directory, 'honest'));
    writeFileSync(join(directory, 'stream'), encodeTree(phase, [...records, END]));
    const script = `#!/bin/sh
      settings=$(mktemp) && cat <&3 > "$settings" && exec 3< "$settings" || exit 99
      case $(cat "$settings"; rm "$settings") in
        *'"role":"${role}"'*) cat ${directory}/stream; exec cat > /dev/null ;;
        *) exec ${directory}/honest "$@" ;;
      esac`;
    writeFileSync(join(directory, 'rdtree'), script, { mode: 0o755 });
    const config = join(directory, 'config.toml');
    writeFileSync(config, `[host.${host}]\nagent = "${directory}/rdstage"\n`, { mode: 0o600 });
    return config;
  }
});
