// SPDX-License-Identifier: Apache-2.0
// The node for bin/rdpipe and bin/rdcp: how it is found, and which versions are rejected.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../support/root.ts';
import { runProgram } from '../support/run-program.ts';

describe('the node of bin/rdpipe', () => {
  let directory: string;
  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'rdpipe-test-node-'));
  });
  after(() => rmSync(directory, { recursive: true }));

  const run = (program: string, env: Readonly<Record<string, string>>) =>
    runProgram(join(ROOT, 'bin', program), ['--version'], {
      env: { PATH: '/usr/bin:/bin', HOME: directory, ...env },
      extendEnv: false,
    });

  it('is that of RDPIPE_NODE', () => {
    const node = join(directory, 'my node');
    writeFileSync(node, '#!/bin/sh\necho "$0"\n', { mode: 0o755 });
    expect(run('rdpipe', { RDPIPE_NODE: node }).stdout).to.equal(`${node}\n`);
    expect(run('rdcp', { RDPIPE_NODE: node }).stdout).to.equal(`${node}\n`);
  });

  it('may be called nodejs', () => {
    const bare = join(directory, 'bare');
    mkdirSync(bare);
    for (const name of readdirSync('/usr/bin'))
      if (!/^node(js)?$/.test(name)) symlinkSync(join('/usr/bin', name), join(bare, name));
    symlinkSync(process.execPath, join(bare, 'nodejs'));
    const { status, stdout } = run('rdpipe', { PATH: bare });
    expect(stdout).to.match(/^rdpipe \d/);
    expect(status).to.equal(0);
  });

  it('is refused in one line if RDPIPE_NODE names none', () => {
    const { status, stderr } = run('rdpipe', { RDPIPE_NODE: '/nowhere/node' });
    expect(stderr).to.equal('rdpipe: RDPIPE_NODE=/nowhere/node is not a program (set it to the path of node)\n');
    expect(status).to.equal(125);
  });

  for (const [version, isOld] of [
    ['12.22.12', true],
    ['18.18.2', true],
    ['18.19.0', false],
    ['24.0.0', false],
  ] as const) {
    it(`is ${isOld ? 'refused in one line' : 'accepted'} if it is ${version}`, () => {
      const pretend = join(directory, 'pretend.cjs');
      const versions = `{ ...process.versions, node: '${version}' }`;
      writeFileSync(pretend, `Object.defineProperty(process, 'versions', { value: ${versions} });\n`);
      const { status, stderr } = run('rdcp', { RDPIPE_NODE: process.execPath, NODE_OPTIONS: `--require ${pretend}` });
      const advice = 'install Node 18.19 or later (RDPIPE_NODE names another)';
      expect(stderr).to.equal(isOld ? `rdcp: node ${version} is too old (${process.execPath}): ${advice}\n` : '');
      expect(status).to.equal(isOld ? 125 : 0);
    });
  }
});
