// SPDX-License-Identifier: Apache-2.0
// rdcp between hosts of which one is hostile: a script in place of its rdtree sends what was not asked for.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { enter, file } from '../support/compare.ts';
import { makeHostile } from '../support/hostile-tree.ts';
import { useLab } from '../support/lab.ts';
import { LEAVE, STATE, type TreeRecord, WANT } from '../support/tree-stream.ts';

type Hostility = [role: 'scan' | 'read' | 'compare', records: readonly TreeRecord[]];

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
  ['a source that is hidden', 'h1', 'scan', [], 'sent nothing of a source that was asked for: "d"'],
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
] as const satisfies readonly (readonly [string, string, ...Hostility, string])[];

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

  /** A configuration in which the host's rdtree sends these records in this role. */
  function hostile(host: string, ...[role, records]: Hostility): string {
    const directory = join(lab.homes, `hostile-${count++}`);
    makeHostile(directory, role, records);
    const config = join(directory, 'config.toml');
    writeFileSync(config, `[host.${host}]\nagent = "${directory}/rdstage"\n`, { mode: 0o600 });
    return config;
  }
});
