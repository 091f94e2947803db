// SPDX-License-Identifier: Apache-2.0
// A host's cable, which carries control and data, is pulled in mid-stream and plugged in again.
// Soft-RoCE drops a connection after about 2 s of silence. test/full has a cable that stays unplugged.
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { succeededOver } from './report.ts';
import { useVirtualHosts } from './use-virtual-hosts.ts';

const MIB = 1024 * 1024;
const SHORTER_THAN_A_STALL_MS = 2000;
/** A connection is dropped after about 2 s, and reconnecting takes as long; on a busy machine much longer. */
const TIME_TO_MEND = '--stall-timeout 60 --lease 90';
/** More bytes than pipes and windows hold. */
const HELD_BYTES = 4 * MIB;

describe('an RDMA hop whose cable is pulled', () => {
  const lab = useVirtualHosts();

  it('continues when it comes back, and loses nothing', async () => {
    const source = `while test ! -e /tmp/stop; do head -c 1M /dev/urandom; sleep 0.1; done | tee /tmp/source`;
    const running = lab.start(
      `exec rdpipe --json --buffer 1MiB ${TIME_TO_MEND} h1:'${source}' h2:'cat > /tmp/target' > /dev/null`,
    );
    try {
      await moves(0);
      lab.setCable('h2', 'down');
      await delay(SHORTER_THAN_A_STALL_MS);
      lab.setCable('h2', 'up');
      await moves(await received());
      await lab.on('h1', 'touch /tmp/stop');
      succeededOver(await running.result, '', ['rdma']);
      expect(await lab.on('h2', 'sha256sum < /tmp/target')).to.equal(await lab.on('h1', 'sha256sum < /tmp/source'));
    } finally {
      lab.setCable('h2', 'up');
      for (const host of ['h1', 'h2'] as const) await lab.on(host, 'rm -f /tmp/source /tmp/target /tmp/stop');
    }
  });

  async function moves(from: number): Promise<void> {
    await eventually(async () => expect(await received()).to.be.greaterThan(from + HELD_BYTES));
  }

  async function received(): Promise<number> {
    return Number(await lab.on('h2', 'stat -c %s /tmp/target 2> /dev/null || echo 0'));
  }
});
