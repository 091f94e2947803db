// SPDX-License-Identifier: Apache-2.0
// A hop's connection breaks repeatedly in one transfer,
// but the stream arrives complete (docs/protocol/wire.md, section 1.6).
import { expect } from 'chai';
import { ENCRYPT_WORDS, ENCRYPTS, type Encrypt, endOf, Hop, type HopEnd, type Role } from '../attacks/wire/hop.ts';
import { type Break, BreakingProxy, type Told } from '../support/breaking-proxy.ts';
import { type Bench, useBench } from '../support/programs.ts';

export interface ReconnectCell {
  readonly dialer: Role;
  readonly encrypt: Encrypt;
  readonly how: Break;
  readonly told: Told;
  readonly times: number;
}

const MIB = 1024 * 1024;
const TIMES = { told: 4, silent: 2 };
/** Bytes that pass through a connection before it breaks. */
const BETWEEN_BYTES = 2 * MIB;

export const RECONNECT_CELLS: readonly ReconnectCell[] = (['sender', 'receiver'] as const).flatMap((dialer) =>
  ENCRYPTS.flatMap((encrypt) => [
    ...(['closed', 'reset'] as const).flatMap((how) =>
      (['both', 'dialer', 'listener'] as const).map((told) => {
        // If only the listener sees the break, the dialer must detect it on its own.
        return { dialer, encrypt, how, told, times: told === 'listener' ? TIMES.silent : TIMES.told };
      }),
    ),
    { dialer, encrypt, how: 'silent', told: 'both', times: TIMES.silent } as const,
  ]),
);

export function describeReconnectCells(cells: readonly ReconnectCell[]): void {
  describe('a hop', () => {
    const bench = useBench();
    for (const cell of cells) {
      const { dialer, encrypt, how, told, times } = cell;
      const which = `${ENCRYPT_WORDS[encrypt]}, dialled by its ${dialer},`;
      const whom = how === 'silent' ? 'for both' : `for ${told === 'both' ? 'both' : `the ${told} only`}`;
      it(`${which} continues when its connection is ${how} ${whom}, ${times} times`, () => goesOn(bench, cell));
    }
  });
}

async function goesOn(bench: Bench, cell: ReconnectCell): Promise<void> {
  const { dialer, encrypt, how, told, times } = cell;
  const hop = new Hop(bench, { dialer, encrypt, bytes: (times + 2) * BETWEEN_BYTES });
  const proxy = await BreakingProxy.before(await hop.listen());
  try {
    proxy.breakEvery(BETWEEN_BYTES, times, how, told);
    hop.dial(proxy.port);
    expect([await endOf(hop.dialer), await endOf(hop.listener)]).to.deep.equal(['ok', 'ok']);
    expect(proxy.breaks).to.equal(times);
    expect(hop.sunk?.equals(hop.content)).to.equal(true);
    expectBothViews(hop, cell);
  } finally {
    proxy.close();
  }
}

/**
 * Both ends report each new connection with the same number and position; an end that sees a break reports it. A dialer
 * may reconnect once more if the machine did not let an end run for a second.
 */
function expectBothViews({ dialer, listener }: Hop, { told, how, times }: ReconnectCell): void {
  const [near, far] = [resumptions(dialer), resumptions(listener)];
  expect(near).to.have.length.at.least(times);
  expect(far).to.deep.equal(near);
  const epochs = near.map(({ epoch }) => Number(epoch));
  expect(epochs).to.deep.equal([...new Set(epochs)].sort((a, b) => a - b));
  expect(epochs[0]).to.be.greaterThan(1);
  for (const end of [dialer, listener]) expect(count(end, 'connected')).to.equal(1);
  if (how !== 'silent') expect(count(told === 'listener' ? listener : dialer, 'broken')).to.equal(times);
}

function resumptions({ agent }: HopEnd): { readonly epoch: unknown; readonly bytes: unknown }[] {
  return agent.events.filter(({ event }) => event === 'resumed').map(({ epoch, bytes }) => ({ epoch, bytes }));
}

function count({ agent }: HopEnd, event: string): number {
  return agent.names().filter((name) => name === event).length;
}
