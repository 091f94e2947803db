// SPDX-License-Identifier: Apache-2.0
// An installed copy runs without the checkout, and can be removed completely.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { brokenLinks } from '../../scripts/dist/documents.ts';
import { ROOT } from '../support/root.ts';
import { runProgram } from '../support/run-program.ts';

/** The programs in bin/, sorted. */
const PROGRAMS = ['rdcp', 'rdpipe', 'rdrecv', 'rdsend', 'rdssh', 'rdstage', 'rdtree'];

describe('make install', () => {
  let staging: string;
  let prefix: string;

  before(() => {
    staging = mkdtempSync(join(tmpdir(), 'rdpipe-test-install-'));
    make('install', `DESTDIR=${staging}/staged`, 'PREFIX=/opt/rd');
    prefix = join(staging, 'moved');
    renameSync(join(staging, 'staged/opt/rd'), prefix);
  });
  after(() => rmSync(staging, { recursive: true }));

  it('installs the programs and their manual pages', () => {
    expect(readdirSync(join(prefix, 'bin')).sort()).to.deep.equal(PROGRAMS);
    const pages = [
      'rdcp.1',
      'rdpipe-bench.1',
      'rdpipe-doctor.1',
      'rdpipe.1',
      'rdrecv.1',
      'rdsend.1',
      'rdssh.1',
      'rdstage.1',
      'rdtree.1',
    ];
    expect(readdirSync(join(prefix, 'share/man/man1')).sort()).to.deep.equal(pages);
  });

  it('installs the documents, whose links lead to existing files', () => {
    const documents = join(prefix, 'share/doc/rdpipe');
    expect(readdirSync(documents)).to.include.members(['README.md', 'LICENSE', 'docs', 'examples']);
    expect(brokenLinks(documents)).to.deep.equal([]);
  });

  it('installs completion where shells look, and its helper next to the program', () => {
    expect(readdirSync(join(prefix, 'share'), { recursive: true })).to.include.members([
      'bash-completion/completions/rdpipe',
      'bash-completion/completions/rdcp',
      'bash-completion/completions/rdssh',
      'zsh/site-functions/_rdpipe',
      'zsh/site-functions/_rdssh',
      'fish/vendor_completions.d/rdpipe.fish',
      'fish/vendor_completions.d/rdcp.fish',
      'fish/vendor_completions.d/rdssh.fish',
    ]);
    const options = { env: { PATH: process.env.PATH, HOME: staging }, extendEnv: false } as const;
    const run = runProgram(join(prefix, 'bin/rdpipe'), ['__complete', 'stage', ':< /etc/passw'], options);
    expect(run).to.deep.equal({ status: 0, stdout: run.stdout, stderr: '' });
    expect(run.stdout).to.match(/^:< \/etc\/passwd$/m);
  });

  it('has a directory for PATH with rdssh as ssh, which finds ssh itself', () => {
    const directory = join(prefix, 'lib/rdpipe/ssh');
    // npm packages have a copy instead of a link.
    const other = join(staging, 'npm/ssh');
    for (const made of [other, join(staging, 'npm/build/rdpipe')]) mkdirSync(made, { recursive: true });
    copyFileSync(join(directory, 'ssh'), join(other, 'ssh'));
    writeFileSync(join(staging, 'npm/build/rdpipe/rdpipe.cjs'), '');
    const options = { env: { PATH: `${other}:${directory}:${process.env.PATH}` }, extendEnv: false } as const;
    const help = runProgram(join(directory, 'ssh'), ['--help'], options);
    expect(help.stdout, help.stderr).to.match(/^Usage: rdssh /);
    const version = runProgram(join(directory, 'ssh'), ['-vV'], options);
    expect(version.stderr).to.match(/^rdssh: ssh runs this command line: only ssh supports -V\nOpenSSH/);
  });

  it('gives a copy that runs a pipeline', () => {
    const options = { input: 'hi\n', env: { PATH: process.env.PATH, HOME: staging }, extendEnv: false } as const;
    const run = runProgram(join(prefix, 'bin/rdpipe'), [':tr a-z A-Z', ':rev'], options);
    expect({ status: run.status, text: run.stdout, stderr: run.stderr }).to.deep.equal({
      status: 0,
      text: 'IH\n',
      stderr: '',
    });
  });

  it('gives a copy that draws on a terminal with a size', () => {
    const line = `stty cols 80 rows 24; echo hi | ${join(prefix, 'bin/rdpipe')} -v ':tr a-z A-Z' :rev`;
    const env = { PATH: process.env.PATH, HOME: staging, TERM: 'xterm-256color' };
    const run = runProgram('script', ['-qec', line, '/dev/null'], { input: '', env, extendEnv: false });
    expect(run.status, run.stdout).to.equal(0);
    expect(run.stdout).to.contain('connecting to this machine').and.to.contain('IH\r\n');
  });

  it('reads the drawing code only when a page is written', () => {
    const pages = join(prefix, 'lib/rdpipe/build/rdpipe/pages.cjs');
    const page = join(staging, 'run.html');
    const options = { env: { PATH: process.env.PATH, HOME: staging }, extendEnv: false } as const;
    const run = (...words: string[]) => runProgram(join(prefix, 'bin/rdpipe'), words, options);
    expect(run('--report', page, ':true').status).to.equal(0);
    expect(statSync(page).size).to.be.greaterThan(1000);
    renameSync(pages, `${pages}.away`);
    expect(run(':true').status).to.equal(0);
    const { status, stderr } = run('--report', page, ':true');
    expect(status).to.equal(125);
    expect(stderr).to.match(/^rdpipe: cannot write the report to .*pages\.cjs.*\n$/);
    renameSync(`${pages}.away`, pages);
  });

  for (const program of PROGRAMS) {
    it(`gives a ${program} that prints its version`, () => {
      const run = runProgram(join(prefix, 'bin', program), ['--version']);
      expect({ status: run.status, stderr: run.stderr }).to.deep.equal({ status: 0, stderr: '' });
      expect(run.stdout).to.match(/\d+\.\d+\.\d+/);
    });
  }

  describe("with cron's environment", () => {
    let bare: string;

    /** A copy of /usr/bin without node, as if node was installed elsewhere. */
    before(() => {
      bare = join(staging, 'usr-bin');
      mkdirSync(bare);
      for (const name of readdirSync('/usr/bin')) {
        if (!/^(node|nodejs)$/.test(name)) symlinkSync(join('/usr/bin', name), join(bare, name));
      }
    });

    it('finds node where it was at the build, and starts from cron as in the example', () => {
      const run = byCron(`${programOfCronExample()} -q ':echo hi' ':tr a-z A-Z'`);
      expect({ status: run.status, text: run.stdout, stderr: run.stderr }).to.deep.equal({
        status: 0,
        text: 'HI\n',
        stderr: '',
      });
    });

    it('answers the questions of ssh there too', () => {
      const askpass = `${prefix}/lib/rdpipe/bin/rdpipe-askpass 'Password: '`;
      const run = byCron(`RDPIPE_NODE='${process.execPath}' ${askpass}`);
      expect(run.stderr).to.equal('rdpipe-askpass: this program is for ssh, do not run it by hand\n');
    });

    it('reports in one line that there is no node', () => {
      const path = join(prefix, 'lib/rdpipe/build/rdpipe/node-path');
      renameSync(path, `${path}.away`);
      const run = byCron(`${prefix}/bin/rdpipe :true`);
      renameSync(`${path}.away`, path);
      expect(run.stderr).to.match(
        /^rdpipe: node is not in PATH .*install Node 18\.19 or later, or set RDPIPE_NODE to its path\n$/,
      );
      expect(run.status).to.equal(125);
    });

    function byCron(line: string) {
      return runProgram('/bin/sh', ['-c', line], { env: { PATH: bare, HOME: staging }, extendEnv: false });
    }

    /** The program in the example of docs/unattended.md, with this installation's prefix in place of /usr/local. */
    function programOfCronExample(): string {
      const page = readFileSync(join(ROOT, 'docs/unattended.md'), 'utf8');
      const [, program = ''] = /^15 2 \* \* \* +(\S+) -q /m.exec(page) ?? [];
      expect(program).to.equal('/usr/local/bin/rdpipe');
      return program.replace('/usr/local', prefix);
    }
  });
});

describe('make uninstall', () => {
  let target: string;
  let where: readonly string[];

  beforeEach(() => {
    target = mkdtempSync(join(tmpdir(), 'rdpipe-test-uninstall-'));
    where = [`DESTDIR=${target}`, 'PREFIX=/opt/rd'];
  });
  afterEach(() => rmSync(target, { recursive: true }));

  it('removes what was installed and nothing else', () => {
    const others = ['bin/rdpipe-other', 'share/man/man1/rdpipe-other.1', 'lib/other'];
    for (const directory of ['bin', 'share/man/man1', 'lib'])
      mkdirSync(join(target, 'opt/rd', directory), { recursive: true });
    for (const name of others) writeFileSync(join(target, 'opt/rd', name), '');
    const before = everythingIn(target);
    make('install', ...where);
    expect(everythingIn(target)).to.include.members(['opt/rd/bin/rdpipe', 'opt/rd/lib/rdpipe/bin/rdsend']);
    make('uninstall', ...where);
    expect(everythingIn(target)).to.deep.equal(before);
  });

  it('keeps a file that it did not install below lib/rdpipe, with its directory', () => {
    make('install', ...where);
    writeFileSync(join(target, 'opt/rd/lib/rdpipe/build/other'), '');
    make('uninstall', ...where);
    const copy = everythingIn(join(target, 'opt/rd/lib'));
    expect(copy).to.deep.equal(['rdpipe', 'rdpipe/build', 'rdpipe/build/other']);
  });

  it('removes files of another version, also before this one is installed', () => {
    make('install', ...where);
    const list = join(target, 'opt/rd/lib/rdpipe/installed');
    writeFileSync(list, `${readFileSync(list, 'utf8')}bin/rdpipe-of-old\n`);
    writeFileSync(join(target, 'opt/rd/bin/rdpipe-of-old'), '');
    make('install', ...where);
    expect(readdirSync(join(target, 'opt/rd/bin')).sort()).to.deep.equal(PROGRAMS);
  });

  it('reports that nothing is installed', () => {
    const { status, stderr } = runProgram('make', ['uninstall', ...where], { cwd: ROOT });
    expect(stderr).to.match(/^no rdpipe is installed below .*\/opt\/rd\n/);
    expect(status).to.equal(2);
  });
});

describe('make install without a build', () => {
  it('names the command that builds, and compiles nothing', () => {
    const target = join(tmpdir(), 'rdpipe-test-never');
    const words = ['install', 'OUT=build/never', `DESTDIR=${target}`];
    const { status, stderr } = runProgram('make', words, { cwd: ROOT });
    expect(stderr).to.contain("run 'npm run build' first\n");
    expect(status).to.equal(2);
    expect([join(ROOT, 'build/never'), target].filter(existsSync)).to.deep.equal([]);
  });
});

describe('the directory of the sources in TypeScript', () => {
  const directory = join(ROOT, 'packages/rdpipe');

  it('is not a package: its programs would be missing', () => {
    const { status, stderr } = runProgram('npm', ['pack', '--dry-run'], { cwd: directory });
    expect(stderr).to.contain('this directory lacks the programs: npm run dist makes the package for npm');
    expect(status).to.equal(1);
  });

  it('is private, so that npm does not publish it', () => {
    expect(JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')).private).to.equal(true);
  });
});

function make(...words: string[]): void {
  execaSync('make', words, { cwd: ROOT });
}

function everythingIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort();
}
