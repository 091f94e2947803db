// SPDX-License-Identifier: Apache-2.0
// A set-up that cannot go on says why in one line: missing libraries, steps that fail for a known reason.
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { ROOT } from '../support/root.ts';
import { runProgram } from '../support/run-program.ts';

/** JavaScript that has no types. */
const REASON: string = '../../scripts/setup/reason.mjs';
const { reasonOf } = (await import(REASON)) as {
  readonly reasonOf: (log: string, disk: { readonly isFull: boolean }) => string | undefined;
};

const LOGS = [
  ['npm error code ENOTFOUND\nnpm error syscall getaddrinfo', 'the npm registry cannot be reached'],
  ['npm ERR! code ECONNREFUSED', 'the npm registry cannot be reached'],
  [' WARN  GET https://registry.npmjs.org/tsx error (EAI_AGAIN). Will retry', 'the npm registry cannot be reached'],
  ['npm error code UNABLE_TO_VERIFY_LEAF_SIGNATURE', "the npm registry's certificate is not known here"],
  ['fatal error: error writing to /tmp/ccA.s: No space left on device', 'the disk is full'],
  ['npm error code ENOSPC', 'the disk is full'],
  ['E: Unable to locate package libssl-dev', 'apt-get cannot load the packages'],
  ['E: Could not get lock /var/lib/dpkg/lock-frontend.', 'another program installs packages just now'],
  ["Error: EACCES: permission denied, mkdir '/srv/rdpipe/build'", 'this user may not write where it has to'],
] as const;

describe('the set-up', () => {
  for (const [log, reason] of LOGS)
    it(`knows the reason in: ${log.split('\n')[0]}`, () => expect(reasonOf(log, { isFull: false })).to.contain(reason));

  it('takes no word of a source for a reason', () => {
    for (const line of ['dialer.c:7:3: error: ETIMEDOUT undeclared', '  9 |   case ENOSPC:', 'if (error == EACCES)'])
      expect(reasonOf(line, { isFull: false })).to.equal(undefined);
  });

  it('sees a full disk also without a line of it in the log', () =>
    expect(reasonOf('', { isFull: true })).to.contain('the disk is full'));
});

describe('make', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'rdpipe-test-make-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('names missing libraries in one line', () => {
    const { status, stderr } = make({ PKG_CONFIG_LIBDIR: folder });
    expect(stderr.trimEnd().split('\n')).to.have.length(1);
    expect(stderr).to.match(
      /not found: libjansson libssl libxxhash libzstd; .* apt-get install libjansson-dev libssl-dev/,
    );
    expect(status).to.equal(2);
  });

  it('names missing tools in one line', () => {
    for (const tool of ['sh', 'sed', 'uname', 'make']) symlinkSync(pathOf(tool), join(folder, tool));
    const { status, stderr } = make({ PATH: folder });
    const lines = stderr.trimEnd().split('\n');
    expect(lines.at(-1)).to.match(/not found: cc pkg-config; .* apt-get install build-essential pkg-config/);
    expect(status).to.equal(2);
  });

  function make(env: NodeJS.ProcessEnv) {
    return runProgram(pathOf('make'), ['-s', 'OUT=build/never'], { cwd: ROOT, env });
  }
});

function pathOf(tool: string): string {
  return execaSync('sh', ['-c', `command -v ${tool}`]).stdout;
}
