// SPDX-License-Identifier: Apache-2.0
// Stages that `sudo` runs for a user other than root: the agent may not signal them.
// The report names them with pid and host, they make the run fail, and they never see the end of a stream that was cut
// off.
import { chmodSync, chownSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { useLab } from '../support/lab.ts';
import { needsRoot, needsTool } from '../support/needs.ts';
import { isRunning, signalProcess } from '../support/processes.ts';
import { reportOf } from '../support/report.ts';

const USER = 'rdpipe-ann';
const UID = 61_234;
const PASSWD = `${USER}:x:${UID}:${UID}::/:/bin/sh\n`;
const SHADOW = `${USER}:*:19000:0:99999:7:::\n`;
const SUDOERS = `Defaults env_keep += "RDPIPE_TEST_MARK"\n${USER} ALL=(root) NOPASSWD: ALL\n`;

/**
 * Sessions of the host run as this user, with their own passwd and sudoers in a mount namespace: the files of this
 * machine stay unchanged.
 */
const AS_USER = `cd "$HOME/.."
for file in passwd shadow sudoers; do mount --bind "own-$file" "/etc/$file" || exit; done
cd "$HOME"
exec setpriv --reuid ${UID} --regid ${UID} --clear-groups sh -c "$SSH_ORIGINAL_COMMAND"
`;

describe('a stage under sudo', () => {
  const lab = useLab({
    hosts: [{ name: 'sudoer', server: ['ForceCommand exec unshare --mount sh "$HOME/../as-user.sh"'] }],
  });

  before(function () {
    needsRoot(this);
    needsTool(this, 'sudo', 'unshare', 'setpriv');
    writeFileSync(join(lab.homes, 'as-user.sh'), AS_USER);
    for (const [file, more] of [
      ['passwd', PASSWD],
      ['shadow', SHADOW],
    ] as const)
      writeFileSync(join(lab.homes, `own-${file}`), readFileSync(`/etc/${file}`, 'utf8') + more, { mode: 0o644 });
    writeFileSync(join(lab.homes, 'own-sudoers'), SUDOERS, { mode: 0o440 });
    chmodSync(join(lab.homes, '..'), 0o711);
    chownSync(lab.host('sudoer').home, UID, UID);
  });

  // The agent was copied there: the user's home has root's.
  after(() => rmSync(`/var/tmp/rdpipe-${UID}`, { recursive: true, force: true }));

  it('runs as root, and the agent does not', async () => {
    const { text, stderr } = await lab.sh("rdpipe sudoer:'id -u; sudo -n id -u' sudoer:cat");
    expect(text, stderr).to.equal(`${UID}\n0\n`);
  });

  for (const [what, trap, named] of [
    ['ends on SIGTERM to sudo, except its child,', '', ['cat']],
    ['ignores signals', 'trap "" PIPE TERM; ', ['cat', 'sh']],
  ] as const)
    it(`that ${what} is named when its producer failed, and sees no end of file`, async () => {
      const consumer = `sudo -n sh -c '${trap}cat > ${lab.directory}/seen; touch ${lab.directory}/committed'`;
      const waits = `while [ ! -s ${lab.directory}/seen ]; do sleep 0.05; done`;
      const result = await lab.sh(`rdpipe --json h1:'echo part; ${waits}; exit 3' sudoer:"$CONSUMER"`, {
        CONSUMER: `exec ${consumer}`,
      });
      const { cause, message, leftBehind } = reportOf(result);
      expect({ status: result.status, cause }, result.stderr).to.deep.equal({ status: 3, cause: 'stage' });
      expect(new Set(leftBehind.map(({ host }) => host))).to.deep.equal(new Set(['sudoer']));
      // On a slow machine a shell that is about to end may not have ended yet.
      const programs = leftBehind.map(({ command }) => command.replace(/ .*/, ''));
      expect(programs).to.include.members([...named]);
      expect(['cat', 'sh']).to.include.members(programs);
      expect(message).to.match(/^stage 1 \(h1: .*\) exited with status 3/);
      for (const { pid, command } of leftBehind) expect(message).to.contain(`${pid} (${command}) on sudoer`);
      expect(message).to.match(/ \(kill (it|them) by hand\)$/);
      await endAll(leftBehind);
    });

  it('makes a run fail that has no other cause', async () => {
    const result = await lab.sh(`rdpipe --json sudoer:"$STAYS" h2:true`, {
      STAYS: `exec sudo -n sh -c 'trap "" PIPE TERM; sleep 1000; sleep 1000'`,
    });
    const { cause, message, leftBehind } = reportOf(result);
    expect({ status: result.status, cause }, result.stderr).to.deep.equal({ status: 125, cause: 'rdpipe' });
    expect(message).to.match(
      /^could not kill process \d+ \(.*\) on sudoer( \(kill it| and \d+ \(.*\) on sudoer \(kill them) by hand\)$/,
    );
    await endAll(leftBehind);
  });

  it('does not matter if it ends on its own', async () => {
    const { status, text, stderr } = await lab.sh("rdpipe sudoer:'sudo -n seq 3' h2:cat sudoer:'sudo -n tac'");
    expect({ status, text, stderr }).to.deep.equal({ status: 0, text: '3\n2\n1\n', stderr: '' });
  });

  /** Kills the processes, which still run; a shell before its child, so that the shell runs nothing more. */
  async function endAll(left: readonly { readonly pid: number }[]): Promise<void> {
    expect(left.filter(({ pid }) => isRunning(pid))).to.have.length.above(0);
    for (const { pid } of [...left].sort((a, b) => a.pid - b.pid)) signalProcess(pid, 'SIGKILL');
    await lab.expectNothingLeft();
    expect(await lab.list()).not.to.include('committed');
  }
});
