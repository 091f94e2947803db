// SPDX-License-Identifier: Apache-2.0
// `rdstage --die-with-parent`: a command, and all that it started, ends with whoever holds the other end of its standard input.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { AGENT } from '../support/agent-driver.ts';
import { useAgents } from '../support/agent-test.ts';

describe('a leash', () => {
  const agents = useAgents();

  function leash(...command: string[]): ChildProcess {
    return spawn(AGENT, ['--die-with-parent', ...command], { cwd: agents.folder, env: agents.env(), stdio: 'pipe' });
  }

  it("ends with its command's status, and prints what that prints and no more", async () => {
    const child = leash('sh', '-c', 'echo out; echo err >&2; exit 5');
    const output = { out: '', err: '' };
    child.stdout?.on('data', (chunk) => (output.out += chunk));
    child.stderr?.on('data', (chunk) => (output.err += chunk));
    expect(await once(child, 'close')).to.deep.equal([5, null]);
    expect(output).to.deep.equal({ out: 'out\n', err: 'err\n' });
  });

  it('gives its command an empty input and a session of its own', async () => {
    const child = leash('sh', '-c', 'cat > seen; ps -o sid= -p $$ >> seen; echo $$ >> seen');
    // The leash may have ended before it took this.
    child.stdin?.on('error', () => undefined);
    child.stdin?.write('not for it');
    expect(await once(child, 'close')).to.deep.equal([0, null]);
    const [session, pid] = agents.read('seen').split('\n');
    expect(session?.trim()).to.equal(pid);
  });

  it('kills the whole tree when its input ends', async () => {
    const child = leash('sh', '-c', 'setsid sleep 1000 & (sleep 1001 &); touch begun; sleep 1002');
    await agents.says('begun', '');
    child.stdin?.end();
    expect(await once(child, 'close')).to.deep.equal([137, null]);
    await agents.expectNothingLeft();
  });

  it('kills the whole tree when it is told to end', async () => {
    const child = leash('sh', '-c', 'setsid sleep 1000 & touch begun; sleep 1002');
    await agents.says('begun', '');
    child.kill('SIGTERM');
    expect(await once(child, 'close')).to.deep.equal([137, null]);
    await agents.expectNothingLeft();
  });

  it('takes its command with it when it is killed', async () => {
    const child = leash('sh', '-c', 'touch begun; exec sleep 1000');
    await agents.says('begun', '');
    child.kill('SIGKILL');
    await once(child, 'close');
    await agents.expectNothingLeft();
  });

  it('says why its command could not be started', async () => {
    const child = leash('/no/such/command');
    let words = '';
    child.stderr?.on('data', (chunk) => (words += chunk));
    expect(await once(child, 'close')).to.deep.equal([127, null]);
    expect(words).to.equal('rdstage: cannot start /no/such/command: no such file or directory\n');
  });
});
