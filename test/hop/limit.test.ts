// SPDX-License-Identifier: Apache-2.0
// --limit: no stream exceeds the limit, and none is held back for longer than the limit requires.
import { expect } from 'chai';
import { type Encrypt, endOf, Hop, type HopEnd } from '../attacks/wire/hop.ts';
import type { Message } from '../support/agent-socket.ts';
import { BreakingProxy } from '../support/breaking-proxy.ts';
import { KEY, PATIENT, useBench } from '../support/programs.ts';

const MB = 1_000_000;
const PATIENT_OPEN: Message = { buffer: 8 << 20, connect_timeout_ms: 60_000, stall_timeout_ms: 60_000 };
/** A busy machine delays a sender. limit_test.c tests the accuracy with a simulated clock. */
const WITHIN = 3;
/** Attempts of an unlucky run. */
const ATTEMPTS = 3;
/** The proxy breaks a connection only after a complete read, and node reads at most this many bytes. */
const PROXY_PIECE_BYTES = 64 * 1024;

interface Cell {
  readonly name: string;
  readonly bytes: number;
  readonly limit: number;
  readonly encrypt?: Encrypt;
  readonly open?: Message;
}

const CELLS: readonly Cell[] = [
  { name: 'unencrypted', bytes: 4 * MB, limit: 4 * MB },
  { name: 'sealed', bytes: 4 * MB, limit: 4 * MB, encrypt: 'always' },
  { name: 'authenticated', bytes: 4 * MB, limit: 4 * MB, encrypt: 'auth' },
  { name: 'through the smallest window', bytes: 20 * MB, limit: 20 * MB, open: { buffer: 64 << 10 } },
  { name: 'of many bytes', bytes: 100 * MB, limit: 100 * MB },
  { name: 'of few bytes', bytes: 300, limit: 300 },
  { name: 'without ever sleeping', bytes: 4 * MB, limit: 4 * MB, open: { poll: true } },
];

describe('a limit', () => {
  const bench = useBench(PATIENT);

  for (const cell of CELLS)
    it(`of a stream ${cell.name} is kept, and reached`, async () => {
      const dueMs = (1000 * cell.bytes) / cell.limit;
      for (let attempt = 1; ; attempt++) {
        const { tookMs, heldMs } = await carry(cell);
        expect(tookMs).to.be.at.least(dueMs);
        if (heldMs <= dueMs * WITHIN) return;
        expect(attempt, `held back for ${heldMs} ms of ${dueMs}`).to.be.lessThan(ATTEMPTS);
      }
    });

  it('of a hop without an agent is shown in the units of rates', async () => {
    const receiver = bench.rdrecv(['0', KEY, '/dev/null']);
    const words = ['-v', '--progress', 'live', '--limit', '20MB', '127.0.0.1', `${await receiver.port()}`, KEY];
    const sender = bench.rdsend(words, ['pipe', 'ignore', 'pipe']);
    sender.child.stdin?.end(Buffer.alloc(20 * MB));
    const { status, stderr } = await sender.ended;
    expect(status).to.equal(0);
    expect(stderr).to.match(/rdsend: [\d.]+ MiB [\d.]+ (?:[KM]i)?B\/s/);
    const [, rate, unit] = /^.*Bandwidth ([\d.]+) ((?:[KM]i)?B)\/s$/m.exec(stderr) ?? [];
    if (unit === 'MiB') expect(Number(rate), stderr).to.be.within(1, 20);
    else expect(unit, stderr).to.be.oneOf(['KiB', 'B']); // on a busy machine
  });

  it('counts data that is sent again', async () => {
    const [bytes, limit, until] = [6 * MB, 4 * MB, 2 * MB];
    const open = { ...PATIENT_OPEN, limit };
    const hop = new Hop(bench, { dialer: 'sender', encrypt: 'never', bytes, open });
    const proxy = await BreakingProxy.before(await hop.listen());
    try {
      proxy.breakEvery(until, 1, 'silent', 'both');
      hop.dial(proxy.port);
      const resumed = Number((await hop.dialer.agent.heard('resumed')).bytes);
      const resumedAt = performance.now();
      expect(await endOf(hop.dialer)).to.equal('ok');
      // Otherwise the data that the lost connection had accepted, a large part of the stream, would not be sent again.
      expect(resumed).to.be.at.most(until + PROXY_PIECE_BYTES);
      expect(performance.now() - resumedAt).to.be.at.least((500 * (bytes - resumed)) / limit);
    } finally {
      proxy.close();
    }
  });

  /** Returns how long the transfer took, and how long its sender was held back by its own account. */
  async function carry({ bytes, limit, encrypt = 'never', open }: Cell): Promise<{ tookMs: number; heldMs: number }> {
    const settings = { ...PATIENT_OPEN, limit, ...open };
    const hop = new Hop(bench, { dialer: 'sender', encrypt, bytes, open: settings });
    const port = await hop.listen();
    const began = performance.now();
    hop.dial(port);
    expect(await Promise.all([endOf(hop.dialer), endOf(hop.listener)])).to.deep.equal(['ok', 'ok']);
    const tookMs = performance.now() - began;
    expect(hop.sunk?.equals(hop.content)).to.equal(true);
    return { tookMs, heldMs: heldBack(hop.dialer) };
  }
});

function heldBack({ agent }: HopEnd): number {
  return Number(agent.events.findLast(({ event }) => event === 'counters')?.limit_ms);
}
