// SPDX-License-Identifier: Apache-2.0
// The kill matrix of chains: what is killed on which hosts, when, with which output and encryption.
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { Lab } from '../support/lab.ts';
import { limitWords, NEVER } from '../support/run-limits.ts';
import { CHAIN, kill, type Output, startChain, type Victim } from './chain-run.ts';

type Name = (typeof CHAIN)[number];

export interface ChainCell {
  readonly lost: readonly Name[];
  /** Killed on the last of the lost hosts; on the others everything is. */
  readonly victim: Victim;
  readonly moment: 'before the first byte' | 'in mid-stream' | 'during a repair' | 'at its end';
  /** The time after the beginning of that moment. */
  readonly ms: number;
  readonly output: Output;
  readonly encrypt: 'never' | 'always';
}

const HOSTS: readonly (readonly Name[])[] = [
  ['n1'],
  ['n2'],
  ['n3'],
  ['n4'],
  ['n1', 'n2'],
  ['n2', 'n3'],
  ['n3', 'n4'],
  ['n1', 'n3'],
  ['n2', 'n4'],
  ['n1', 'n2', 'n3'],
];

/** At the end, files are written to the disk. */
const TIMES: Readonly<Record<ChainCell['moment'], readonly number[]>> = {
  'before the first byte': [0],
  'in mid-stream': [0, 300, 600],
  'during a repair': [0, 300, 1000],
  'at its end': [1200, 1400, 1430],
};

/** All cells; the time of a program's cell varies from cell to cell. */
export function chainCells(): readonly ChainCell[] {
  const forms = (['command', 'file'] as const).flatMap((output) =>
    (['never', 'always'] as const).map((encrypt) => ({ output, encrypt })),
  );
  const hosts = HOSTS.flatMap((lost) =>
    (['before the first byte', 'in mid-stream', 'at its end'] as const).flatMap((moment) =>
      TIMES[moment].map((ms) => ({ lost, victim: 'host' as const, moment, ms })),
    ),
  );
  const programs = CHAIN.flatMap((name, place) =>
    (['host', 'rdrecv', 'rdsend', 'rdstage', 'sshd'] as const)
      .filter((victim) => victim !== 'rdsend' || place < CHAIN.length - 1)
      .flatMap((victim, index) =>
        (Object.keys(TIMES) as ChainCell['moment'][])
          .filter((moment) => victim !== 'host' || moment === 'during a repair')
          .map((moment, turn) => {
            const neighbor = CHAIN[place === 0 ? 1 : place - 1] ?? name;
            const ms = TIMES[moment][(place + index + turn) % TIMES[moment].length] ?? 0;
            return { lost: moment === 'during a repair' ? [neighbor, name] : [name], victim, moment, ms };
          }),
      ),
  );
  return [...hosts, ...programs].flatMap((cell) => forms.map((form) => ({ ...cell, ...form })));
}

export function titleOf({ lost, victim, moment, ms, output, encrypt }: ChainCell): string {
  const what = victim === 'host' ? '' : `${victim} of `;
  return `${output}, --encrypt ${encrypt}: ${what}${lost.join(' and ')} ${moment}, after ${ms} ms`;
}

/** All other hosts get the complete stream. */
export async function runCell(lab: Lab, cell: ChainCell): Promise<void> {
  const { lost, victim, moment, ms, output, encrypt } = cell;
  const options = `${limitWords(NEVER)} --encrypt ${encrypt} --require any`;
  const run = await startChain(lab, options, output, moment === 'before the first byte');
  const isLate = moment === 'at its end';
  const earlier = lost.slice(0, -1);
  if (moment === 'during a repair') for (const name of earlier) kill(lab, name);
  if (isLate) void run.letEnd();
  await delay(ms);
  const killed = (moment === 'during a repair' ? lost.slice(-1) : lost).filter((name) => {
    try {
      kill(lab, name, name === lost.at(-1) ? victim : 'host');
      return true;
    } catch {
      expect(isLate, `nothing to kill on ${name}`).to.equal(true);
      return false; // the host had finished
    }
  });
  const { status, stderr } = await run.letEnd();
  expect(status, stderr).to.equal(0);
  const gone = moment === 'during a repair' ? lost : killed;
  // A host that was killed at the end may have finished before.
  await run.expectCopies(gone).catch(async (error) => {
    if (!isLate) throw error;
    await run.expectCopies([]);
  });
}
