// SPDX-License-Identifier: Apache-2.0
// The Debian in which static programs are built is removed at every end of the process that made it.
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { execa } from 'execa';
import { eventually } from '../../support/eventually.ts';
import { needsRoot, needsTool } from '../../support/needs.ts';
import { ROOT } from '../../support/root.ts';

const MAKE = "const { DebianRoot } = await import('./scripts/dist/debian-root.ts'); await DebianRoot.make();";

describe('the Debian for static programs', () => {
  let scratch: string;

  before(function () {
    needsTool(this, 'debootstrap');
    needsRoot(this);
    scratch = mkdtempSync(join(tmpdir(), 'debian-root-'));
  });
  after(() => rmSync(scratch, { recursive: true, force: true }));

  for (const signal of ['SIGKILL', 'SIGINT', 'SIGTERM'] as const)
    it(`is removed after ${signal} while it is made`, async () => {
      const words = ['--import', 'tsx', '--input-type=module', '--eval', MAKE];
      const maker = execa('node', words, { cwd: ROOT, env: { TMPDIR: scratch }, reject: false });
      await eventually(() => {
        const [name = ''] = made();
        expect(existsSync(join(scratch, name, 'debootstrap/debootstrap.log'))).to.equal(true);
      });
      maker.kill(signal);
      expect((await maker).signal).to.equal(signal);
      await eventually(() => expect(made()).to.deep.equal([]));
    });

  /** tsx has a cache in the same directory. */
  function made(): string[] {
    return readdirSync(scratch).filter((name) => name.startsWith('rdpipe-debian-'));
  }
});
