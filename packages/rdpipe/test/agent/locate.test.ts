import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readBundles } from '../../src/agent/bundle.ts';
import { chooseLocalAgent } from '../../src/agent/local-agent.ts';
import { installationRoot, locateBuilds, locateLocalAgents, THIS_PLATFORM } from '../../src/agent/locate.ts';

describe('the native programs', () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'rdpipe-unit-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const put = (path: string, content = path): void => {
    mkdirSync(join(directory, path, '..'), { recursive: true });
    writeFileSync(join(directory, path), content);
    chmodSync(join(directory, path), 0o755);
  };
  const putAll = (platform: string): void => {
    for (const kind of ['static', 'dynamic'])
      for (const name of ['rdstage', 'rdhop', 'rdtree']) put(`${platform}/${kind}/${name}`);
  };

  it('are those in RDPIPE_NATIVE_DIR, one directory per platform', () => {
    putAll(THIS_PLATFORM);
    put('linux-riscv64/static/rdstage');
    put('notes/README');
    const builds = locateBuilds(directory);
    expect([...builds.keys()].sort()).to.deep.equal(['linux-riscv64', THIS_PLATFORM].sort());
    expect(builds.get(THIS_PLATFORM)).to.deep.equal({
      staticDir: join(directory, THIS_PLATFORM, 'static'),
      dynamicDir: join(directory, THIS_PLATFORM, 'dynamic'),
    });
    expect(builds.get('linux-riscv64')?.dynamicDir).to.equal(undefined);
  });

  it('are those built by make, in a checkout', () => {
    const made = ['dynamic', 'static'].map((kind) =>
      join(installationRoot(), 'build/rdpipe/native', THIS_PLATFORM, kind, 'rdstage'),
    );
    expect(locateLocalAgents()).to.deep.equal(made);
    expect(made.filter(existsSync)).to.deep.equal(made);
  });

  describe('for this machine', () => {
    const agentIn = (kind: string) => join(directory, THIS_PLATFORM, kind, 'rdstage');
    const choose = () => chooseLocalAgent(locateLocalAgents(directory));
    const rdhop = join(THIS_PLATFORM, 'dynamic/rdhop');

    it('are the dynamic ones, if they run', async () => {
      putAll(THIS_PLATFORM);
      put(rdhop, '#!/bin/sh\n');
      expect(await choose()).to.equal(agentIn('dynamic'));
    });

    it('are the static ones if a library or the loader is missing', async () => {
      putAll(THIS_PLATFORM);
      for (const broken of ['#!/bin/sh\nexit 127\n', '#!/lib/no-loader\n']) {
        put(rdhop, broken);
        expect(await choose(), broken).to.equal(agentIn('static'));
      }
    });

    it('are the only ones', async () => {
      expect(await choose()).to.equal(undefined);
      put(`${THIS_PLATFORM}/static/rdstage`);
      expect(await choose()).to.equal(agentIn('static'));
    });
  });

  it('have a digest that depends on all their bytes and names', async () => {
    const digestOf = async () => {
      const builds = locateBuilds(directory);
      return (await readBundles(new Map([...builds].filter(([name]) => name === 'linux-x')))).get('linux-x')?.digest;
    };
    putAll('linux-x');
    const digests = [await digestOf(), await digestOf()];
    expect(digests[0])
      .to.match(/^[0-9a-f]{64}$/)
      .and.equal(digests[1]);
    put('linux-x/dynamic/rdhop', 'other');
    digests.push(await digestOf());
    rmSync(join(directory, 'linux-x/dynamic/rdhop'));
    digests.push(await digestOf());
    rmSync(join(directory, 'linux-x/static/rdhop'));
    digests.push(await digestOf());
    expect(new Set(digests).size).to.equal(4);
  });
});
