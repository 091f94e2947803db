// SPDX-License-Identifier: Apache-2.0
// Every connection of a chain breaks repeatedly in one transfer.
import { expect } from 'chai';
import type { CabledLab } from '../support/cabled-lab.ts';
import { eventually } from '../support/eventually.ts';
import { reportOf } from '../support/report.ts';
import { limitWords, NEVER } from '../support/run-limits.ts';

const HOPS = [
  ['h1', 'h2'],
  ['h2', 'h3'],
] as const;
/** Makes less than `between` bytes be under way. */
const WINDOW = '--buffer 1MiB';

export interface ManyBreaks {
  /** Least number of bytes that pass through the chain before each break and after the last. */
  readonly between: number;
  /** Number of breaks of each connection. */
  readonly times: number;
  readonly words?: string;
}

export async function chainGoesOn(lab: CabledLab, { between, times, words = '' }: ManyBreaks): Promise<void> {
  const loop = `until test -e stop; do head -c 4M /dev/urandom; done`;
  const source = `h1:'cd ${lab.directory}; ${loop} | tee >(sha256sum > sent)'`;
  const sink = `h3:'sha256sum > ${lab.directory}/received'`;
  const options = `--json --shell bash ${limitWords(NEVER)} ${WINDOW} ${words} ${lab.overData('h1', 'h2', 'h3')}`;
  const running = lab.start(`exec rdpipe ${options} ${source} h2:cat ${sink} > /dev/null`);
  const ended = running.result.then(({ status, stderr }) => expect.fail(`ended with ${status}: ${stderr}`));
  const moves = async () => {
    const due = lab.cables.received('h3', 'data') + between;
    const hasMoved = () => expect(lab.cables.received('h3', 'data')).to.be.greaterThan(due);
    await Promise.race([eventually(hasMoved), ended]);
  };
  for (let time = 1; time <= times; time += 1) {
    await moves();
    for (const [from, to] of HOPS) lab.cables.breakConnections(from, to, 'data');
  }
  await moves();
  await lab.write('stop', Buffer.alloc(0));
  const result = await running.result;
  expect(result.status, result.stderr).to.equal(0);
  // The shell does not wait for the second sha256sum.
  await eventually(async () => expect(await lab.read('sent')).not.to.have.length(0));
  expect(await lab.read('received')).to.deep.equal(await lab.read('sent'));
  // A dialer may reconnect once more if the machine did not let an end run for a second.
  for (const { reconnects } of reportOf(result).hops) expect(reconnects).to.be.at.least(times);
}
