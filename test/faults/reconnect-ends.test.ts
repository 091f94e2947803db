// SPDX-License-Identifier: Apache-2.0
// A broken connection that is not replaced: the other side has gone, or the stream was complete.
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { endOf, Hop, type HopEnd, soonLost } from '../attacks/wire/hop.ts';
import { BreakingProxy } from '../support/breaking-proxy.ts';
import { eventually } from '../support/eventually.ts';
import { KEY, type Program, useBench } from '../support/programs.ts';
import { NEVER } from '../support/run-limits.ts';

const MIB = 1024 * 1024;

describe('a broken connection', () => {
  const bench = useBench();
  let proxy: BreakingProxy;
  afterEach(() => proxy.close());

  for (const dialer of ['sender', 'receiver'] as const) {
    it(`that the ${dialer} dialled is lost at once when it is refused`, async () => {
      const hop = await flowing({ dialer });
      proxy.refuse();
      await isLostAtOnce(hop);
    });

    it(`that the ${dialer} dialled is lost at once when another key answers`, async () => {
      const hop = await flowing({ dialer });
      const impostor = new Hop(bench, { dialer, encrypt: 'always', bytes: 1, open: { key: 'cd'.repeat(32) } });
      proxy.leadTo(await impostor.listen());
      await isLostAtOnce(hop);
    });
  }

  describe('without an agent', () => {
    for (const encrypt of ['always', 'never'] as const) {
      it(`is reconnected before a slow reader, --encrypt ${encrypt}`, async () => {
        const { sender, receiver } = await byHand('(sleep 0.5; head -c 4M; sleep 0.5; head -c 4M; cat) > out', encrypt);
        proxy.breakEvery(2 * MIB, 3, 'reset', 'both');
        expect([(await sender.ended).status, (await receiver.ended).status]).to.deep.equal([0, 0]);
        expect(proxy.breaks).to.equal(3);
        expect(readFileSync(bench.path('out')).equals(readFileSync(bench.path('in')))).to.equal(true);
      });
    }

    it('is not a failure for a reader that has closed meanwhile', async () => {
      const { sender, receiver } = await byHand(
        '(head -c 1M > out; until test -e close; do sleep 0.05; done; touch gone)',
      );
      await eventually(() => expect(statSync(bench.path('out')).size).to.equal(MIB));
      proxy.hold();
      proxy.break('reset');
      writeFileSync(bench.path('close'), '');
      await eventually(() => expect(existsSync(bench.path('gone'))).to.equal(true));
      proxy.release();
      expect((await sender.ended).signal).to.equal('SIGPIPE');
      expect(await receiver.ended).to.include({ status: 141 });
    });
  });

  async function flowing({ dialer }: { readonly dialer: 'sender' | 'receiver' }): Promise<Hop> {
    const open = soonLost(); // so that the listener does not wait longer
    const hop = new Hop(bench, { dialer, encrypt: 'always', bytes: 16 * MIB, held: true, open });
    proxy = await BreakingProxy.before(await hop.listen());
    hop.dial(proxy.port);
    await eventually(() => expect(proxy.bytes).to.be.greaterThan(MIB));
    return hop;
  }

  /** rdsend sends a file through the proxy to rdrecv, whose output a consumer reads. */
  async function byHand(consumer: string, encrypt = 'auto'): Promise<{ sender: Program; receiver: Program }> {
    writeFileSync(bench.path('in'), randomBytes(20 * MIB));
    const options = `--stall-timeout ${NEVER.stall} --encrypt ${encrypt}`;
    const receiver = bench.bash(`rdrecv ${options} 0 ${KEY} | ${consumer}; exit \${PIPESTATUS[0]}`);
    proxy = await BreakingProxy.before(await receiver.port());
    const sender = bench.bash(`exec rdsend ${options} 127.0.0.1 ${proxy.port} ${KEY} < in`);
    return { sender, receiver };
  }

  /** The dialer ends because its connection is refused, not because time is up. */
  async function isLostAtOnce(hop: Hop): Promise<void> {
    proxy.break('closed');
    expect(await endOf(hop.dialer)).to.equal('peer_lost');
    expect(lastWords(hop.dialer)).to.contain('the other side is gone: ');
    expect(await endOf(hop.listener)).to.equal('peer_lost');
    expect(lastWords(hop.listener)).to.contain('no new connection was made in time');
    expect(hop.sunk).to.equal(undefined);
  }

  function lastWords({ agent }: HopEnd): unknown {
    return agent.events.find(({ event }) => event === 'finished')?.message;
  }
});
