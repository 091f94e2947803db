// SPDX-License-Identifier: Apache-2.0
// Regressions that are visible in sources and build.
// docs/notes/regressions.md names the test of each regression.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { ROOT } from '../support/root.ts';

const FAILURES = 27;

describe('the native programs', () => {
  it('give no peer access to memory', () => {
    const sources = filesBelow('packages', /^[a-z]+-native\/src\/.*\.[ch]$/)
      .map(read)
      .join('\n');
    expect(new Set(sources.match(/\bIBV_ACCESS_\w+/g))).to.deep.equal(new Set(['IBV_ACCESS_LOCAL_WRITE']));
    expect(sources).not.to.match(/\brkey\b|\bremote_addr\b|\bIBV_WR_(RDMA|ATOMIC)/);
  });

  it('need no special processor, and give every queue a size', () => {
    const commands = execaSync('make', ['-n', '-B', 'all'], { cwd: ROOT, lines: true }).stdout;
    const special = commands.filter((line) => /\s-m(?!d\b|md\b)/.test(line));
    expect(special.filter((line) => !line.includes('digest_avx2.c'))).to.deep.equal([]);
    expect(read('packages/rdbase-native/src/base/digest.c')).to.match(/__builtin_cpu_supports\("avx2"\)/);
    const [capabilities = ''] =
      /\.cap = \{[^}]*\}/.exec(read('packages/rdendpoint-native/src/transport/verbs/queue.c')) ?? [];
    for (const name of ['max_send_wr', 'max_recv_wr', 'max_send_sge', 'max_recv_sge'])
      expect(capabilities).to.match(new RegExp(`\\.${name} = [A-Z1]`));
  });
});

describe('docs/notes/regressions.md', () => {
  it(`names the tests of all ${FAILURES} failures of earlier tools`, () => {
    const rows = [...read('docs/notes/regressions.md').matchAll(/^\| (\d+) \| .* \| (.*) \|$/gm)];
    expect(rows.map(([, number]) => Number(number))).to.deep.equal(
      Array.from({ length: FAILURES }, (_, index) => index + 1),
    );
    for (const [, number, tests = ''] of rows) {
      const named = [...tests.matchAll(/`([\w/-]+)`: ([^;]+)/g)];
      expect(named, number).to.not.have.length(0);
      for (const [, suite, title = ''] of named) expect(read(`test/${suite}.test.ts`)).to.match(titled(title));
    }
  });
});

/** Matches a title in the source of its suite. `…` matches any text, such as a template's placeholder. */
function titled(title: string): RegExp {
  const parts = title.split('…').map((part) => part.replace(/[^\w\s]/g, '\\$&'));
  return new RegExp(`\\bit\\(\\s*(['"\`])${parts.join('[^\\n]+')}\\1,`);
}

function filesBelow(directory: string, like: RegExp): string[] {
  const names = readdirSync(join(ROOT, directory), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => like.test(name)).map((name) => join(directory, name));
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}
