// SPDX-License-Identifier: Apache-2.0
// rdpipe leaves no core, which would contain keys of hops;
// its children on this machine inherit the limits and descriptors that it got.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { freePort } from '../support/free-port.ts';
import { type Lab, useLab } from '../support/lab.ts';
import { needs } from '../support/needs.ts';
import { succeeded } from '../support/shell.ts';

const ALL = 'cat /proc/self/limits';
/** Sets the soft limit of cores to `blocks`, a number or a shell substitution. */
const cores = (blocks: string) => `ulimit -Sc ${blocks}`;

describe('limits', () => {
  const lab = useLab();

  for (const [name, set] of [
    ['unchanged', ':'],
    ['with cores of any size', cores('$(ulimit -Hc)')],
    ['with small cores, and few descriptors', `${cores('0')}; ulimit -Sn 200; ${cores('4')}`],
    ['without cores', cores('0')],
  ] as const)
    it(`of a command on this machine are the user's, ${name}`, async function () {
      needs(this, await lacksCores(lab));
      const result = await lab.sh(
        `${set}; ${ALL} > mine; rdpipe ':${ALL}; env | grep RDPIPE_LIMITS' > its; diff mine its`,
      );
      expect(result.text).to.equal('');
    });

  it('that cannot be restored are kept', async () => {
    const result = await lab.sh("ulimit -Sn 100; ulimit -Hn 100; ulimit -c 0; rdpipe ':ulimit -Hn; ulimit -Hc'");
    succeeded(result, '100\n0\n');
  });

  it('of descriptors: a command has 0, 1 and 2', async () => {
    succeeded(await lab.sh("rdpipe ':ls /proc/self/fd'"), '0\n1\n2\n3\n');
    succeeded(await lab.sh("rdpipe h1:'ls /proc/self/fd'"), '0\n1\n2\n3\n');
  });

  it('of rdpipe itself: it leaves no core', async function () {
    needs(this, (await lacksCores(lab)) ?? (await leavesNoCore(lab)));
    const running = lab.start(
      `${cores('$(ulimit -Hc)')}; rdpipe ':echo begun; exec sleep 1000' & echo $! > pid; wait $!`,
    );
    await running.printed('begun\n');
    const pid = (await lab.read('pid')).toString().trim();
    expect(readFileSync(`/proc/${pid}/limits`, 'utf8')).to.match(/^Max core file size +0 /m);
    process.kill(Number(pid), 'SIGSEGV');
    const { stderr } = await running.result;
    expect(stderr).to.include('Segmentation fault').and.not.include('core dumped');
  });

  for (const killed of ['sender', 'receiver'])
    it(`of a ${killed} without an agent: it leaves no core`, async function () {
      needs(this, (await lacksCores(lab)) ?? (await leavesNoCore(lab)));
      const port = await freePort('0.0.0.0');
      const running = lab.start(`
        ${cores('$(ulimit -Hc)')}; rdrecv ${port} secret > received & receiver=$!
        rdsend 127.0.0.1 ${port} secret -- sh -c 'echo hi; exec sleep 1000' & sender=$!
        until [ -s received ]; do sleep 0.1; done; kill -SEGV $${killed}; wait $sender; wait $receiver`);
      expect((await running.result).stderr)
        .to.include('Segmentation fault')
        .and.not.include('core dumped');
    });

  it('of an agent: it leaves no core', async function () {
    needs(this, (await lacksCores(lab)) ?? (await leavesNoCore(lab)));
    const result = await lab.sh(`
      ${cores('$(ulimit -Hc)')}; mkfifo orders; rdstage --agent --nonce x < orders > hello & agent=$!; exec 9> orders
      until [ -s hello ]; do sleep 0.1; done; kill -SEGV $agent; wait $agent`);
    expect(result.stderr).to.include('Segmentation fault').and.not.include('core dumped');
  });
});

async function lacksCores(lab: Lab): Promise<string | undefined> {
  const { text } = await lab.sh('ulimit -Hc');
  return text === 'unlimited\n' || Number(text) >= 4 ? undefined : 'the hard limit of cores is too low here';
}

/** Returns why programs leave no cores here, by the report of bash; undefined if they do. */
async function leavesNoCore(lab: Lab): Promise<string | undefined> {
  const { stderr } = await lab.sh(`${cores('$(ulimit -Hc)')}; sleep 1000 & kill -SEGV $!; wait $!`);
  return stderr.includes('core dumped') ? undefined : 'programs leave no cores here';
}
