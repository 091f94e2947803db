// SPDX-License-Identifier: Apache-2.0
// Processes stopped (SIGSTOP) for longer than the stall timeout:
// the run ends and names the silent host.
import { existsSync } from 'node:fs';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { type Lab, useLab } from '../support/lab.ts';
import { needsSightOfPrograms } from '../support/needs.ts';
import { type MarkedProcess, signalProcess } from '../support/processes.ts';
import { leaseSoon, limitWords } from '../support/run-limits.ts';
import { failed } from '../support/shell.ts';

interface Target {
  /** Name of the program; absent: all processes of the host. */
  readonly program?: string;
  /** Host of the process; absent: this machine. */
  readonly host?: string;
  readonly why: RegExp;
}

export interface StopCell {
  readonly ssh: 'openssh' | 'ssh2';
  readonly target: Target;
  readonly last: 'command' | 'sink';
}

const OLD = 'what was there before\n';

const TARGETS: readonly Target[] = [
  { program: 'rdsend', host: 'h1', why: /data from h1 to h2: .*h1/ },
  { program: 'rdrecv', host: 'h2', why: /data from h1 to h2: .*h2/ },
  { program: 'rdsend', host: 'h2', why: /data from h2 to h3: .*h2/ },
  { program: 'rdrecv', host: 'h3', why: /data from h2 to h3: .*h3/ },
  ...['h1', 'h2', 'h3'].map((host) => ({ program: 'rdstage', host, why: silent(host) })),
  ...['h1', 'h2', 'h3'].map((host) => ({ host, why: silent(host) })),
  { program: 'ssh', why: /lost h[123]/ },
  // The time limits at both ends pass at about the same time.
  { program: 'node', why: /lost (h[123]|rdpipe): it sent nothing for/ },
];

export const STOP_CELLS: readonly StopCell[] = TARGETS.flatMap((target) =>
  (['openssh', 'ssh2'] as const).flatMap((ssh) =>
    (['command', 'sink'] as const).map((last) => ({ ssh, target, last })),
  ),
).filter(({ ssh, target }) => ssh === 'openssh' || target.program !== 'ssh');

export function describeStops(cells: readonly StopCell[]): void {
  describe('a run ends while a process is stopped:', () => {
    before(function () {
      needsSightOfPrograms(this);
    });
    const lab = useLab();

    for (const { ssh, target, last } of cells)
      it(`${target.program ?? 'everything'} on ${target.host ?? 'this machine'}, before a ${last}, --ssh ${ssh}`, async () => {
        await lab.write('target', Buffer.from(OLD));
        const running = lab.start(`exec rdpipe --ssh ${ssh} ${limitWords(leaseSoon())} ${stages(lab.directory, last)}`);
        await eventually(async () => expect((await lab.read('seen')).toString()).to.match(/^tick\n/));
        const targets = lab.processes().filter((process) => isOf(lab, target, process));
        expect(targets).not.to.deep.equal([]);
        for (const { pid } of targets) signalProcess(pid, 'SIGSTOP');
        if (target.program === 'node') await eventually(() => expectOnlyHere(lab));
        else failed(await running.result, 125, target.why);
        for (const { pid } of targets) signalProcess(pid, 'SIGCONT');
        failed(await running.result, 125, target.why);
        await lab.expectNothingLeft();
        expect(existsSync(`${lab.directory}/committed`)).to.equal(false);
        expect((await lab.list()).sort()).to.deep.equal(['seen', 'target']);
        expect((await lab.read('target')).toString()).to.equal(OLD);
      });
  });
}

function stages(directory: string, last: StopCell['last']): string {
  const ends = { command: `cat > /dev/null; touch ${directory}/committed`, sink: `> ${directory}/target` };
  return `h1:'while echo tick; do sleep 0.1; done' h2:'tee ${directory}/seen' h3:'${ends[last]}'`;
}

function isOf(lab: Lab, { host, program }: Target, process: MarkedProcess): boolean {
  const home = host === undefined ? lab.homes : lab.host(host).home;
  return process.home === home && (program === undefined || process.program === program);
}

/** The hosts have given up the silent controller: only this machine has processes of the run. */
function expectOnlyHere(lab: Lab): void {
  const elsewhere = lab.processes().filter(({ home }) => home !== lab.homes);
  expect(elsewhere.map(({ program }) => program)).to.deep.equal([]);
}

function silent(host: string): RegExp {
  return new RegExp(`lost ${host}: it sent nothing for|data from h\\d to h\\d: .*${host}`);
}
