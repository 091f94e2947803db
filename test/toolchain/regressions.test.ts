// SPDX-License-Identifier: Apache-2.0
// What went wrong in the ancestors and can be seen in the sources and how they are built; and that each of those failures has
// a test named after it, where docs/testing.md says.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../support/root.ts';

const FAILURES = 27;

describe('the native programs', () => {
  it('failure 16: no peer is given access to memory', () => {
    const sources = filesBelow('packages', /^[a-z]+-native\/src\/.*\.[ch]$/)
      .map(read)
      .join('\n');
    expect(new Set(sources.match(/\bIBV_ACCESS_\w+/g))).to.deep.equal(new Set(['IBV_ACCESS_LOCAL_WRITE']));
    expect(sources).not.to.match(/\brkey\b|\bremote_addr\b|\bIBV_WR_(RDMA|ATOMIC)/);
  });

  it('failure 27: no processor is taken for granted, and every queue has a size', () => {
    const commands = execFileSync('make', ['-n', '-B', 'all'], { cwd: ROOT, encoding: 'utf8' }).split('\n');
    const special = commands.filter((line) => /\s-m(?!d\b|md\b)/.test(line));
    expect(special.filter((line) => !line.includes('digest_avx2.c'))).to.deep.equal([]);
    expect(read('packages/rdcore-native/src/crypto/digest.c')).to.match(/__builtin_cpu_supports\("avx2"\)/);
    const [capabilities = ''] =
      /\.cap = \{[^}]*\}/.exec(read('packages/rdcore-native/src/transport/verbs/queue.c')) ?? [];
    for (const name of ['max_send_wr', 'max_recv_wr', 'max_send_sge', 'max_recv_sge'])
      expect(capabilities).to.match(new RegExp(`\\.${name} = [A-Z1]`));
  });
});

describe('docs/testing.md', () => {
  it(`names the tests of all ${FAILURES} failures of the ancestors`, () => {
    const rows = [...read('docs/testing.md').matchAll(/^\| (\d+) \| (?:.*) \| (.*) \|$/gm)];
    expect(rows.map(([, number]) => Number(number))).to.deep.equal(
      Array.from({ length: FAILURES }, (_, index) => index + 1),
    );
    for (const [, number, files = ''] of rows)
      for (const file of files.matchAll(/`([^`]+)`/g))
        expect(read(`test/${file[1]}`), `${file[1]}`).to.match(new RegExp(`\\bit\\(\\s*['"\`]failure ${number}: `));
  });

  it('names every file that has such tests', () => {
    const table = read('docs/testing.md');
    for (const file of filesBelow('test', /\.test\.ts$/))
      for (const [, number] of read(file).matchAll(/\bit\(\s*['"`]failure (\d+): /g))
        expect(table).to.match(new RegExp(`^\\| ${number} \\| .*\`${file.slice('test/'.length)}\``, 'm'));
  });
});

function filesBelow(folder: string, like: RegExp): string[] {
  const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => like.test(name)).map((name) => join(folder, name));
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}
