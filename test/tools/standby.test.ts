// SPDX-License-Identifier: Apache-2.0
// Loops of rdssh: a standby runs the commands after the second one, as the front itself would.
import { chmodSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { type Lab, useLab } from '../support/lab.ts';
import { isRunning, signalProcess } from '../support/processes.ts';
import { succeeded } from '../support/shell.ts';
import { isStandby } from '../support/workplace.ts';

/** Logs each start of node. */
const NODE = `#!/bin/sh
echo "$*" >>"$STARTS"
exec "${process.execPath}" "$@"
`;

describe('rdssh in a loop', () => {
  const lab = useLab();
  describe('runs commands by its standby', () => tests(lab));
});

/** In a nested describe(), because its hooks run before the lab checks for processes that are left. */
function tests(lab: Lab): void {
  const starts = () => join(lab.directory, 'starts');
  const env = () => ({ RDSSH_OPTIONS: '', STARTS: starts(), RDPIPE_NODE: join(lab.directory, 'node') });
  const sh = (script: string) => lab.sh(script, env());
  const standbys = () => lab.processes('node').filter(({ command }) => isStandby(command));
  /** Runs a script with a standby; returns the lines of output after the command lines that start the standby. */
  const inLoop = async (script: string) => {
    succeeded(await sh('rdssh h1 true </dev/null; rdssh h1 true'), '');
    await eventually(() => expect(readdirSync(place()).filter((name) => name.endsWith('.key'))).to.have.lengthOf(1));
    rmSync(starts());
    return sh(script);
  };
  const place = () => join(lab.homes, '.cache/rdpipe/ssh');
  const socket = () => readdirSync(place()).find((name) => name.startsWith('standby-') && !name.includes('.'));
  const expectNoStart = async () => expect(await lab.list()).not.to.include('starts');

  beforeEach(() => {
    writeFileSync(join(lab.directory, 'node'), NODE);
    chmodSync(join(lab.directory, 'node'), 0o755);
  });
  afterEach(() => {
    lab.endKeptConnections();
    rmSync(place(), { recursive: true, force: true });
  });

  it('with their input, output, standard error and exit status, and starts no node', async () => {
    const result = await inLoop(`for i in 1 2 3; do echo $i | rdssh h1 'cat; echo e >&2; exit 3' || echo $?; done
      seq 100000 | rdssh h1 'cat; cat >&2 <&-' 2>&1 | tail -n 1; rdssh h1 'head -c 300000 /dev/zero >&2' 2>&1 | wc -c
      yes | rdssh h1 'head -n 1'; rdssh h1 yes | head -n 1; echo \${PIPESTATUS[0]}; rdssh h1 'kill -9 $$'; echo $?`);
    expect(result.text).to.match(/^1\n3\n2\n3\n3\n3\n.*\n300000\ny\ny\n255\n255\n$/);
    expect(result.stderr).to.equal('e\ne\ne\n');
    await expectNoStart();
    // A closed descriptor needs node, which opens it.
    expect(await sh('rdssh h1 "echo e >&2" 2>&1 >&- </dev/null; echo $?')).to.include({ text: 'e\n0\n', stderr: '' });
  });

  it('in the directory, the environment and with the settings of each', async () => {
    const result = await inLoop(`cp "$(sed -n "s/.* -F '\\(.*\\)' .*/\\1/p" "$(command -v rdssh)")" c; mkdir d
      cd d; umask 077; rdssh -F ../c -E log h1 'echo a'; ls -l | grep -c -- '-rw------- .* log$'
      mkdir rdpipe; echo 'no-such = 1' > rdpipe/config.toml; chmod 644 rdpipe/config.toml
      XDG_CONFIG_HOME=$PWD rdssh h1 'echo b'; echo $?`);
    expect(result.text).to.equal('a\n1\n255\n');
    expect(result.stderr).to.include('no-such');
  });

  it('and ends them with their front', async () => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGKILL'] as const) {
      const loop = lab.start("rdssh h1 true; rdssh h1 true; echo a; exec rdssh h1 'echo b; exec sleep 1000'", {
        env: env(),
      });
      await loop.printed('a\nb\n');
      signalProcess(loop.pid, signal);
      const { status } = await loop.result;
      expect(status).to.equal(signal === 'SIGKILL' ? null : 255);
      await eventually(() => expect(lab.processes('sleep')).to.deep.equal([]));
    }
    expect(standbys()).to.have.lengthOf(1);
  });

  it('and does not run one otherwise that was ended before it began', async () => {
    const started = join(lab.directory, 'started');
    writeFileSync(join(lab.directory, 'agent'), `#!/bin/sh\necho >>'${started}'\nexec cat >/dev/null\n`, {
      mode: 0o755,
    });
    await inLoop('rdssh h1 true');
    const loop = lab.start(`exec rdssh --agent="$PWD/agent" h1 'echo ran'`, { env: env() });
    await eventually(async () => expect(await lab.list()).to.include('started'));
    loop.kill('SIGINT');
    expect(await loop.result).to.include({ status: 255, text: '' });
    expect((await lab.read('started')).toString()).to.equal('\n');
    await expectNoStart();
  });

  it('and reports it when it was killed', async () => {
    succeeded(await inLoop('rdssh h1 true'), '');
    const loop = lab.start("exec rdssh h1 'echo b; exec sleep 1000'", { env: env() });
    await loop.printed('b\n');
    for (const { pid } of standbys()) signalProcess(pid, 'SIGKILL');
    const result = await loop.result;
    expect(result).to.include({ status: 255, stderr: 'rdssh: the process that ran this command was ended\n' });
    await eventually(() => expect(lab.processes('sleep')).to.deep.equal([]));
    succeeded(await sh('rdssh h1 "echo c"'), 'c\n');
  });

  it('and the fronts themselves run those that it cannot: more than one at a time, and without a connection', async () => {
    const result = await inLoop(`for i in 1 2 3; do rdssh h1 "sleep 0.2; echo $i" & done; wait
      rdssh h2 'echo >>$HOME/ran; echo new'; rdssh nowhere true; echo $?; rdssh --persist=0 h3 'echo off'`);
    expect(result.text.split('\n').sort()).to.deep.equal(['', '1', '2', '255', '3', 'new', 'off']);
    expect(result.stderr).to.match(/^rdssh: .*nowhere.*\n$/);
    succeeded(await sh(`cat '${lab.host('h2').home}/ran'`), '\n');
  });

  it('and holds no lock of the shell that started it', async () => {
    const result = await sh(`exec 200> lock; flock 200; for i in 1 2 3; do rdssh h1 'echo a'; done
      exec 200>&-; until ls "$HOME"/.cache/rdpipe/ssh/standby-*.key > /dev/null 2>&1; do sleep 0.1; done
      rdssh h1 'echo b'; flock -n lock echo free`);
    expect(result).to.include({ text: 'a\na\na\nb\nfree\n', stderr: '' });
    expect(standbys()).to.have.lengthOf(1);
  });

  it('and none of a process that cannot read its key', async () => {
    const result = await inLoop(`cd $HOME/.cache/rdpipe/ssh && echo 0 > standby-*.key && rdssh h1 'echo a'`);
    expect(result).to.include({ text: 'a\n', stderr: '' });
    expect(await lab.list()).to.include('starts');
  });

  it('until its socket is removed', async () => {
    await inLoop('rdssh h1 true');
    const [standby] = standbys();
    expect(standby).not.to.equal(undefined);
    rmSync(join(place(), socket() ?? ''));
    await eventually(() => expect(isRunning(standby?.pid ?? 0)).to.equal(false));
  });
}
