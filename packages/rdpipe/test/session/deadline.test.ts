import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { startDeadline } from '../../src/session/deadline.ts';

describe('a deadline', () => {
  it('expires', async () => {
    const startedMs = performance.now();
    await once(startDeadline(100).expired, 'abort');
    expect(performance.now() - startedMs).to.be.within(95, 5000);
  });

  it('does not expire once it is stopped', async () => {
    const deadline = startDeadline(20);
    deadline.stop();
    await delay(60);
    expect(deadline.expired.aborted).to.equal(false);
  });

  it('stands still until as many have gone on as have stopped it, and keeps what is left', async () => {
    const deadline = startDeadline(50);
    deadline.pause();
    deadline.pause();
    await delay(100);
    deadline.resume();
    await delay(100);
    expect(deadline.expired.aborted).to.equal(false);
    deadline.resume();
    await once(deadline.expired, 'abort');
  });
});
