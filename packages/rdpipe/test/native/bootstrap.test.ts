import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { needsTool } from '../../../../test/support/needs.ts';
import { type BootstrapOptions, bootstrapScript } from '../../src/native/bootstrap.ts';
import { THIS_PLATFORM } from '../../src/native/locate.ts';

const NONCE = '0123456789abcdef';
const DIGEST = 'd16e57';
const SHELLS = [['sh'], ['dash'], ['bash', '--posix'], ['bash'], ['busybox', 'sh'], ['zsh', '--emulate', 'sh']];

describe('the script that becomes the agent', () => {
  let home: string;

  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "rdpipe unit's "));
  });
  afterEach(() => rmSync(home, { recursive: true }));

  const script = (changes: Partial<BootstrapOptions> = {}) =>
    bootstrapScript({
      nonce: NONCE,
      agentPath: undefined,
      sudo: false,
      digests: new Map([
        ['linux-other', 'abc'],
        [THIS_PLATFORM, DIGEST],
      ]),
      ...changes,
    });
  const run = ([shell = '', ...args]: readonly string[], input: string) =>
    spawnSync(shell, args, { input, encoding: 'utf8', env: { PATH: process.env.PATH, HOME: home } });
  const install = (folder: string): string => {
    mkdirSync(join(home, folder), { recursive: true, mode: 0o700 });
    const agent = join(home, folder, 'rdstage');
    writeFileSync(agent, '#!/bin/sh\necho "agent $*"\ncat\n');
    chmodSync(agent, 0o700);
    return agent;
  };

  for (const shell of SHELLS) {
    describe(`by ${shell.join(' ')}`, () => {
      before(function () {
        needsTool(this, shell[0] ?? '');
      });

      it('ends in the agent, which gets what is sent then', () => {
        install(`.cache/rdpipe/${DIGEST}`);
        expect(run(shell, script())).to.include({ status: 0, stdout: `agent --agent --nonce ${NONCE}\n`, stderr: '' });
      });

      it('says what is missing, and lets another script follow', () => {
        const { stdout, stderr } = run(shell, `${script()}echo next\n`);
        const uname = (option: string) => spawnSync('uname', [option], { encoding: 'utf8' }).stdout.trim();
        expect(stdout).to.equal(`\nrdstage/1 ${NONCE} missing ${uname('-s')} ${uname('-m')}\nnext\n`);
        expect(stderr).to.equal('');
      });

      it('takes the agent that --agent names, whatever the path holds', () => {
        const agentPath = install(`it's "my" $HOME`);
        expect(run(shell, script({ agentPath })).stdout).to.equal(`agent --agent --nonce ${NONCE}\n`);
        expect(run(shell, script({ agentPath: `~/it's "my" $HOME/rdstage` })).stdout).to.match(/^agent/);
      });
    });
  }
});
