import { arch } from 'node:os';
import { expect } from 'chai';
import { jsonLines } from '../../../../test/support/json-output.ts';
import { VERSION } from '../../src/model/version.ts';
import { runCli } from './run-cli.ts';

describe('rdpipe', () => {
  it('prints its version on standard output', () => {
    expect(runCli(['--version'])).to.deep.equal({ status: 0, stdout: `rdpipe ${VERSION}\n`, stderr: '' });
  });

  it('prints the versions of its parts with -v, and only its own without', () => {
    const { status, stdout, stderr } = runCli(['-vV']);
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    expect(stdout.split('\n').slice(0, 2)).to.deep.equal([
      `rdpipe ${VERSION}`,
      `node ${process.versions.node} (${arch()}), ${process.execPath}`,
    ]);
    expect(stdout).to.match(/^glibc \d/m);
    expect(runCli(['--verbose', '--version'], { env: { RDPIPE_PROGRAM: 'rdcp' } }).stdout).to.match(
      /^rdcp [\d.]+\nnode /,
    );
  });

  it('prints versions if no native program runs', () => {
    const options = { env: { RDPIPE_NATIVE_DIR: '/nonexistent' } };
    const { status, stdout, stderr } = runCli(['--version', '-v'], options);
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    expect(stdout).to.match(/^programs for hosts: none\nprograms here: none for linux-\w+$/m);
  });

  it('prints its help on standard output, within 80 columns', () => {
    const { status, stdout, stderr } = runCli(['--help']);
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).to.be.at.most(80);
  });

  it('prints the help of rdpipe demo without running it', () => {
    const [asked, named] = [runCli(['demo', '--help']), runCli(['help', 'demo'])];
    expect(asked).to.deep.equal(named);
    expect(asked).to.include({ status: 0, stderr: '' });
    expect(asked.stdout).to.match(/^Usage: rdpipe demo\n/);
    expect(runCli(['help', 'rdpipe']).stdout).to.equal(runCli(['--help']).stdout);
    expect(runCli(['help']).stdout).to.match(/^ {2}demo +try pipelines between two temporary hosts$/m);
  });

  describe('bad input', () => {
    const cases: readonly (readonly [string, readonly string[], RegExp])[] = [
      ['no stage', [], /^rdpipe: no stage given .*\n$/],
      ['a stage without a host', ['h1:true', 'rev'], /^rdpipe: stage 2 has no host: rev\n {2}.*\n.*\^\^\^ write host/],
      ['an empty command', ['h1:'], /^rdpipe: stage 1 \(h1\) has no command\n/],
      ['an option after a stage', ['h1:true', '-v'], /^rdpipe: option -v after a stage: quote the command/],
      ['an unknown option', ['--frobnicate', 'h1:true'], /^rdpipe: .*--frobnicate/],
      ['a URL', ['ssh://h1:true'], /-o Port=/],
      ['--ok for a stage that is not there', ['--ok', '3=1', ':true'], /^rdpipe: --ok 3=…: there is only 1 stage/],
      ['a missing config file', ['--config', '/nonexistent/x.toml', ':true'], /^rdpipe: .*\/nonexistent\/x\.toml/],
      ['words after demo', ['demo', 'x'], /^rdpipe: rdpipe demo takes no arguments\n$/],
    ];
    for (const [name, words, message] of cases) {
      it(`${name}: one message, status 2, nothing on standard output`, () => {
        const { status, stdout, stderr } = runCli(words);
        expect({ status, stdout }).to.deep.equal({ status: 2, stdout: '' });
        expect(stderr).to.match(message);
      });
    }

    it('is a report with --json', () => {
      const { status, stderr } = runCli(['--json', 'rev']);
      expect(status).to.equal(2);
      const lines = stderr.trimEnd().split('\n');
      expect(lines).to.have.length(1);
      expect(jsonLines(stderr, 'run')[0]).to.include({ v: 1, kind: 'report', status: 2, cause: 'usage' });
    });
  });
});
