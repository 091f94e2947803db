// SPDX-License-Identifier: Apache-2.0
// `rdstage --die-after-parent`: a command with the streams of rdstage, which ends some time after rdstage's parent.
import { expect } from 'chai';
import { AGENT } from '../support/agent-driver.ts';
import { useAgents } from '../support/agent-test.ts';
import { type Started, startProgram } from '../support/start-program.ts';

describe('a command that dies after its parent', () => {
  const agents = useAgents();

  function start(...words: string[]): Started {
    return startProgram(words, { cwd: agents.directory, env: agents.env(), detached: true });
  }

  function dieAfterParent(...command: string[]): Started {
    return start(AGENT, '--die-after-parent', `${process.pid},60000`, ...command);
  }

  /** A parent to be killed; its child has 20 ms. */
  async function parentOf(command: string): Promise<Started> {
    const parent = start('sh', '-c', `${AGENT} --die-after-parent $$,20 sh -c "$1" <&0 & wait`, 'sh', command);
    await agents.says('begun', '');
    return parent;
  }

  it('has the streams of rdstage, and continues after its input', async () => {
    const { child, ended } = dieAfterParent('sh', '-c', 'cat; echo err >&2; exit 5');
    child.stdin?.end('in\n');
    const { status, stdout, stderr } = await ended;
    expect({ status, out: stdout.toString(), err: stderr }).to.deep.equal({ status: 5, out: 'in\n', err: 'err\n' });
  });

  it('may close its output before it ends', async () => {
    const { child, ended } = dieAfterParent('sh', '-c', 'exec >&-; read -r line');
    await new Promise((resolve) => child.stdout?.once('end', resolve));
    child.stdin?.end('\n');
    expect((await ended).status).to.equal(0);
  });

  it('gets SIGTERM, and its signal ends rdstage', async () => {
    const { child, ended } = dieAfterParent(
      'sh',
      '-c',
      "trap 'kill -9 $$' TERM; touch begun; while :; do read x; done",
    );
    await agents.says('begun', '');
    child.kill('SIGTERM');
    child.stdin?.write('\n');
    expect((await ended).signal).to.equal('SIGKILL');
  });

  it('ends after its parent, even if its input is open', async () => {
    const parent = await parentOf('touch begun; exec sleep 1000');
    parent.child.kill('SIGKILL');
    await parent.ended;
    await agents.expectNothingLeft();
  });

  it('is killed after its parent if it ignores SIGTERM', async () => {
    const parent = await parentOf("trap '' TERM; touch begun; sleep 1000; sleep 1001");
    parent.child.kill('SIGKILL');
    await parent.ended;
    await agents.expectNothingLeft();
  });

  it('ends with a parent that had ended before', async () => {
    const { ended } = start(AGENT, '--die-after-parent', '1,20', 'sleep', '1000');
    expect((await ended).signal).to.equal('SIGTERM');
  });

  it('ends with rdstage', async () => {
    const { child, ended } = dieAfterParent('sh', '-c', 'touch begun; exec sleep 1000');
    await agents.says('begun', '');
    child.kill('SIGKILL');
    await ended;
    await agents.expectNothingLeft();
  });

  it('says why it could not be started', async () => {
    const { status, stderr } = await dieAfterParent('/no/such/command').ended;
    expect({ status, stderr }).to.deep.equal({
      status: 127,
      stderr: 'rdstage: cannot start /no/such/command: no such file or directory\n',
    });
  });
});
