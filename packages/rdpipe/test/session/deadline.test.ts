import { expect } from 'chai';
import { startDeadline } from '../../src/session/deadline.ts';
import { time } from '../frozen-time.ts';

describe('a deadline', () => {
  beforeEach(() => time.freeze());
  afterEach(() => time.reset());

  it('expires', async () => {
    const { expired } = startDeadline(100);
    await time.pass(99);
    expect(expired.aborted).to.equal(false);
    await time.pass(1);
    expect(expired.aborted).to.equal(true);
  });

  it('expires with the reason that it was given', async () => {
    const reason = new Error('too late');
    const { expired } = startDeadline(1, reason);
    await time.pass(1);
    expect(expired.reason).to.equal(reason);
  });

  it('does not expire once it is stopped', async () => {
    const deadline = startDeadline(20);
    deadline.stop();
    await time.pass(1000);
    expect(deadline.expired.aborted).to.equal(false);
  });

  it('restarts with the full time, and returns the time used', async () => {
    const deadline = startDeadline(300);
    await time.pass(200);
    expect(deadline.restart()).to.equal(200);
    deadline.pause();
    expect(deadline.restart()).to.equal(0);
    await time.pass(1000);
    deadline.resume();
    await time.pass(299);
    expect(deadline.expired.aborted).to.equal(false);
    expect(deadline.stop()).to.equal(299);
  });

  it('pauses until every caller that paused it has resumed it, and keeps the time left', async () => {
    const deadline = startDeadline(50);
    await time.pass(10);
    deadline.pause();
    deadline.pause();
    await time.pass(1000);
    deadline.resume();
    await time.pass(1000);
    expect(deadline.expired.aborted).to.equal(false);
    deadline.resume();
    await time.pass(39);
    expect(deadline.expired.aborted).to.equal(false);
    await time.pass(1);
    expect(deadline.expired.aborted).to.equal(true);
  });
});
