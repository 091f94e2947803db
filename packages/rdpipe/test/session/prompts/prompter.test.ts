import { EventEmitter, once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { needsFile, needsTool } from '../../../../../test/support/needs.ts';
import { startProgram } from '../../../../../test/support/start-program.ts';
import type { RunEvent } from '../../../src/model/events.ts';
import { startDeadline } from '../../../src/session/deadline.ts';
import type { HostSession } from '../../../src/session/host-session.ts';
import { openSessions, type Sessions } from '../../../src/session/open.ts';
import { makePrivateDir, type PrivateDir } from '../../../src/session/private-dir.ts';
import { createPrompter, type Prompter } from '../../../src/session/prompts/prompter.ts';
import type { Terminal } from '../../../src/session/prompts/terminal.ts';
import type { SessionSettings } from '../../../src/session/settings.ts';
import { time } from '../../frozen-time.ts';
import { textOf } from '../conformance.ts';
import { hostRef, settingsFor, startTestHosts, type TestHosts } from '../ssh-hosts.ts';
import { type AskingHost, startAskingHost } from './asking-host.ts';

const NEVER = new AbortController().signal;
const ASKPASS = fileURLToPath(new URL('../../fixtures/askpass', import.meta.url));
const ASKPASS_SOURCE = fileURLToPath(new URL('../../../src/cli/askpass.ts', import.meta.url));

interface Asked {
  readonly text: string;
  readonly echo: boolean;
}

/** A terminal on which these answers are given, in turn. */
function person(...answers: (string | undefined)[]): Terminal & { readonly asked: Asked[] } {
  const asked: Asked[] = [];
  return {
    asked,
    async ask(text, echo) {
      asked.push({ text, echo });
      return answers.shift();
    },
  };
}

describe('a question', () => {
  let dir: PrivateDir;
  let prompter: Prompter | undefined;
  const told: RunEvent[] = [];

  beforeEach(async () => {
    dir = await makePrivateDir();
    told.length = 0;
  });
  afterEach(async () => {
    prompter?.close();
    await dir.remove();
  });

  const createWith = async (terminal: Terminal | undefined, signal = NEVER): Promise<Prompter> => {
    prompter = await createPrompter({
      dir,
      askpass: ASKPASS,
      terminal,
      signal,
      emit: (event) => told.push(event),
    });
    return prompter;
  };
  const askpass = async (env: Readonly<Record<string, string>>, text: string) => {
    const { status, stdout } = await startProgram([ASKPASS, text], { env, stdio: ['ignore', 'pipe', 'ignore'] }).ended;
    return { out: stdout.toString(), status };
  };

  it('of ssh reaches the user, labelled and harmless, and the answer reaches ssh', async () => {
    const terminal = person('s3cret "\\ ü');
    const asker = (await createWith(terminal)).attach('h1', startDeadline(1000));
    expect(await askpass(asker.env, "ann@h1's\x1b[2J password: ")).to.deep.equal({ out: 's3cret "\\ ü\n', status: 0 });
    expect(terminal.asked).to.deep.equal([{ text: "h1: ann@h1's␛[2J password: ", echo: false }]);
    expect(told).to.deep.equal([
      { kind: 'prompting', host: 'h1', active: true },
      { kind: 'prompting', host: 'h1', active: false },
    ]);
    expect(asker.asked()).to.equal(true);
  });

  it('about a host key is answered visibly', async () => {
    const terminal = person('yes');
    const asker = (await createWith(terminal)).attach('h1', startDeadline(1000));
    await askpass(asker.env, 'Are you sure you want to continue connecting (yes/no/[fingerprint])? ');
    expect(terminal.asked[0]?.echo).to.equal(true);
  });

  it('that gets no answer ends without one', async () => {
    const asker = (await createWith(person(undefined))).attach('h1', startDeadline(1000));
    expect(await askpass(asker.env, 'Password: ')).to.deep.equal({ out: '', status: 1 });
  });

  it('of a closed connection, or of another process, is not asked', async () => {
    const terminal = person('secret', 'secret');
    const asker = (await createWith(terminal)).attach('h1', startDeadline(1000));
    asker.release();
    expect((await askpass(asker.env, 'Password: ')).status).to.equal(1);
    expect((await askpass({ ...asker.env, RDPIPE_ASKPASS_ID: 'guess' }, 'Password: ')).status).to.equal(1);
    expect(terminal.asked).to.deep.equal([]);
  });

  it('that is malformed does no harm', async () => {
    const asker = (await createWith(person())).attach('h1', startDeadline(1000));
    for (const text of ['', 'nonsense\n', '{}\n', `${'x'.repeat(1 << 17)}\n`]) {
      const socket = connect(asker.env.RDPIPE_ASKPASS ?? '');
      socket.on('error', () => {}).end(text);
      await once(socket, 'close');
    }
    const socket = connect(asker.env.RDPIPE_ASKPASS ?? '');
    await once(socket, 'connect');
    socket.write('{');
    socket.destroy();
    expect(asker.asked()).to.equal(false);
  });

  it('waits for the question before it', async () => {
    let open = 0;
    let most = 0;
    const terminal: Terminal = {
      async ask(text) {
        open += 1;
        most = Math.max(most, open);
        await delay(20);
        open -= 1;
        return text;
      },
    };
    const one = (await createWith(terminal)).attach('h1', startDeadline(1000));
    const two = prompter?.attach('h2', startDeadline(1000));
    const answers = await Promise.all([
      one.ask('a', false, NEVER),
      two?.ask('b', false, NEVER),
      one.ask('c', true, NEVER),
    ]);
    expect(answers).to.deep.equal(['h1: a', 'h2: b', 'h1: c']);
    expect(most).to.equal(1);
  });

  it('stops the clock, also while waiting for another question', async () => {
    const terminal: Terminal = {
      async ask() {
        await delay(150);
        return 'late';
      },
    };
    const created = await createWith(terminal);
    const expiredAtAnswer = [1, 2].map(async () => {
      const deadline = startDeadline(100);
      await created.attach('h1', deadline).ask('Password: ', false, NEVER);
      const expired = deadline.expired.aborted;
      await once(deadline.expired, 'abort');
      return expired;
    });
    expect(await Promise.all(expiredAtAnswer)).to.deep.equal([false, false]);
  });

  it('is withdrawn when ssh no longer waits for the answer', async () => {
    const questions = new EventEmitter();
    const terminal: Terminal = {
      async ask(_text, _echo, signal) {
        questions.emit('asked');
        await once(signal, 'abort');
        questions.emit('withdrawn');
        return undefined;
      },
    };
    const deadline = startDeadline(60_000);
    const asker = (await createWith(terminal)).attach('h1', deadline);
    const events = Promise.all([once(questions, 'asked').then(() => child.kill()), once(questions, 'withdrawn')]);
    const { child } = startProgram([process.execPath, '--import', 'tsx', ASKPASS_SOURCE, 'Touch the key'], {
      env: asker.env,
      stdio: 'ignore',
    });
    await events;
    deadline.stop();
  });

  it('is not asked without a terminal', async () => {
    const asker = (await createWith(undefined)).attach('h1', startDeadline(1000));
    expect(asker.options).to.deep.equal(['BatchMode=yes']);
    expect(await asker.ask('Password: ', false, NEVER)).to.equal(undefined);
    expect(readdirSync(dir.path)).to.deep.equal([]);
  });
});

for (const client of ['openssh', 'ssh2'] as const) {
  describe(`a login with ${client} that asks`, () => {
    let hosts: TestHosts;
    let host: AskingHost;
    let sessions: Sessions | undefined;

    before(async function () {
      needsFile(this, '/usr/sbin/sshd');
      needsTool(this, 'ssh', 'ssh-keygen');
      hosts = await startTestHosts([{ name: 'h1' }]);
      host = await startAskingHost('s3cret', '4711');
      const knownHosts = join(hosts.directory, 'known_hosts');
      writeFileSync(knownHosts, `${readFileSync(knownHosts, 'utf8')}${host.knownHosts}`);
    });
    afterEach(async () => {
      await sessions?.close();
      sessions = undefined;
    });
    after(async () => {
      host?.close();
      await hosts?.close();
    });

    const open = async (
      name: string,
      terminal: Terminal | undefined,
      changes: Partial<SessionSettings> = {},
    ): Promise<HostSession> => {
      const settings = settingsFor(hosts, { client, askpass: ASKPASS, ...changes });
      sessions = await openSessions([hostRef(name)], settings, terminal);
      const session = sessions.all.get('1');
      if (session === undefined) throw new Error('no session');
      return session;
    };
    const toAskingHost = () => ['HostName=127.0.0.1', `Port=${host.port}`];

    it('gets a password and then a second factor', async () => {
      const terminal = person('s3cret', '4711');
      const session = await open('h1', terminal, { options: toAskingHost() });
      const channel = await session.openShell(NEVER);
      channel.stdin.end('echo in\n');
      expect(await textOf(channel.stdout)).to.equal('in\n');
      const { username } = userInfo();
      expect(terminal.asked[0]).to.deep.equal({ text: `h1: ${username}@127.0.0.1's password: `, echo: false });
      expect(terminal.asked).to.have.length(2);
      expect(terminal.asked[1]?.text)
        .to.match(/Code .*: $/s)
        .and.not.include('\x1b');
      expect(terminal.asked[1]?.echo).to.equal(false);
    });

    it('fails when the answers are wrong', async () => {
      const outcome = await open('h1', person('no', 'no', 'no'), { options: toAskingHost() }).catch(
        (error: unknown) => error,
      );
      expect(outcome).to.have.property('code', 'authentication');
    });

    it('fails without a question if there is no terminal', async () => {
      const outcome = await open('h1', undefined, { options: toAskingHost() }).catch((error: unknown) => error);
      expect(outcome).to.have.property('code', 'authentication');
    });

    it('does not time out while the user thinks', async () => {
      const answers = person('s3cret', '4711');
      const connectTimeoutMs = 60_000;
      const terminal: Terminal = {
        async ask(...question) {
          await time.pass(2 * connectTimeoutMs);
          return answers.ask(...question);
        },
      };
      time.freeze();
      try {
        await open('h1', terminal, { options: toAskingHost(), connectTimeoutMs });
      } finally {
        time.reset();
      }
      expect(answers.asked).to.have.length(2);
    });

    it('gets the passphrase of a key', async () => {
      const key = join(hosts.directory, `locked-${client}`);
      execaSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', 'open sesame', '-f', key]);
      writeFileSync(join(hosts.directory, 'authorized_keys'), readFileSync(`${key}.pub`), { flag: 'a' });
      const configFile = join(hosts.directory, `config-${client}`);
      const config = readFileSync(hosts.configFile, 'utf8').replace(/^IdentityFile .*$/m, `IdentityFile ${key}`);
      writeFileSync(configFile, config);
      const terminal = person('open sesame');
      await open('h1', terminal, { configFile });
      expect(terminal.asked).to.deep.equal([{ text: `h1: Enter passphrase for key '${key}': `, echo: false }]);
    });
  });
}

describe('a host whose key is not known', () => {
  it('is accepted when the user says so, by ssh itself', async function () {
    needsFile(this, '/usr/sbin/sshd');
    needsTool(this, 'ssh', 'ssh-keygen');
    const hosts = await startTestHosts([{ name: 'h1' }]);
    const options = [`UserKnownHostsFile=${join(hosts.directory, 'new_known_hosts')}`];
    const terminal = person('yes');
    const sessions = await openSessions([hostRef('h1')], settingsFor(hosts, { askpass: ASKPASS, options }), terminal);
    await sessions.close();
    await hosts.close();
    expect(terminal.asked).to.have.length(1);
    expect(terminal.asked[0]?.text).to.match(/^h1: The authenticity of host .*\n.*yes\/no/s);
    expect(terminal.asked[0]?.echo).to.equal(true);
  });
});
