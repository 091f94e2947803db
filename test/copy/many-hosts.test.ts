// SPDX-License-Identifier: Apache-2.0
// A tree to many hosts: it is read and sent once, and each host gets the entries that it lacks.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { jsonLines } from '../support/json-output.ts';
import { useLab } from '../support/lab.ts';
import { needsTool } from '../support/needs.ts';
import { signalProcess } from '../support/processes.ts';
import { reportOf } from '../support/report.ts';
import { type Result, succeeded } from '../support/shell.ts';
import { bytes } from '../support/tree-fixtures.ts';

const NAMES = ['n1', 'n2', 'n3'];
const HOSTS = 'n[1-3]';
const MIB = 1 << 20;

function bytesIn(directory: string): number {
  if (!existsSync(directory)) return 0;
  return readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
}

const MAKE_TREE = `
  mkdir -p tree/deep/er tree/empty; seq 2000 > tree/deep/a; ln tree/deep/a tree/deep/er/hard; ln -s ../a tree/deep/er/soft
  truncate -s 3M tree/holes; echo x > tree/$'b\\xffd \\'name'; chmod 640 tree/deep/a; seq 9 > tree/b; seq 300000 > tree/large`;

describe('rdcp to many hosts', () => {
  const lab = useLab({ hosts: NAMES.map((name) => ({ name })) });
  const at = (name: string, path = '') => join(lab.host(name).home, 'new', path);
  /** A shell script that prints nothing if each host has the tree. */
  const compare = () =>
    NAMES.map((name) => `rsync -aHAXSn --checksum --delete --itemize-changes tree/ ${at(name)}/`).join('; ');
  const copyOf = (result: Result) => {
    const { copy } = reportOf(result);
    if (copy === undefined) throw new Error('there is no copy in the report');
    return copy;
  };
  beforeEach(function () {
    needsTool(this, 'rsync');
    for (const name of NAMES) rmSync(at(name), { recursive: true, force: true });
  });

  for (const [name, from] of [
    ['from here', ''],
    ['from a host', 'h1:'],
    ['from one of them', 'n2:'],
  ] as const)
    it(`copies a tree ${name}`, async () => {
      succeeded(await lab.sh(`${MAKE_TREE}; rdcp -a "${from}$PWD/tree/" '${HOSTS}:~/new'; ${compare()}`), '');
    });

  it('gives each host its missing files, and sends each file once', async () => {
    const differ = `
      cp -a tree/. ${at('n1')}; cp -a tree/. ${at('n2')}; cp -a tree/. ${at('n3')}
      rm ${at('n1', 'large')}; echo old > ${at('n2', 'large')}; chmod 600 ${at('n3', 'large')}
      rm -r ${at('n2', 'deep')}; chmod 700 ${at('n3', 'deep')}; ln -sf other ${at('n3', 'deep/er/soft')}
      rm ${at('n3', 'b')}; mkdir ${at('n3', 'b')}; rm ${at('n1', 'deep/er/hard')}`;
    for (const name of NAMES) mkdirSync(at(name), { recursive: true });
    const result = await lab.sh(
      `${MAKE_TREE}; ${differ}; rdcp -a --json h1:"$PWD/tree/" '${HOSTS}:~/new'; ${compare()}`,
    );
    expect(result.text, result.stderr).to.equal('');
    const copy = copyOf(result);
    const { size } = statSync(join(lab.directory, 'tree/large'));
    expect(copy.hosts?.map(({ host, files }) => [host, files])).to.deep.equal([
      ['n1', 1],
      ['n2', 2],
      ['n3', 1],
    ]);
    const { bytes: sent } = reportOf(result).hops.find(({ link }) => link === copy.link) ?? { bytes: 0 };
    expect(sent).to.be.within(size, size + 40_000);
    expect(copyOf(await lab.sh(`rdcp -a --json h1:"$PWD/tree/" '${HOSTS}:~/new'`))).to.include({
      files: 0,
      sentBytes: 0,
    });
  });

  it('removes on each host what the source lacks', async () => {
    for (const name of NAMES) mkdirSync(at(name, `only/of-${name}`), { recursive: true });
    writeFileSync(at('n2', 'old'), '');
    const result = await lab.sh(`${MAKE_TREE}; rdcp -a --json --delete tree/ '${HOSTS}:~/new'; ${compare()}`);
    expect(result.text, result.stderr).to.equal('');
    expect(copyOf(result).hosts?.map(({ removed }) => removed)).to.deep.equal([2, 3, 2]);
  });

  it('plans for each host, with its name in front', async () => {
    mkdirSync(at('n2'));
    writeFileSync(at('n2', 'old'), '');
    const { text } = await lab.sh(`mkdir s; echo x > s/a; rdcp -rn --delete s/ '${HOSTS}:~/new'`);
    const lines = text.trimEnd().split('\n').sort();
    expect(lines.filter((line) => / a$/.test(line)).map((line) => line.slice(0, 7))).to.deep.equal(
      NAMES.map((name) => `${name}: new`),
    );
    expect(lines.filter((line) => line.includes('remove '))).to.have.length(2);
    expect(lines.filter((line) => line.includes('would copy 1 file'))).to.have.length(NAMES.length);
    const { text: json } = await lab.sh(`rdcp -rn --json s/ '${HOSTS}:~/new'`);
    const objects = jsonLines(json, 'copyPlan');
    expect(
      objects
        .filter(({ path }) => path === 'a')
        .map(({ host }) => host)
        .sort(),
    ).to.deep.equal(NAMES);
    expect(existsSync(at('n1'))).to.equal(false);
  });

  it('puts a file into a directory on one host, and replaces a file on another', async () => {
    mkdirSync(at('n2'));
    succeeded(await lab.sh(`echo x > f; rdcp f '${HOSTS}:~/new'; rdcp - '${HOSTS}:~/of-stream' < f`), '');
    for (const path of [
      at('n1'),
      at('n2', 'f'),
      at('n3'),
      ...NAMES.map((name) => join(lab.host(name).home, 'of-stream')),
    ])
      expect(readFileSync(path, 'utf8')).to.equal('x\n');
  });

  it('names each path that failed with its host, and copies all others', async () => {
    mkdirSync(at('n2', 'b/full'), { recursive: true });
    const result = await lab.sh(`${MAKE_TREE}; rdcp -av tree/ '${HOSTS}:~/new'`);
    expect(result.status, result.stderr).to.equal(23);
    expect(result.stderr)
      .to.match(/^rdcp: n2: .*\/?new\/b: .+$/m)
      .and.to.match(/^n1: new .*new\/b$/m)
      .and.to.match(/^n2: 4 files, .*; 1 failed$/m)
      .and.to.match(/^Copied 14 files, .* to 3 hosts in /m)
      .and.to.match(/^rdcp: 1 path failed$/m);
    expect(result.stderr.match(/^rdcp: n[13]: /m)).to.equal(null);
  });

  it('resumes a file where the host with the smallest part of it needs it', async () => {
    writeFileSync(join(lab.directory, 'file'), bytes(40 * MIB, 7));
    for (const name of NAMES) mkdirSync(at(name));
    const running = lab.start(`exec rdcp --limit 10M "$PWD/file" 'n1:~/new'`);
    const partial = () => readdirSync(at('n1')).find((name) => /^\.rdcp-[0-9a-f]{32}$/.test(name)) ?? 'none';
    await eventually(() => expect(statSync(at('n1', partial())).size).to.be.above(17 * MIB));
    signalProcess(running.pid, 'SIGKILL');
    await running.result;
    await lab.expectNothingLeft();
    copyFileSync(at('n1', partial()), at('n2', partial()));
    truncateSync(at('n2', partial()), 9 * MIB);
    copyFileSync(join(lab.directory, 'file'), at('n3', 'file'));
    const copy = copyOf(await lab.sh(`touch -r file ${at('n3', 'file')}; rdcp --json "$PWD/file" '${HOSTS}:~/new'`));
    expect(copy.hosts?.map(({ files }) => files)).to.deep.equal([1, 1, 0]);
    expect(copy.sentBytes).to.equal(2 * (40 - 8) * MIB);
    for (const name of NAMES)
      expect(readFileSync(at(name, 'file')).equals(readFileSync(join(lab.directory, 'file'))), name).to.equal(true);
  });

  it('is not damaged by hosts that share a file system', async () => {
    const all = `${MAKE_TREE}; rdcp -a tree/ '${HOSTS}:'"$PWD/same"; rdcp -a tree '${HOSTS}:'"$PWD/tree/new"`;
    const result = await lab.sh(
      `${all}; rsync -aHAXSn --checksum -O --delete --exclude /new -i tree/ same/; ls -A tree/new`,
    );
    expect(result.text, result.stderr).to.equal('tree\n');
    expect(result.stderr).not.to.contain('.rdcp');
  });

  it('names a host that is lost, and the next run resumes', async () => {
    mkdirSync(join(lab.directory, 'tree'));
    for (const name of ['a', 'b']) writeFileSync(join(lab.directory, 'tree', name), bytes(20 * MIB, 3));
    const running = lab.start(`exec rdcp -a --limit 10M h1:"$PWD/tree/" '${HOSTS}:~/new'`);
    await eventually(() => expect(bytesIn(at('n2'))).to.be.above(9 * MIB));
    for (const { home, pid } of lab.processes()) if (home === lab.host('n2').home) signalProcess(pid, 'SIGKILL');
    const { status, stderr } = await running.result;
    expect(status, stderr).to.equal(125);
    expect(stderr).to.match(/^rdcp: .*n2/);
    await lab.expectNothingLeft();
    const copy = copyOf(await lab.sh(`rdcp -a --json h1:"$PWD/tree/" '${HOSTS}:~/new'; ${compare()}`));
    expect(copy.resumedBytes).to.be.above(0);
  });

  it('starts nothing if it cannot do all of it', async () => {
    for (const [words, why] of [
      [`'n[1-2]:a' b`, /a source is on one host, not 2/],
      [`--remove-source-files a '${HOSTS}:b'`, /--remove-source-files needs a DST on one host/],
      [`rd://h1/a '${HOSTS}:b'`, /one host at a time/],
    ] as const) {
      const result = await lab.sh(`rdcp ${words}`);
      expect(result.status).to.equal(2);
      expect(result.stderr).to.match(why);
    }
  });
});
