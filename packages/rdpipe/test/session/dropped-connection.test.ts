import { expect } from 'chai';
import { retry } from '../../src/session/dropped-connection.ts';

const NEVER = new AbortController().signal;
const passing = new Error('passes');
const lasting = new Error('lasts');
const passes = (error: unknown) => error === passing;

/** A job that fails with these errors, in turn, before it succeeds. */
function failing(...errors: Error[]) {
  const job = {
    calls: 0,
    run: async () => {
      const error = errors[job.calls++];
      if (error) throw error;
      return job.calls;
    },
  };
  return job;
}

describe('another try', () => {
  it('is made while a failure is temporary', async () => {
    expect(await retry(failing(passing, passing).run, passes, NEVER)).to.equal(3);
  });

  it('is not made for a failure that lasts', async () => {
    const job = failing(passing, lasting);
    expect(await retry(job.run, passes, NEVER).catch((error: unknown) => error)).to.equal(lasting);
    expect(job.calls).to.equal(2);
  });

  it('is not made forever', async () => {
    const job = failing(...Array.from({ length: 100 }, () => passing));
    expect(await retry(job.run, passes, NEVER, 1).catch((error: unknown) => error)).to.equal(passing);
    expect(job.calls).to.equal(6);
  });

  it('is not waited for when the run is given up', async () => {
    const controller = new AbortController();
    const job = failing(passing, passing, passing, passing);
    const outcome = retry(job.run, passes, controller.signal, 60_000).catch((error: unknown) => error);
    await Promise.resolve();
    controller.abort();
    expect(await outcome).to.have.property('name', 'AbortError');
    expect(job.calls).to.equal(1);
  });
});
