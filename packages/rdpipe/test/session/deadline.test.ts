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

  it('expires with the reason that it was given', async () => {
    const reason = new Error('too late');
    const { expired } = startDeadline(1, reason);
    await once(expired, 'abort');
    expect(expired.reason).to.equal(reason);
  });

  it('does not expire once it is stopped', async () => {
    const deadline = startDeadline(20);
    deadline.stop();
    await delay(60);
    expect(deadline.expired.aborted).to.equal(false);
  });

  it('gives the whole time again, and tells what was taken of it', async () => {
    const deadline = startDeadline(300);
    await delay(200);
    expect(deadline.restart()).to.be.within(190, 300);
    deadline.pause();
    expect(deadline.restart()).to.be.below(100);
    await delay(200);
    deadline.resume();
    await delay(200);
    expect(deadline.expired.aborted).to.equal(false);
    expect(deadline.stop()).to.be.within(190, 300);
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
