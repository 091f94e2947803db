// SPDX-License-Identifier: Apache-2.0
// A hop's network fails while its control connections live:
// the stream resumes, or the run ends with a reason.
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { type CabledLab, useCabledLab } from '../support/cabled-lab.ts';
import { leaseSoon, NEVER, type RunLimits, stallSoon } from '../support/run-limits.ts';
import { CabledTransfer } from './cabled-transfer.ts';
import { blackHole, type Fault, lastingFaults, passingFaults, suddenFaults } from './network-faults.ts';

export interface DataCell {
  readonly fault: Fault;
  /** `three times`: each fault is over at once. `permanently`: the fault cannot be undone. */
  readonly lasts: 'for a while' | 'three times' | 'forever' | 'permanently';
  readonly dialer: 'sender' | 'receiver';
  /** true: to a file, unencrypted; false: from command to command, sealed. */
  readonly toFile: boolean;
}

const WAY = ['h1', 'h2', 'data'] as const;
/** After a connection was reset, a new one must be established within 15 s. */
const OUTAGE_MS = { silence: 2000, end: 1000 };
const PORTS = { least: 7000, most: 7099 };

export const DATA_CELLS: readonly DataCell[] = [
  ...cells([...passingFaults(...WAY), blackHole(...WAY)], ['for a while', 'forever']),
  ...cells(suddenFaults(...WAY), ['three times']),
  ...cells(lastingFaults(...WAY), ['permanently']).filter(({ dialer }) => dialer === 'sender'),
];

function cells(faults: readonly Fault[], lasting: readonly DataCell['lasts'][]): DataCell[] {
  const dialers: readonly DataCell['dialer'][] = ['sender', 'receiver'];
  return faults.flatMap((fault) =>
    lasting.flatMap((lasts) =>
      dialers.flatMap((dialer) => [false, true].map((toFile) => ({ fault, lasts, dialer, toFile }))),
    ),
  );
}

export function describeDataCells(chosen: readonly DataCell[]): void {
  describe('a hop', () => {
    const lab = useCabledLab();
    afterEach(() => lab.cables.renew());
    for (const cell of chosen.filter(({ lasts }) => lasts !== 'permanently')) checkCell(lab, cell);
  });
  for (const cell of chosen.filter(({ lasts }) => lasts === 'permanently')) {
    describe('a hop', () => checkCell(useCabledLab(), cell));
  }
}

function checkCell(lab: CabledLab, cell: DataCell): void {
  const { fault, lasts, dialer, toFile } = cell;
  const outcome = lasts === 'for a while' || lasts === 'three times' ? 'continues' : 'fails';
  const hop = `${toFile ? 'to a file' : 'to a command'} that its ${dialer} dialled`;
  it(`${hop} ${outcome} when ${fault.name} ${lasts}`, async () => {
    const transfer = await begin(lab, cell);
    if (outcome === 'continues') await goesOn(lab, cell, transfer);
    else await fails(lab, cell, transfer);
  });
}

async function begin(lab: CabledLab, { lasts, dialer, toFile }: DataCell): Promise<CabledTransfer> {
  if (dialer === 'receiver') lab.cables.refuse('h2', 'data');
  const encrypt = toFile ? 'never' : 'always';
  const words = `--port ${PORTS.least}-${PORTS.most} --encrypt ${encrypt} ${lab.overData('h1', 'h2')}`;
  const transfer = new CabledTransfer(lab, { words, toFile, limits: limitsOf(lasts) });
  await transfer.moves();
  const [port = 0] = lab.cables.localPorts('h1', 'h2', 'data');
  expect(port >= PORTS.least && port <= PORTS.most, `h1's port ${port}`).to.equal(dialer === 'receiver');
  return transfer;
}

/** A destroyed host is lost when its lease expires. */
function limitsOf(lasts: DataCell['lasts']): RunLimits {
  if (lasts === 'forever') return stallSoon();
  return lasts === 'permanently' ? leaseSoon() : NEVER;
}

async function goesOn(lab: CabledLab, { fault, lasts }: DataCell, transfer: CabledTransfer): Promise<void> {
  for (let times = lasts === 'three times' ? 3 : 1; times > 0; times -= 1) {
    fault.begin(lab.cables);
    if (lasts === 'for a while') {
      await delay(OUTAGE_MS[fault.kind]);
      lab.cables.mend();
    }
    await transfer.moves();
  }
  await transfer.endsWell();
}

async function fails(lab: CabledLab, cell: DataCell, transfer: CabledTransfer): Promise<void> {
  cell.fault.begin(lab.cables);
  await transfer.endsBadly(whyOf(cell));
}

function whyOf({ lasts, fault: { kind, silent } }: DataCell): RegExp {
  if (lasts === 'permanently' && silent !== undefined)
    return new RegExp(`lost the connection to ${silent}|lost ${silent}`);
  if (kind === 'end')
    return /data from h1 to h2: (h[12] lost h[12]|h[12] went silent|.* received nothing from each other): /;
  if (silent === undefined) return /went silent|received nothing from each other/;
  // If h1's acknowledgements are lost, TCP holds back h2's signs of life, so either end may report first. If h2's are
  // lost, data still reaches h2.
  if (silent === 'h1') return /: (h[12] went silent|.* received nothing from each other)/;
  return new RegExp(`: (${silent} went silent|.* received nothing from each other)`);
}
