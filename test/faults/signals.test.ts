// SPDX-License-Identifier: Apache-2.0
// The user's signals end the run, gracefully or not: every process of it ends, on every host.
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { useLab } from '../support/lab.ts';
import type { Running } from '../support/shell.ts';

/** A stage whose processes are hard to end: a child, one in a session of its own, one that ignores signals. */
const STUBBORN = "trap '' HUP INT TERM PIPE; setsid sleep 1001 & sleep 1002 & echo begun; sleep 1003; sleep 1004";

describe('a run that is ended', () => {
  const lab = useLab();
  const begin = async (options = ''): Promise<Running> => {
    const stages = `h1:"${STUBBORN}" h2:cat h3:'tee ${lab.directory}/seen'`;
    const running = lab.start(`exec rdpipe ${options} ${stages}`, { stdin: 'open' });
    await running.printed('begun\n');
    return running;
  };

  for (const [signal, status] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const) {
    it(`by ${signal} ends with ${status}`, async () => {
      const running = await begin();
      running.kill(signal);
      const result = await running.result;
      expect({ status: result.status, signal: result.signal }).to.deep.equal({ status, signal: null });
      expect(result.stderr.trimEnd().split('\n'), result.stderr).to.have.length(1);
      expect(lab.processes()).to.deep.equal([]);
    });
  }

  it('by SIGINT while it connects ends at once', async () => {
    const running = lab.start("exec rdpipe -o ProxyCommand='sleep 1000' h1:cat h2:cat", { stdin: 'open' });
    await eventually(() => expect(commands()).to.match(/^sleep 1000$/m));
    running.kill('SIGINT');
    expect((await running.result).status).to.equal(130);
    expect(lab.processes()).to.deep.equal([]);
  });

  it('by kill -9 of rdpipe leaves nothing', async () => {
    const running = await begin();
    running.kill('SIGKILL');
    expect((await running.result).signal).to.equal('SIGKILL');
    await lab.expectNothingLeft();
  });

  it('by kill -9 of rdpipe leaves nothing, with its own ssh client', async () => {
    const running = await begin('--ssh ssh2');
    running.kill('SIGKILL');
    expect((await running.result).signal).to.equal('SIGKILL');
    await lab.expectNothingLeft();
  });

  it('by kill -9 of rdpipe leaves targets as they were', async () => {
    const target = `${lab.directory}/target`;
    await lab.write('target', Buffer.from('old\n'));
    const running = lab.start(`exec rdpipe -v h1:'echo begun >&2; cat /dev/zero' h2:'> ${target}'`);
    await eventually(() => expect(commands()).to.match(/^cat \/dev\/zero$/m));
    running.kill('SIGKILL');
    await running.result;
    await lab.expectNothingLeft();
    expect((await lab.sh('cat target; ls')).text).to.equal('old\ntarget\n');
  });

  function commands(): string {
    return lab
      .processes()
      .map((process) => process.command)
      .join('\n');
  }
});
