import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { eventually } from '../../../../test/support/eventually.ts';
import { makePrivateDir } from '../../src/session/private-dir.ts';

describe('the private directory', () => {
  let runtimeDir: string;

  beforeEach(() => {
    runtimeDir = mkdtempSync(join(tmpdir(), 'rdpipe-unit-'));
  });
  afterEach(() => rmSync(runtimeDir, { recursive: true }));

  it('is accessible only to this user, and is removed with its contents', async () => {
    const dir = await makePrivateDir(runtimeDir);
    expect(dirname(dir.path)).to.equal(runtimeDir);
    expect(statSync(dir.path).mode & 0o777).to.equal(0o700);
    writeFileSync(join(dir.path, 'log'), '');
    await dir.remove();
    expect(readdirSync(runtimeDir)).to.deep.equal([]);
    await dir.remove();
  });

  it('is removed when the process that created it is killed', async () => {
    const module = new URL('../../src/session/private-dir.ts', import.meta.url);
    const script = `const { makePrivateDir } = await import('${module}');
      await makePrivateDir('${runtimeDir}');
      process.kill(process.pid, 'SIGKILL');`;
    const words = ['--import', 'tsx', '--input-type=module', '-e', script];
    const { signal } = execaSync(process.execPath, words, { reject: false });
    expect(signal).to.equal('SIGKILL');
    await eventually(() => expect(readdirSync(runtimeDir)).to.deep.equal([]));
  });

  for (const [what, base] of [
    ['does not exist', '/nowhere/run'],
    ['is not set', undefined],
    ['makes socket paths too long', `/tmp/${'x'.repeat(80)}`],
    ['is a path that a shell would split', '/tmp/a b'],
    ['is a path that ssh would expand', '/tmp/%h'],
  ] as const) {
    it(`is in /tmp if XDG_RUNTIME_DIR ${what}`, async () => {
      const dir = await makePrivateDir(base ?? '');
      expect(dirname(dir.path)).to.equal('/tmp');
      await dir.remove();
      expect(existsSync(dir.path)).to.equal(false);
    });
  }

  it('leaves time for all else while changes keep arriving', async () => {
    const dir = makePrivateDir(runtimeDir);
    const path = dir.newPath('log');
    let tests = 0;
    let isServed = false;
    await dir.until(path, () => {
      tests += 1;
      if (tests === 2) setImmediate(() => (isServed = true));
      writeFileSync(path, `${tests}`);
      return isServed || tests > 1000;
    });
    expect(isServed, `after ${tests} tests`).to.equal(true);
    await dir.remove();
  });
});
