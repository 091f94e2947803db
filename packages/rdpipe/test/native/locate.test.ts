import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readBundles } from '../../src/native/bundle.ts';
import { installationRoot, locateBuilds, locateLocalAgent, THIS_PLATFORM } from '../../src/native/locate.ts';

describe('the native programs', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'rdpipe-unit-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const put = (path: string, content = path): void => {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), content);
    chmodSync(join(folder, path), 0o755);
  };
  const putAll = (platform: string): void => {
    for (const name of ['rdstage', 'rdsend', 'rdrecv', 'dynamic/rdsend', 'dynamic/rdrecv']) put(`${platform}/${name}`);
  };

  it('are those of RDPIPE_NATIVE_DIR, a folder a platform', () => {
    putAll(THIS_PLATFORM);
    put('linux-riscv64/rdstage');
    put('notes/README');
    const builds = locateBuilds(folder);
    expect([...builds.keys()].sort()).to.deep.equal(['linux-riscv64', THIS_PLATFORM].sort());
    expect(builds.get(THIS_PLATFORM)).to.deep.equal({
      staticDir: join(folder, THIS_PLATFORM),
      dynamicDir: join(folder, THIS_PLATFORM, 'dynamic'),
    });
    expect(builds.get('linux-riscv64')?.dynamicDir).to.equal(undefined);
    expect(locateLocalAgent(folder)).to.equal(join(folder, THIS_PLATFORM, 'rdstage'));
  });

  it('are those that make has built, in a checkout', () => {
    const root = installationRoot();
    expect(existsSync(join(root, 'bin/rdpipe'))).to.equal(true);
    const made = ['release', 'static'].map((variant) => join(root, 'build', variant, 'rdstage')).find(existsSync);
    expect(locateLocalAgent(folder)).to.equal(made);
  });

  it('have a digest that every byte and name of them changes', async () => {
    const digestOf = async () => {
      const builds = locateBuilds(folder);
      return (await readBundles(new Map([...builds].filter(([name]) => name === 'linux-x')))).get('linux-x')?.digest;
    };
    putAll('linux-x');
    const digests = [await digestOf(), await digestOf()];
    expect(digests[0])
      .to.match(/^[0-9a-f]{64}$/)
      .and.equal(digests[1]);
    put('linux-x/dynamic/rdsend', 'other');
    digests.push(await digestOf());
    rmSync(join(folder, 'linux-x/dynamic/rdsend'));
    digests.push(await digestOf());
    rmSync(join(folder, 'linux-x/rdrecv'));
    digests.push(await digestOf());
    expect(new Set(digests).size).to.equal(4);
  });
});
