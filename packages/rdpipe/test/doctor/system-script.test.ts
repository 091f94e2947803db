import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { needsTool } from '../../../../test/support/needs.ts';
import { EVENT_MS } from '../../../../test/support/patience.ts';
import { type AskOptions, askSystem, decodeSystem, systemScript } from '../../src/doctor/system-script.ts';
import { SessionError } from '../../src/model/errors.ts';
import { createLocalSession } from '../../src/session/local.ts';

const OPTIONS = { timeoutMs: EVENT_MS, signal: new AbortController().signal };
const QUESTIONS = { agentPid: process.pid, sudo: false };

describe('the questions to a host', () => {
  it('are answered by this machine', async () => {
    const session = createLocalSession();
    const facts = await askSystem(session, QUESTIONS, OPTIONS).finally(() => session.close());
    expect(facts.pipeMostBytes).to.equal(Number(readFileSync('/proc/sys/fs/pipe-max-size', 'utf8')));
    expect(facts.agentDirectory).to.equal(process.execPath.replace(/\/[^/]*$/, ''));
    expect(facts.programs).to.equal('static');
    expect(facts.interfaces.get('all')).to.have.keys('arpIgnore', 'arpAnnounce', 'rpFilter');
    expect(facts.cache?.freeKib).to.be.greaterThan(0);
    expect(facts.sudo).to.equal(null);
  });

  for (const shell of ['dash', 'bash', 'busybox sh', 'zsh --emulate sh']) {
    it(`are answered by ${shell}`, function () {
      needsTool(this, shell.split(' ')[0] ?? '');
      const facts = answerOf(shell, { HOME: '/nowhere/at all', PATH: process.env.PATH });
      expect(facts?.cache).to.deep.include({ directory: '/nowhere/at all/.cache', mountPoint: '/', noexec: false });
      expect(facts?.pipeMostBytes).to.be.greaterThan(0);
      expect(facts?.sendBufferBytes).to.be.greaterThan(0);
      expect(facts?.interfaces.size).to.be.greaterThan(0);
    });
  }

  it('are answered without a home', () => {
    expect(answerOf('sh', { PATH: process.env.PATH })?.cache).to.equal(null);
    expect(answerOf('sh', { PATH: process.env.PATH, HOME: 'nowhere' })?.cache).to.equal(null);
  });

  it('find out whether sudo works', () => {
    const directory = mkdtempSync(join(tmpdir(), 'rdpipe-test-sudo-'));
    try {
      const sudo = (script: string) => {
        writeFileSync(join(directory, 'sudo'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
        return answerOf('sh', { PATH: `${directory}:${process.env.PATH}` }, { ...QUESTIONS, sudo: true })?.sudo;
      };
      expect(sudo('[ "$*" = "-n true" ]')).to.deep.equal({ ok: true, words: '' });
      const refusal = { ok: false, words: 'sudo: a password is required' };
      expect(sudo('echo "sudo: a password"; echo "is required" >&2; exit 1')).to.deep.equal(refusal);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  const NONSENSE = ['', 'no hexadecimal', hex('cache 1 0 /\n'), hex('end'), 'abc'];
  for (const words of NONSENSE) {
    it(`are not answered by '${words}'`, () => expect(decodeSystem(words)).to.equal(undefined));
  }

  it('are answered in part by a host with fewer facts', () =>
    expect(
      decodeSystem(hex('cache all 0 /\nprograms fast\nopenssl new\n/proc/sys/fs/pipe-max-size:lots\nsudo 2\nend\n')),
    ).to.deep.equal({
      agentDirectory: null,
      programs: null,
      openssl: null,
      wideAes: false,
      pipeMostBytes: null,
      pipeUserPages: null,
      sendBufferBytes: null,
      interfaces: new Map(),
      cache: null,
      sudo: null,
    }));

  it('report an invalid answer', async () =>
    expect(await refusal('od() { :; }', OPTIONS)).to.equal('cannot examine this machine: its answer is invalid'));

  it('report a missing answer', async () =>
    expect(await refusal('exec sleep 60', { ...OPTIONS, timeoutMs: 100 })).to.equal(
      'cannot examine this machine: no answer within 0.1 s',
    ));
});

/** The message of the error if the shell runs another command first. */
async function refusal(first: string, options: AskOptions): Promise<string> {
  const session = createLocalSession();
  const strange: typeof session = {
    ...session,
    async openShell(signal) {
      const channel = await session.openShell(signal);
      channel.stdin.write(`${first}\n`);
      return channel;
    },
  };
  const outcome = await askSystem(strange, QUESTIONS, options).catch((error: unknown) => error);
  await session.close();
  expect(outcome).to.be.instanceOf(SessionError);
  return (outcome as SessionError).message;
}

function hex(text: string): string {
  return Buffer.from(text).toString('hex');
}

function answerOf(shell: string, env: NodeJS.ProcessEnv, questions = QUESTIONS) {
  const [program = '', ...words] = [
    ...shell.split(' '),
    '-c',
    `say() { printf '%s\\n' "$*"; }\n${systemScript(questions)}`,
  ];
  const { stdout } = execaSync(program, words, { env, extendEnv: false });
  return decodeSystem(stdout.replace(/^ok /, '').trim());
}
