// SPDX-License-Identifier: Apache-2.0
// Counters of both ends of a hop: the stream, its bytes on the wire, and the waits.
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { ENCRYPT_WORDS, ENCRYPTS, type Encrypt, endOf, Hop, type HopEnd } from '../attacks/wire/hop.ts';
import type { Message } from '../support/agent-socket.ts';
import { BreakingProxy } from '../support/breaking-proxy.ts';
import { jsonLines } from '../support/json-output.ts';
import { KEY, PATIENT, useBench } from '../support/programs.ts';

const BYTES = 6_000_000;
const OPEN: Message = { buffer: 1 << 20, connect_timeout_ms: 60_000, stall_timeout_ms: 60_000 };
/** Upper bound for DATA with headers and tags, as a factor. */
const AROUND = 1.01;

describe('the counters of a hop', () => {
  const bench = useBench(PATIENT);

  for (const encrypt of ENCRYPTS) {
    const how = ENCRYPT_WORDS[encrypt];

    it(`count the bytes on the wire of a stream ${how}`, async () => {
      const { sent, received } = await carry({ encrypt });
      expect(sent.wire_bytes).to.equal(received.wire_bytes);
      expect(sent.wire_bytes).to.be.within(BYTES + 1, BYTES * AROUND);
    });

    it(`count the compressed size of a stream, ${how}`, async () => {
      const { sent, received } = await carry({ encrypt, shrinks: true, open: { compress: 1 } });
      expect(sent.wire_bytes).to.equal(received.wire_bytes);
      expect(sent.wire_bytes).to.be.within(BYTES * 0.4, BYTES * 0.7);
    });
  }

  it('show how long a sender waited for its workers', async () => {
    const { sent } = await carry({
      encrypt: 'never',
      bytes: 1_000_000,
      shrinks: true,
      open: { compress: 19, jobs: 1 },
    });
    const { worker_ms: worker, input_ms: input, wire_ms: wire, output_ms: output } = sent;
    expect(worker).to.be.greaterThan(0);
    expect(worker).to.equal(Math.max(Number(worker), Number(input), Number(wire), Number(output)));
  });

  it('add up the bytes of all connections', async () => {
    const hop = new Hop(bench, { dialer: 'sender', encrypt: 'never', bytes: BYTES, open: OPEN });
    const proxy = await BreakingProxy.before(await hop.listen());
    try {
      proxy.breakEvery(BYTES / 2, 1, 'closed', 'both');
      hop.dial(proxy.port);
      expect(await endOf(hop.dialer)).to.equal('ok');
      const { sent, received } = counted(hop);
      expect(received.wire_bytes).to.be.at.least(BYTES + 1);
      expect(sent.wire_bytes).to.be.at.least(Number(received.wire_bytes));
    } finally {
      proxy.close();
    }
  });

  it('show that a receiver without an agent grants smaller slots to a sender that compresses', async () => {
    const [bytes, slotBytes, headerBytes] = [8 << 20, 256 << 10, 24];
    writeFileSync(bench.path('noise'), randomBytes(bytes));
    const receiver = bench.rdrecv(['--encrypt', 'never', '0', KEY], ['ignore', 'ignore', 'pipe']);
    const words = ['--json', '--compress', 'zstd', '127.0.0.1', `${await receiver.port()}`, KEY, 'noise'];
    const { status, stderr } = await bench.rdsend(words).ended;
    expect([status, (await receiver.ended).status]).to.deep.equal([0, 0]);
    const finished = jsonLines(stderr, 'stream').at(-1);
    expect(finished?.wire_bytes).to.be.at.least(bytes + (bytes / slotBytes) * headerBytes);
  });

  async function carry(options: { encrypt: Encrypt; bytes?: number; shrinks?: boolean; open?: Message }) {
    const bytes = options.bytes ?? BYTES;
    const hop = new Hop(bench, { dialer: 'sender', ...options, bytes, open: { ...OPEN, ...options.open } });
    hop.dial(await hop.listen());
    expect(await Promise.all([endOf(hop.dialer), endOf(hop.listener)])).to.deep.equal(['ok', 'ok']);
    expect(hop.sunk?.equals(hop.content)).to.equal(true);
    for (const end of [hop.dialer, hop.listener])
      expect(last(end, 'finished')).to.deep.include({ bytes, wire_bytes: last(end, 'counters').wire_bytes });
    return counted(hop);
  }
});

function counted(hop: Hop): { sent: Message; received: Message } {
  return { sent: last(hop.dialer, 'counters'), received: last(hop.listener, 'counters') };
}

function last({ agent }: HopEnd, event: string): Message {
  return agent.events.findLast((message) => message.event === event) ?? {};
}
