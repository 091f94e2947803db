import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { startTimeLimit } from '../../src/run/time-limit.ts';

describe('startTimeLimit', () => {
  it('calls once its time is over', (done) => {
    startTimeLimit(10, done);
  });

  it('does not call after it was stopped, nor without a limit', async () => {
    let calls = 0;
    const count = () => {
      calls += 1;
    };
    startTimeLimit(5, count).stop();
    startTimeLimit(undefined, count);
    await delay(30);
    expect(calls).to.equal(0);
  });

  it('stands still while it is paused', async () => {
    let calls = 0;
    const limit = startTimeLimit(20, () => {
      calls += 1;
    });
    limit.pause();
    await delay(60);
    expect(calls).to.equal(0);
    limit.resume();
    await delay(60);
    expect(calls).to.equal(1);
  });
});
