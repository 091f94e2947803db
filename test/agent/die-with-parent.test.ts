// SPDX-License-Identifier: Apache-2.0
// `rdstage --die-with-parent`: a command and its descendants end with the parent of rdstage,
// which holds the other end of rdstage's standard input.
import { expect } from 'chai';
import { AGENT } from '../support/agent-driver.ts';
import { useAgents } from '../support/agent-test.ts';
import { type Started, startProgram } from '../support/start-program.ts';

describe('a command that dies with its parent', () => {
  const agents = useAgents();

  function dieWithParent(...command: string[]): Started {
    return startProgram([AGENT, '--die-with-parent', ...command], { cwd: agents.directory, env: agents.env() });
  }

  it("ends with its command's status, and prints only its command's output", async () => {
    const { status, stdout, stderr } = await dieWithParent('sh', '-c', 'echo out; echo err >&2; exit 5').ended;
    expect({ status, out: stdout.toString(), err: stderr }).to.deep.equal({ status: 5, out: 'out\n', err: 'err\n' });
  });

  it('gives its command an empty input and its own session', async () => {
    const { child, ended } = dieWithParent('sh', '-c', 'cat > seen; ps -o sid= -p $$ >> seen; echo $$ >> seen');
    child.stdin?.write('not for it');
    expect((await ended).status).to.equal(0);
    const [session, pid] = agents.read('seen').split('\n');
    expect(session?.trim()).to.equal(pid);
  });

  it('kills the whole tree when its input ends', async () => {
    const { child, ended } = dieWithParent('sh', '-c', 'setsid sleep 1000 & (sleep 1001 &); touch begun; sleep 1002');
    await agents.says('begun', '');
    child.stdin?.end();
    expect((await ended).status).to.equal(137);
    await agents.expectNothingLeft();
  });

  it('kills the whole tree on SIGTERM', async () => {
    const { child, ended } = dieWithParent('sh', '-c', 'setsid sleep 1000 & touch begun; sleep 1002');
    await agents.says('begun', '');
    child.kill('SIGTERM');
    expect((await ended).status).to.equal(137);
    await agents.expectNothingLeft();
  });

  it('takes its command with it when it is killed', async () => {
    const { child, ended } = dieWithParent('sh', '-c', 'touch begun; exec sleep 1000');
    await agents.says('begun', '');
    child.kill('SIGKILL');
    await ended;
    await agents.expectNothingLeft();
  });

  it('reports why its command could not be started', async () => {
    const { status, stderr } = await dieWithParent('/no/such/command').ended;
    expect(status).to.equal(127);
    expect(stderr).to.equal('rdstage: cannot start /no/such/command: no such file or directory\n');
  });
});
