// SPDX-License-Identifier: Apache-2.0
// Ctrl-Z stops the complete run on every host, for any time, and `fg` resumes it without loss.
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { useLab } from '../support/lab.ts';
import type { MarkedProcess } from '../support/processes.ts';
import { leaseSoon, limitWords, NEVER } from '../support/run-limits.ts';
import type { Running } from '../support/shell.ts';

const CTRL_C = '\x03';
const CTRL_Z = '\x1a';

describe('a run that is suspended', () => {
  const lab = useLab();
  const limits = leaseSoon();

  for (const client of ['openssh', 'ssh2'] as const) {
    it(`by SIGTSTP stops on every host, over ${client}, and loses nothing`, async () => {
      const running = lab.start(`exec rdpipe ${limitWords(limits)} --ssh ${client} ${stages()}`);
      await eventually(flows);
      running.kill('SIGTSTP');
      await standsStill(running.pid);
      running.kill('SIGCONT');
      await goesOnAndEnds();
      expect(await running.result).to.include({ status: 0, stderr: '' });
    });
  }

  it('by Ctrl-Z in a terminal resumes after fg', async () => {
    const terminal = await openTerminal();
    terminal.write(`rdpipe ${limitWords(limits)} ${stages()}\n`);
    await eventually(flows);
    terminal.write(CTRL_Z);
    await standsStill(rdpipe()?.pid ?? 0);
    terminal.write('fg\n');
    await goesOnAndEnds();
    terminal.write('echo "ended with $?"; exit\n');
    expect((await terminal.result).text).to.match(/Stopped[\s\S]*ended with 0/);
  });

  it('by Ctrl-Z in a terminal ends on Ctrl-C after fg', async () => {
    const terminal = await openTerminal();
    terminal.write(`rdpipe ${limitWords(NEVER)} ${stages()}\n`);
    await eventually(flows);
    terminal.write(CTRL_Z);
    await eventually(() => expect(rdpipe()?.state).to.equal('T'));
    terminal.write('fg\n');
    await eventually(() => expect(rdpipe()?.state).not.to.equal('T'));
    terminal.write(CTRL_C);
    await eventually(() => expect(rdpipe()).to.equal(undefined));
    terminal.write('echo "ended with $?"; exit\n');
    expect((await terminal.result).text).to.match(/ended with 130/);
    expect((await lab.read('target')).toString()).to.equal('old\n');
  });

  it('and then killed leaves nothing', async () => {
    const running = lab.start(`exec rdpipe ${limitWords(NEVER)} ${stages()}`);
    await eventually(flows);
    running.kill('SIGTSTP');
    await eventually(() => expect(statesOfWork()).to.deep.equal(new Set(['T'])));
    running.kill('SIGKILL');
    expect(await running.result).to.include({ signal: 'SIGKILL' });
    await lab.expectNothingLeft();
  });

  beforeEach(() => lab.write('target', Buffer.from('old\n')));

  /** Flows until a file `open` exists; the bytes sent are kept in `made`. */
  function stages(): string {
    const here = `cd ${lab.directory}`;
    const source = `${here}; until test -e open; do echo body; done | tee made`;
    return `h1:'${source}' h1:'cat' h2:'${here}; setsid -w tee seen' h3:'> ${lab.directory}/target'`;
  }

  async function openTerminal(): Promise<Running> {
    const terminal = lab.start("exec script -qec 'bash --norc --noprofile -i' /dev/null", { stdin: 'open' });
    terminal.write('PS1="ready> "; stty -echo\n');
    await eventually(() => expect(lab.processes('bash')).to.have.length.at.least(1));
    return terminal;
  }

  async function flows(): Promise<void> {
    expect((await lab.read('seen')).length).to.be.greaterThan(0);
  }

  async function standsStill(pid: number): Promise<void> {
    await eventually(() => expect(statesOfWork()).to.deep.equal(new Set(['T'])));
    await eventually(() => expect(lab.processes().find((process) => process.pid === pid)?.state).to.equal('T'));
    const before = await lab.read('seen');
    await delay((limits.lease + 1) * 1000); // longer than both limits
    expect(statesOfWork()).to.deep.equal(new Set(['T']));
    expect((await lab.read('seen')).length).to.equal(before.length);
  }

  async function goesOnAndEnds(): Promise<void> {
    const before = (await lab.read('seen')).length;
    await eventually(async () => expect((await lab.read('seen')).length).to.be.greaterThan(before));
    await lab.write('open', Buffer.alloc(0));
    await eventually(() => expect(rdpipe()).to.equal(undefined));
    const made = await lab.read('made');
    expect(made.equals(await lab.read('seen'))).to.equal(true);
    expect(made.equals(await lab.read('target'))).to.equal(true);
  }

  function statesOfWork(): ReadonlySet<string> {
    return new Set(work().map(({ state }) => state));
  }

  /**
   * Processes that move or produce bytes: not rdpipe and its helpers on this machine, and not the agents, which keep
   * the lease.
   */
  function work(): MarkedProcess[] {
    const hosts = ['h1', 'h2', 'h3'].map((name) => lab.host(name).home);
    return lab.processes().filter(({ home, program }) => hosts.includes(home) && program !== 'rdstage');
  }

  function rdpipe(): MarkedProcess | undefined {
    return lab.processes('node')[0];
  }
});
