// SPDX-License-Identifier: Apache-2.0
// Every connection of a chain breaks repeatedly in one transfer.
import { expect } from 'chai';
import type { CabledLab } from '../support/cabled-lab.ts';
import { eventually } from '../support/eventually.ts';
import { reportOf } from '../support/report.ts';

const HOPS = [
  ['h1', 'h2'],
  ['h2', 'h3'],
] as const;

export interface ManyBreaks {
  readonly bytes: number;
  /** Of each connection. */
  readonly times: number;
  readonly words?: string;
}

export async function chainGoesOn(lab: CabledLab, { bytes, times, words = '' }: ManyBreaks): Promise<void> {
  const source = `h1:'head -c ${bytes} /dev/urandom | tee >(sha256sum > ${lab.folder}/sent)'`;
  const sink = `h3:'sha256sum > ${lab.folder}/received'`;
  const limits = '--stall-timeout 3 --lease 4';
  const chain = `--json --shell bash ${limits} ${words} ${lab.overData('h1', 'h2', 'h3')} ${source} h2:cat ${sink}`;
  const running = lab.start(`exec rdpipe ${chain} > /dev/null`);
  const before = lab.cables.received('h3', 'data');
  for (let time = 1; time <= times; time += 1) {
    const due = before + (bytes / (times + 1)) * time;
    await eventually(() => expect(lab.cables.received('h3', 'data')).to.be.greaterThan(due), 60_000);
    for (const [from, to] of HOPS) lab.cables.breakConnections(from, to, 'data');
  }
  const result = await running.result;
  expect(result.status, result.stderr).to.equal(0);
  expect(await lab.read('received')).to.deep.equal(await lab.read('sent'));
  expect(reportOf(result).hops.map(({ reconnects }) => reconnects)).to.deep.equal(HOPS.map(() => times));
}
