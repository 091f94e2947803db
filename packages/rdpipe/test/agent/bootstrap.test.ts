import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { needsTool } from '../../../../test/support/needs.ts';
import { runProgram } from '../../../../test/support/run-program.ts';
import { type BootstrapOptions, bootstrapScript } from '../../src/agent/bootstrap.ts';
import { type Bundle, type BundleFile, sha256Of } from '../../src/agent/bundle.ts';
import { THIS_PLATFORM } from '../../src/agent/locate.ts';

const NONCE = '0123456789abcdef';
const DIGEST = 'd16e57';
const SHELLS = [['sh'], ['dash'], ['bash', '--posix'], ['bash'], ['busybox', 'sh'], ['zsh', '--emulate', 'sh']];

const AGENT = '#!/bin/sh\necho "agent $*"\ncat\n';
const DYNAMIC_AGENT = AGENT.replace('agent', 'dynamic');

describe('the script that becomes the agent', () => {
  let home: string;
  let agent: BundleFile;
  let dynamicAgent: BundleFile;
  let beside: BundleFile;
  let program: BundleFile;

  before(async () => {
    agent = await fileOf('rdstage', Buffer.from(AGENT));
    dynamicAgent = await fileOf('dynamic/rdstage', Buffer.from(DYNAMIC_AGENT));
    beside = await fileOf('rdhop', Buffer.from('#!/bin/sh\nexit\n'));
    program = await fileOf('dynamic/rdhop', Buffer.from('#!/bin/sh\n'));
  });

  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "rdpipe unit's "));
  });
  afterEach(() => rmSync(home, { recursive: true }));

  const script = (changes: Partial<BootstrapOptions> = {}) =>
    bootstrapScript({
      nonce: NONCE,
      agentPath: undefined,
      sudo: false,
      bundles: new Map([
        ['linux-other', { digest: 'abc', agent: program, others: [] }],
        [THIS_PLATFORM, { digest: DIGEST, agent, others: [] }],
      ]),
      ...changes,
    });
  const run = ([shell = '', ...args]: readonly string[], input: string) =>
    runProgram(shell, args, { input, env: { PATH: process.env.PATH, HOME: home }, extendEnv: false });
  const install = (directory: string, name = 'rdstage', content = AGENT): string => {
    const path = join(home, directory, name);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, content);
    chmodSync(path, 0o700);
    return path;
  };
  const version = `.cache/rdpipe/${DIGEST}`;

  for (const shell of SHELLS) {
    describe(`by ${shell.join(' ')}`, () => {
      before(function () {
        needsTool(this, shell[0] ?? '');
      });

      it('ends by running the agent, which gets the bytes sent after it', () => {
        install(version);
        expect(run(shell, script())).to.include({ status: 0, stdout: `agent --agent --nonce ${NONCE}\n`, stderr: '' });
      });

      it('starts two programs before the agent, three if the agent has several kinds', () => {
        install(version);
        const spies = join(home, 'spies');
        mkdirSync(spies);
        for (const name of ['uname', 'id', 'ls', 'sha256sum', 'shasum', 'openssl', 'tr', 'touch', 'mkdir', 'cat']) {
          const script = `#!/bin/sh\necho ${name} >>"$HOME/seen"\nPATH=\${PATH#*:} exec ${name} "$@"\n`;
          writeFileSync(join(spies, name), script, { mode: 0o755 });
        }
        const [program = '', ...args] = shell;
        const env = { PATH: `${spies}:${process.env.PATH}`, HOME: home };
        const started = (input: string): string => {
          rmSync(join(home, 'seen'), { force: true });
          execaSync(program, args, { input, env, extendEnv: false });
          return readFileSync(join(home, 'seen'), 'utf8');
        };
        // The last program is the substitute for the agent; busybox has the others built in.
        const isBusybox = shell[0] === 'busybox';
        const bundles = new Map([[THIS_PLATFORM, { digest: DIGEST, agent, others: [] }]]);
        expect(started(script({ bundles }))).to.equal(isBusybox ? 'cat\n' : 'ls\nsha256sum\ncat\n');
        expect(started(script())).to.equal(isBusybox ? 'cat\n' : 'uname\nls\nsha256sum\ncat\n');
      });

      it('reports missing programs, and lets another script follow', () => {
        const { stdout, stderr } = run(shell, `${script()}echo next\n`);
        const uname = (option: string) => execaSync('uname', [option]).stdout;
        expect(stdout).to.equal(`\nrdstage/1 ${NONCE} missing ${uname('-s')} ${uname('-m')}\nnext\n`);
        expect(stderr).to.equal('');
      });

      it('runs no agent with different contents, whatever its size', () => {
        install(version, 'rdstage', AGENT.replace('agent', 'trick'));
        expect(run(shell, script()).stdout).to.match(/^\nrdstage\/1 \w+ missing \S+ \S+ damaged\n$/);
      });

      it('passes the expected digests of the other programs to the agent', () => {
        const bundle: Bundle = { digest: DIGEST, agent, others: [beside, program] };
        const bundles = new Map([[THIS_PLATFORM, bundle]]);
        install(version);
        const sums = `rdhop=${beside.sha256},dynamic/rdhop=${program.sha256}`;
        expect(run(shell, script({ bundles })).stdout).to.equal(`agent --agent --nonce ${NONCE} --sums ${sums}\n`);
        install(version, 'dynamic/rdhop', '#!/bin/sh\n');
        expect(run(shell, script({ bundles })).stdout).to.equal(`agent --agent --nonce ${NONCE} --sums ${sums}\n`);
      });

      it("runs the agent that uses the host's libraries if it is there and intact", () => {
        const bundle: Bundle = { digest: DIGEST, agent, others: [beside, dynamicAgent, program] };
        const bundles = new Map([[THIS_PLATFORM, bundle]]);
        install(version);
        expect(run(shell, script({ bundles })).stdout).to.match(/^agent /);
        install(version, 'dynamic/rdstage', DYNAMIC_AGENT);
        const sums = `../rdhop=${beside.sha256},rdhop=${program.sha256}`;
        expect(run(shell, script({ bundles })).stdout).to.equal(`dynamic --agent --nonce ${NONCE} --sums ${sums}\n`);
        install(version, 'dynamic/rdstage', DYNAMIC_AGENT.replace('dynamic', 'trick'));
        expect(run(shell, script({ bundles })).stdout).to.match(/ damaged\n$/);
        rmSync(join(home, version, 'dynamic/rdstage'));
        expect(run(shell, script({ bundles })).stdout).to.match(/ damaged\n$/);
        install(`${version}/elsewhere`, 'rdstage', DYNAMIC_AGENT);
        rmSync(join(home, version, 'dynamic'), { recursive: true });
        symlinkSync('elsewhere', join(home, version, 'dynamic'));
        expect(run(shell, script({ bundles })).stdout).to.match(/^agent .*dynamic\/rdstage=/);
      });

      it('runs programs with complete names if no program computes digests', () => {
        install(version, 'rdstage', AGENT.replace('agent', 'other'));
        const without = 'sha256sum() { return 127; }; shasum() { return 127; }; openssl() { return 127; }\n';
        expect(run(shell, without + script()).stdout).to.match(/^other/);
      });

      it('runs no symbolic link', () => {
        symlinkSync(install('elsewhere'), join(dirname(install(version, 'other')), 'rdstage'));
        expect(run(shell, script()).stdout).to.match(/ damaged\n$/);
      });

      it('runs no agent in a directory that other users can write', () => {
        install(version);
        chmodSync(join(home, '.cache'), 0o770);
        expect(run(shell, script()).stdout).to.match(/^\nrdstage\/1 \w+ missing \S+ \S+\n$/);
        chmodSync(join(home, '.cache'), 0o1777);
        expect(run(shell, script()).stdout).to.match(/^agent/);
      });

      it('follows a link in a parent path only if it leads to a safe directory', () => {
        install(`real/rdpipe/${DIGEST}`);
        symlinkSync(join(home, 'real'), join(home, '.cache'));
        expect(run(shell, script()).stdout).to.match(/^agent/);
        chmodSync(join(home, 'real'), 0o777);
        expect(run(shell, script()).stdout).to.match(/ missing \S+ \S+\n$/);
      });

      it('runs what it has checked, also if another user exchanges a link meanwhile', () => {
        install(`real/rdpipe/${DIGEST}`);
        install(`trick/rdpipe/${DIGEST}`, 'rdstage', AGENT.replace('agent', 'trick'));
        symlinkSync(join(home, 'real'), join(home, '.cache'));
        const exchange = 'sha256sum() { command sha256sum; ln -sfn "$HOME/trick" "$HOME/.cache"; }\n';
        expect(run(shell, exchange + script()).stdout).to.match(/^agent/);
        expect(readlinkSync(join(home, '.cache'))).to.equal(join(home, 'trick'));
      });

      it('runs no agent in a directory that a link gives another name', () => {
        install(`real/private/${DIGEST}`);
        mkdirSync(join(home, '.cache'));
        symlinkSync(join(home, 'real/private'), join(home, '.cache/rdpipe'));
        expect(run(shell, script()).stdout).to.match(/ missing \S+ \S+\n$/);
      });

      it('reports damaged programs also if others are in a later directory', () => {
        install(version, 'rdstage', AGENT.replace('agent', 'trick'));
        install(`run/rdpipe/${DIGEST}`);
        const elsewhere = 'XDG_RUNTIME_DIR=$HOME/run\n';
        expect(run(shell, elsewhere + script()).stdout).to.equal(
          `\nrdstage/1 ${NONCE} damaged\nagent --agent --nonce ${NONCE}\n`,
        );
      });

      it('runs the agent that --agent names, whatever characters its path has', () => {
        const agentPath = install(`it's "my" $HOME`);
        expect(run(shell, script({ agentPath })).stdout).to.equal(`agent --agent --nonce ${NONCE}\n`);
        expect(run(shell, script({ agentPath: `~/it's "my" $HOME/rdstage` })).stdout).to.match(/^agent/);
      });
    });
  }
});

async function fileOf(name: string, content: Buffer): Promise<BundleFile> {
  return { name, bytes: content.length, sha256: await sha256Of(content), content: async () => content };
}
