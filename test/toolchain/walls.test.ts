// SPDX-License-Identifier: Apache-2.0
// A C package finds only the headers of packages that it may use: other includes do not compile.
import { expect } from 'chai';
import { execaSync } from 'execa';
import { ROOT } from '../support/root.ts';

const FILES = {
  rdsend: 'send_loop',
  rdendpoint: 'hop/loop',
  rdtree: 'main',
  rdforward: 'forward/forward',
} as const;

const INCLUDES: readonly (readonly [from: keyof typeof FILES, header: string, compiles: boolean])[] = [
  ['rdsend', 'source/source.h', true],
  ['rdsend', 'wire/wire.h', true],
  ['rdsend', 'recv_loop.h', false],
  ['rdsend', 'serve/server.h', false],
  ['rdendpoint', 'base/io.h', true],
  ['rdendpoint', 'source/source.h', false],
  ['rdtree', 'base/digest.h', true],
  ['rdtree', 'wire/wire.h', false],
  ['rdforward', 'transport/transport.h', false],
];

describe('the walls between packages of C', () => {
  const roots = new Map<string, readonly string[]>();
  before(() => {
    const objects = Object.entries(FILES).map(([name, file]) => `build/release/${name}-native/src/${file}.o`);
    const { stdout } = execaSync('make', ['-nB', 'V=1', ...objects], { cwd: ROOT });
    for (const line of stdout.split('\n')) {
      const [, name = ''] = /-c -o build\/release\/(\w+)-native\//.exec(line) ?? [];
      roots.set(name, line.match(/-Ipackages\S+/g) ?? []);
    }
  });

  for (const [from, header, compiles] of INCLUDES)
    it(`${compiles ? 'let' : 'do not let'} ${from} include ${header}`, () => {
      const flags = ['-std=c17', '-D_GNU_SOURCE', ...(roots.get(from) ?? []), '-fsyntax-only', '-x', 'c', '-'];
      const { exitCode, stderr } = execaSync('cc', flags, {
        cwd: ROOT,
        input: `#include "${header}"\n`,
        reject: false,
      });
      expect(exitCode === 0, stderr).to.equal(compiles);
      if (!compiles) expect(stderr).to.include(`${header}: No such file or directory`);
    });
});
