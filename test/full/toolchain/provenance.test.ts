// SPDX-License-Identifier: Apache-2.0
// The notices and the bill of materials of the packages:
// all contents are named, with licences, in the same form in every build.
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Spec, Validation } from '@cyclonedx/cyclonedx-library';
import { expect } from 'chai';
import type { Component } from '../../../scripts/dist/component.ts';
import { makePurl } from '../../../scripts/dist/component.ts';
import { components } from '../../../scripts/dist/components.ts';
import { linkedFiles } from '../../../scripts/dist/linked-packages.ts';
import { notices, writeNotices } from '../../../scripts/dist/notices.ts';
import { sbom, writeSbom } from '../../../scripts/dist/sbom.ts';
import { needsFile } from '../../support/needs.ts';
import { ROOT } from '../../support/root.ts';

const LIBRARY: Component = {
  name: 'a',
  version: '1',
  purl: 'pkg:npm/a@1',
  licence: 'MIT',
  website: 'https://a.example',
  texts: ['Text of A\r\n'],
  uses: ['pkg:npm/b@2'],
  programs: [],
};
const LINKED: Component = {
  ...LIBRARY,
  name: 'b',
  purl: 'pkg:npm/b@2',
  licence: 'GPL-3.0-or-later WITH GCC-exception-3.1',
  texts: ['Text of A\n', 'Text of B'],
  uses: [],
  programs: ['linux-x86_64/static/rdhop'],
};
const PROGRAMS = new Map([['linux-x86_64/static/rdhop', 'ab'.repeat(32)]]);

describe('a package URL', () => {
  it('has its parts encoded', () => {
    expect(makePurl('npm', '@a/b', '1.0+c')).to.equal('pkg:npm/%40a/b@1.0%2Bc');
    expect(makePurl('deb', 'debian/a', '1~b', { distro: 'debian-12', arch: 'all' })).to.equal(
      'pkg:deb/debian/a@1~b?arch=all&distro=debian-12',
    );
  });
});

describe("a linker's map", () => {
  it('names archives and objects of the system once, and nothing of this project', () => {
    const map = [
      '/usr/lib/gcc/x/12/../../../x/libc.a(printf.o)',
      '                              build/x.o (printf)',
      '/usr/lib/x/libc.a(puts.o)',
      'build/static/librdendpoint.a(ring.o)',
      'LOAD /usr/lib/x/crt1.o',
      'LOAD build/static/main.o',
      'LOAD /usr/lib/x/libc.so.6',
      'LOAD /usr/lib/x/libunused.a',
    ].join('\n');
    expect(linkedFiles(map)).to.deep.equal(['/usr/lib/x/crt1.o', '/usr/lib/x/libc.a']);
  });
});

describe('notices', () => {
  it('have each text once, and name it by its number', () => {
    const text = notices([LIBRARY, LINKED]);
    expect(text).to.contain('a 1\n  MIT [1]\n  in the bundle\n');
    expect(text).to.contain('WITH GCC-exception-3.1 [1] [2]\n  in linux-x86_64: static/rdhop\n');
    expect(text.match(/Text of A/g)).to.have.length(1);
  });
});

describe('a bill of materials', () => {
  it('is valid, and has the dependencies between components', async () => {
    const text = sbom([LIBRARY, LINKED], PROGRAMS);
    expect(await problems(text)).to.equal(null);
    const { dependencies, metadata } = JSON.parse(text);
    const uses = new Map(dependencies.map(({ ref, dependsOn = [] }: Dependency) => [ref, dependsOn]));
    expect(metadata.component.licenses).to.deep.equal([{ license: { id: 'Apache-2.0' } }]);
    expect(uses.get(metadata.component['bom-ref'])).to.have.members(['pkg:npm/a@1', 'file:linux-x86_64/static/rdhop']);
    expect(uses.get('pkg:npm/a@1')).to.deep.equal(['pkg:npm/b@2']);
    expect(uses.get('file:linux-x86_64/static/rdhop')).to.deep.equal(['pkg:npm/b@2']);
  });

  it('has a serial number derived from its contents', () => {
    const [one, same, other] = [[LIBRARY, LINKED], [LINKED, LIBRARY], [LINKED]].map((all) => sbom(all, PROGRAMS));
    expect(one).to.equal(same);
    expect(JSON.parse(one ?? '').serialNumber).not.to.equal(JSON.parse(other ?? '').serialNumber);
  });
});

describe('the contents of the packages', () => {
  let all: readonly Component[];

  before(function () {
    needsFile(this, '/usr/bin/dpkg-query');
    needsFile(this, join(ROOT, 'build/rdpipe/packages.json'));
    all = components();
  });

  it('are the sources of the bundle and the programs', () => {
    const names = all.map(({ name }) => name);
    const linked = ['libc6-dev', 'libssl-dev', 'libzstd-dev', 'libjansson-dev', 'libxxhash-dev'];
    expect(names).to.include.members([...dependenciesOf('packages/rdpipe'), 'echarts', 'zrender', ...linked]);
    expect(names).not.to.include.members(['esbuild', 'mocha']);
  });

  it('have an address, a licence and its text for each component, listed once', () => {
    expect(all.filter(({ purl, licence, texts }) => !purl.includes('@') || licence === '' || texts.length === 0)).to.be
      .empty;
    expect(new Set(all.map(({ purl }) => purl)).size).to.equal(all.length);
  });

  it('are written identically twice, without a path of this checkout, with digests of the programs', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'rdpipe-test-provenance-'));
    const [first, second] = [written(directory), written(directory)];
    rmSync(directory, { recursive: true });
    expect(first).to.deep.equal(second);
    for (const text of first) expect(text).not.to.contain(ROOT);
    const [, bill = ''] = first;
    expect(await problems(bill)).to.equal(null);
    const program = join(ROOT, 'build/rdpipe/native', filesOf(bill)[0]?.name ?? '');
    expect(existsSync(program)).to.equal(true);
    expect(filesOf(bill)[0]?.hashes[0]?.content).to.equal(
      createHash('sha256').update(readFileSync(program)).digest('hex'),
    );
  });
});

interface Dependency {
  readonly ref: string;
  readonly dependsOn?: readonly string[];
}

interface File {
  readonly type: string;
  readonly name: string;
  readonly hashes: readonly { readonly content: string }[];
}

function problems(text: string) {
  return new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text);
}

function written(directory: string): string[] {
  const files = ['notices', 'sbom'].map((name) => join(directory, name));
  writeNotices(files[0] ?? '');
  writeSbom(files[1] ?? '');
  return files.map((file) => readFileSync(file, 'utf8'));
}

function filesOf(bill: string): File[] {
  return JSON.parse(bill).components.filter(({ type }: File) => type === 'file');
}

function dependenciesOf(directory: string): string[] {
  return Object.keys(JSON.parse(readFileSync(join(ROOT, directory, 'package.json'), 'utf8')).dependencies);
}
