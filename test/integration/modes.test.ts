// SPDX-License-Identifier: Apache-2.0
// Modes of everything that is written: with umask 0 others get no access,
// except to files to which they had it before.
import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { useLab } from '../support/lab.ts';
import { needsRoot } from '../support/needs.ts';

const ANN = 1234;

describe('modes of everything written', () => {
  const lab = useLab({ isFirst: true });
  const file = (name: string) => join(lab.directory, name);
  const modeOf = (name: string) => (statSync(file(name)).mode & 0o7777).toString(8);

  it('by a run, on this machine and on its hosts', async () => {
    mkdirSync(file('run'), { mode: 0o700 });
    const script = `umask 000; exec rdpipe --persist 5 --report run.html h1:"touch $PWD/began; exec sleep 1000" h2:cat`;
    const running = lab.start(script, { env: { XDG_RUNTIME_DIR: file('run') } });
    await eventually(() => statSync(file('began')));
    const homes = ['h1', 'h2'].map((name) => join(lab.host(name).home, '.cache'));
    const written = [file('run'), ...homes].flatMap(below);
    running.kill('SIGINT');
    await running.result;
    expectPrivate(written, ['/run/rdpipe-', '/rdstage', '/rdhop', '/used']);
    expect(modeOf('run.html')).to.equal('600');
  });

  it('by a demo', async () => {
    mkdirSync(file('tmp'), { mode: 0o700 });
    const running = lab.start('umask 000; exec rdpipe demo', { env: { TMPDIR: file('tmp') } });
    const names = ['/id', '/known_hosts', '/ssh_config', '/rdhop'];
    const written = await eventually(() => {
      const seen = below(file('tmp'));
      for (const name of names)
        expect(
          seen.some(({ path }) => path.endsWith(name)),
          name,
        ).to.equal(true);
      return seen;
    });
    running.kill('SIGTERM');
    await running.result;
    expectPrivate(written, names);
  });

  it('as pages', async () => {
    for (const [name, mode] of [
      ['private.html', 0o600],
      ['shared.html', 0o664],
    ] as const) {
      writeFileSync(file(name), 'old');
      chmodSync(file(name), mode);
    }
    const { stderr } = await lab.sh(`umask 000
      for name in new private shared; do rdpipe --report $name.html h1:true; done
      rdpipe bench --rounds 1 --size 1M --transport tcp --report bench.html h1 h2 > /dev/null`);
    expect(stderr).to.equal('');
    expect(['new.html', 'private.html', 'shared.html', 'bench.html'].map(modeOf)).to.deep.equal([
      '600',
      '600',
      '664',
      '600',
    ]);
  });

  it("as a page that replaces another user's", async function () {
    needsRoot(this);
    writeFileSync(file('page.html'), 'old');
    chmodSync(file('page.html'), 0o640);
    chownSync(file('page.html'), ANN, ANN + 1);
    expect((await lab.sh('rdpipe --report page.html h1:true')).stderr).to.equal('');
    const { uid, gid } = statSync(file('page.html'));
    expect([uid, gid, modeOf('page.html')]).to.deep.equal([ANN, ANN + 1, '640']);
  });
});

interface Written {
  readonly path: string;
  readonly mode: number;
}

/** Lists everything below a directory except symbolic links; skips entries that vanish meanwhile. */
function below(directory: string): Written[] {
  const entries = readdirSync(directory, { withFileTypes: true });
  return entries.flatMap((entry) => {
    const path = join(directory, entry.name);
    const status = lstatSync(path, { throwIfNoEntry: false });
    if (status === undefined || status.isSymbolicLink()) return [];
    return [{ path, mode: status.mode }, ...(entry.isDirectory() ? below(path) : [])];
  });
}

function expectPrivate(written: readonly Written[], parts: readonly string[]): void {
  for (const part of parts)
    expect(
      written.some(({ path }) => path.includes(part)),
      part,
    ).to.equal(true);
  const open = written.filter(({ mode }) => (mode & 0o77) !== 0);
  expect(open.map(({ path, mode }) => `${path} ${mode.toString(8)}`)).to.deep.equal([]);
}
