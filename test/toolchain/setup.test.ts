// SPDX-License-Identifier: Apache-2.0
// A set-up that fails prints the reason on one line: missing libraries, steps with a known failure.
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { ROOT } from '../support/root.ts';
import { runProgram } from '../support/run-program.ts';

/** A JavaScript file without types. */
const REASON: string = '../../scripts/setup/reason.mjs';
const { reasonOf } = (await import(REASON)) as {
  readonly reasonOf: (log: string, disk: { readonly isFull: boolean }) => string | undefined;
};

const LOGS = [
  ['npm error code ENOTFOUND\nnpm error syscall getaddrinfo', 'the npm registry cannot be reached'],
  ['npm ERR! code ECONNREFUSED', 'the npm registry cannot be reached'],
  [' WARN  GET https://registry.npmjs.org/tsx error (EAI_AGAIN). Will retry', 'the npm registry cannot be reached'],
  ['npm error code UNABLE_TO_VERIFY_LEAF_SIGNATURE', "the npm registry's certificate is not trusted"],
  ['fatal error: error writing to /tmp/ccA.s: No space left on device', 'the disk is full'],
  ['npm error code ENOSPC', 'the disk is full'],
  ['E: Unable to locate package libssl-dev', 'apt-get cannot load the packages'],
  ['E: Could not get lock /var/lib/dpkg/lock-frontend.', 'another program is installing packages'],
  ["Error: EACCES: permission denied, mkdir '/srv/rdpipe/build'", 'permission denied; the checkout must belong to you'],
] as const;

describe('the set-up', () => {
  for (const [log, reason] of LOGS)
    it(`finds the reason in: ${log.split('\n')[0]}`, () => expect(reasonOf(log, { isFull: false })).to.contain(reason));

  it('does not treat words of a source as a reason', () => {
    for (const line of ['dialer.c:7:3: error: ETIMEDOUT undeclared', '  9 |   case ENOSPC:', 'if (error == EACCES)'])
      expect(reasonOf(line, { isFull: false })).to.equal(undefined);
  });

  it('detects a full disk also without a line in the log', () =>
    expect(reasonOf('', { isFull: true })).to.contain('the disk is full'));
});

describe('make', () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'rdpipe-test-make-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it('names missing libraries in one line', () => {
    const { status, stderr } = make({ PKG_CONFIG_LIBDIR: directory });
    expect(stderr.trimEnd().split('\n')).to.have.length(1);
    expect(stderr).to.match(
      /not found: libjansson libssl libxxhash libzstd; .* apt-get install libjansson-dev libssl-dev .*; on RHEL, SUSE: dnf or zypper install 'pkgconfig\(jansson\)' 'pkgconfig\(libssl\)'/,
    );
    expect(status).to.equal(2);
  });

  it('names libraries missing only for the static link in one line, before it compiles', () => {
    describeLibraries(directory, '-lz -lnowhere');
    const env = { PKG_CONFIG_LIBDIR: directory };
    const { status, stdout, stderr } = runProgram(pathOf('make'), ['OUT=build/never', 'STATIC=1'], { cwd: ROOT, env });
    expect(stdout).to.equal('');
    expect(stderr.trimEnd().split('\n')).to.have.length(1);
    expect(stderr).to.match(
      /not found: (?:.* )?libnowhere\.a, for the static link; .* apt-get install .*libnowhere-dev/,
    );
    expect(status).to.equal(2);
  });

  it('names missing tools in one line', () => {
    for (const tool of ['sh', 'sed', 'uname', 'make']) symlinkSync(pathOf(tool), join(directory, tool));
    const { status, stderr } = make({ PATH: directory });
    const lines = stderr.trimEnd().split('\n');
    expect(lines.at(-1)).to.match(/not found: cc pkg-config; .* apt-get install build-essential pkg-config/);
    expect(status).to.equal(2);
  });

  function make(env: NodeJS.ProcessEnv) {
    return runProgram(pathOf('make'), ['-s', 'OUT=build/never'], { cwd: ROOT, env });
  }
});

describe("the set-up's examination of this system", () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'rdpipe-test-setup-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it('finds the archives that only the static link lacks', () => {
    describeLibraries(directory, '-lpthread -lnowhere');
    const { stdout, stderr } = call('missingArchives()', { PKG_CONFIG_LIBDIR: directory });
    expect(stdout, stderr).to.equal("[ 'libnowhere.a' ]\n");
  });

  it('omits a test package that the system does not have, and reports it', () => {
    standIn('apt-get', 'echo /var/lib/apt/lists/x_Packages');
    standIn('apt-cache', 'if [ "$2" = git ]; then echo "  Candidate: 1:2"; else echo "  Candidate: (none)"; fi');
    const path = { PATH: `${directory}:${process.env.PATH}` };
    const { stdout, stderr } = call("offered(['chromium', 'git', 'libssl-dev'])", path);
    expect(stdout).to.equal("[ 'git', 'libssl-dev' ]\n");
    expect(stderr).to.match(/^setup: not available on this system.*: chromium\n$/);
  });

  it('installs the formatter for npm run check, without the packages of the tests', () => {
    const { stdout } = call("wantedPackages(['--check']).join(' ')", {});
    expect(stdout.trim().split(' ')).to.include.members(['build-essential', 'clang-format', 'git']);
    expect(stdout).not.to.match(/podman|rsync/);
  });

  it('names the packages of RHEL and SUSE, or that the build needs Debian', () => {
    const { stdout } = call("rpmAdvice('dnf', ['cc', 'jansson'], [])", {});
    expect(stdout).to.equal("install them, then try again: sudo dnf install /usr/bin/gcc 'pkgconfig(jansson)'\n");
    expect(call("rpmAdvice('zypper', [], ['libz.a'])", {}).stdout).to.match(/^build on Debian or Ubuntu, .*\.rpm/);
  });

  function call(expression: string, env: NodeJS.ProcessEnv) {
    const script = `import('${ROOT}/scripts/setup/system-packages.mjs').then((setup) => console.log(setup.${expression}))`;
    return runProgram(process.execPath, ['-e', script], { env });
  }

  function standIn(program: string, line: string): void {
    writeFileSync(join(directory, program), `#!/bin/sh\n${line}\n`, { mode: 0o755 });
  }
});

/** Writes .pc files of the build's libraries; static linking of libcrypto needs `more`. */
function describeLibraries(directory: string, more: string): void {
  for (const name of ['libssl', 'libcrypto', 'libzstd', 'libxxhash', 'jansson']) {
    const text = `Name: ${name}\nDescription: of a test\nVersion: 3.0.0\nLibs:\n`;
    writeFileSync(join(directory, `${name}.pc`), name === 'libcrypto' ? `${text}Libs.private: ${more}\n` : text);
  }
}

function pathOf(tool: string): string {
  return execaSync('sh', ['-c', `command -v ${tool}`]).stdout;
}
