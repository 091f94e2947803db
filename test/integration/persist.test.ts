// SPDX-License-Identifier: Apache-2.0
// --persist: connections outlive a run, and nothing else does.
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { type Lab, useLab } from '../support/lab.ts';
import { signalProcess } from '../support/processes.ts';
import { failed, succeeded } from '../support/shell.ts';

describe('--persist', () => {
  const lab = useLab();
  describe('keeps connections', () => tests(lab));
});

/** The tests are in a nested describe(), so that their hook runs before the lab checks for leftovers. */
function tests(lab: Lab): void {
  const directory = () => join(lab.homes, '.cache/rdpipe/ssh');
  const sockets = () => readdirSync(directory());
  const logins = (name: string) =>
    readFileSync(join(dirname(lab.host(name).home), `${name}.log`), 'utf8').split('Accepted publickey').length - 1;
  /** Returns the number of logins that an action causes. */
  const loginsOf = async (name: string, action: () => Promise<unknown>) => {
    const before = logins(name);
    await action();
    return logins(name) - before;
  };
  const run = async (words: string) => succeeded(await lab.sh(`rdpipe ${words}`), 'hi\n');
  const masters = () => lab.processes('ssh').filter(({ command }) => command.includes(' -M '));

  afterEach(async () => {
    for (const { pid } of masters()) signalProcess(pid, 'SIGTERM');
    await eventually(() => expect(masters()).to.deep.equal([]));
    rmSync(join(lab.homes, '.cache'), { recursive: true, force: true });
  });

  it('starts the next run without a login, also through a jump host', async () => {
    expect(await loginsOf('behind', () => run('--persist 60 behind:"echo hi"'))).to.equal(1);
    const [first, second] = [masters(), await loginsOf('h1', () => run('--persist 60 behind:"echo hi"'))];
    expect(second).to.equal(0);
    expect(await loginsOf('behind', () => run('--persist 60 behind:"echo hi" h1:cat'))).to.equal(0);
    expect(masters().map(({ pid }) => pid)).to.have.members(first.map(({ pid }) => pid));
    expect(sockets()).to.have.lengthOf(2);
    expect(statSync(directory()).mode & 0o777).to.equal(0o700);
  });

  it('leaves nothing of a run except the connection, for the requested time', async () => {
    await run('--persist 1 h1:"echo hi"');
    expect(lab.processes().map(({ program }) => program)).to.satisfy((left: string[]) =>
      left.every((program) => program === 'ssh' || program.startsWith('sshd')),
    );
    await eventually(() => expect([masters(), sockets()]).to.deep.equal([[], []]));
  });

  it('does not end a connection before the agent has started over it', async () => {
    const slow = join(lab.directory, 'slow-ssh');
    await lab.write('slow-ssh', Buffer.from('#!/bin/sh\ncase " $* " in *" sh ") sleep 3 ;; esac\nexec ssh "$@"\n'));
    chmodSync(slow, 0o755);
    await run(`--ssh-program ${slow} --persist 1 h1:"echo hi"`);
  });

  it('keeps nothing by default, with 0, and if a flag overrides the config file', async () => {
    await lab.write('c.toml', Buffer.from('[defaults]\npersist = 60\n'));
    for (const words of ['', '--persist 0', '--config c.toml --persist 0']) {
      await run(`${words} h1:"echo hi"`);
      expect(masters()).to.deep.equal([]);
    }
    await run('--config c.toml h1:"echo hi"');
    expect(masters()).to.have.lengthOf(1);
  });

  it('uses no connection with other options, or for another time', async () => {
    await run('--persist 60 h1:"echo hi"');
    expect(await loginsOf('h1', () => run('--persist 60 -o ForwardAgent=yes h1:"echo hi"'))).to.equal(1);
    expect(await loginsOf('h1', () => run('--persist 50 h1:"echo hi"'))).to.equal(1);
    expect(await loginsOf('h1', () => run('h1:"echo hi"'))).to.equal(1);
  });

  it('connects again if the connection was killed', async () => {
    await run('--persist 60 h1:"echo hi"');
    for (const { pid } of masters()) signalProcess(pid, 'SIGKILL');
    await eventually(() => expect(masters()).to.deep.equal([]));
    expect(sockets()).to.have.lengthOf(1);
    expect(await loginsOf('h1', () => run('--persist 60 h1:"echo hi"'))).to.equal(1);
    expect(await loginsOf('h1', () => run('--persist 60 h1:"echo hi"'))).to.equal(0);
  });

  it('connects again if the far end of the connection no longer answers', async () => {
    // The far end has the same time to answer as for the new login, for which a slow machine may need more.
    for (const seconds of [4, 20, 100]) {
      await run('--persist 60 h1:"echo hi"');
      const servers = childrenOf(lab.host('h1').pid);
      expect(servers).to.have.lengthOf.at.least(1);
      const frozen = servers.flatMap((pid) => [pid, ...childrenOf(pid)]);
      for (const pid of frozen) signalProcess(pid, 'SIGSTOP');
      // Makes the last answer old: within seconds of it rdpipe does not ask for another.
      for (const name of sockets()) utimesSync(join(directory(), name), 0, 0);
      try {
        const before = logins('h1');
        const result = await lab.sh(`rdpipe --persist 60 --connect-timeout ${seconds} h1:"echo hi"`);
        if (result.status === 125 && / within \d+ s /.test(result.stderr) && seconds < 100) continue;
        succeeded(result, 'hi\n');
        expect(logins('h1') - before).to.equal(1);
        return;
      } finally {
        for (const pid of frozen) signalProcess(pid, 'SIGCONT');
      }
    }
  });

  it('is shared by runs that begin at the same time', async () => {
    const lines = 'for n in 1 2 3 4; do rdpipe --persist 60 h1:"echo hi" & done; wait';
    succeeded(await lab.sh(lines), 'hi\nhi\nhi\nhi\n');
    await eventually(() => expect(masters()).to.have.lengthOf(1));
    await run('--persist 60 h1:"echo hi"');
  });

  it('ends a login that is interrupted', async () => {
    const running = lab.start('exec rdpipe --persist 60 -o ProxyCommand="sleep 1000" h1:true');
    await eventually(() => expect(lab.processes('sleep')).to.have.lengthOf(1));
    running.kill('SIGKILL');
    await running.result;
    await eventually(() => expect(lab.processes()).to.deep.equal([]));
  });

  it('puts no socket where others could reach it, and reports it', async () => {
    mkdirSync(dirname(directory()), { recursive: true, mode: 0o700 });
    mkdirSync(directory());
    chmodSync(directory(), 0o750);
    const expectNone = async () => {
      const result = await lab.sh('rdpipe --persist 60 h1:"echo hi"');
      expect(result.text).to.equal('hi\n');
      expect(result.stderr).to.match(/^rdpipe: .*cannot keep the connection to h1 \(--persist\): no private directory/);
      expect(masters()).to.deep.equal([]);
    };
    await expectNone();
    rmSync(directory(), { recursive: true });
    mkdirSync(join(lab.directory, 'elsewhere'), { mode: 0o700 });
    symlinkSync(join(lab.directory, 'elsewhere'), directory());
    await expectNone();
    rmSync(directory());
    mkdirSync(directory(), { mode: 0o700 });
    chmodSync(dirname(directory()), 0o777);
    await expectNone();
  });

  it('needs the system’s ssh', async () => {
    failed(
      await lab.sh('rdpipe --ssh ssh2 --persist 60 h1:true'),
      2,
      /--persist cannot be used with --ssh ssh2 \(it needs the system's ssh\)/,
    );
    failed(await lab.sh('rdpipe --persist soon h1:true'), 2, /'soon' is not a whole number of seconds/);
  });
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}
