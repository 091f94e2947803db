import { expect } from 'chai';
import { checkSandbox } from '../../src/doctor/sandbox-check.ts';
import type { Verdict } from '../../src/model/examination.ts';
import { expectFinding, hostFacts } from './samples.ts';

const ROWS: readonly (readonly [string, boolean, number, Verdict, RegExp, RegExp?])[] = [
  ['with both', true, 6, 'ok', /^seccomp, and version 6 of Landlock$/],
  ['with an old Landlock', true, 3, 'warn', /^only version 3 of Landlock: .* any TCP port, .*abstract/, /later kernel/],
  [
    'without scopes',
    true,
    5,
    'warn',
    /^only version 5 of Landlock: .* can connect to abstract sockets$/,
    /later kernel/,
  ],
  ['without Landlock', true, 0, 'warn', /^no Landlock: .* any file of its user, .* TCP port/, /lsm=/],
  ['without filters', false, 7, 'warn', /^no seccomp: .* any system call$/, /later kernel/],
  ['without either', false, 0, 'warn', /^no seccomp: .*; no Landlock: /, /lsm=/],
];

describe('a check of the sandbox', () => {
  for (const [name, seccomp, landlock, verdict, found, fix] of ROWS)
    it(`judges a kernel ${name}: ${verdict}`, () =>
      expectFinding(checkSandbox(hostFacts({}, { seccomp, landlock }))[0], verdict, found, fix));

  it('has no finding for a host without an agent', () => expect(checkSandbox(hostFacts({}, null))).to.deep.equal([]));
});
