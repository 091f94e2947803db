import { expect } from 'chai';
import { createConcurrencyLimit } from '../../src/session/concurrency-limit.ts';

const NEVER = new AbortController().signal;

/** A job that ends on request. */
function job() {
  let finish = () => {};
  const ended = new Promise<void>((resolve) => {
    finish = resolve;
  });
  return { finish, run: () => ended };
}

describe('a limit', () => {
  it('runs as many jobs as it has slots, and the others in turn', async () => {
    const limit = createConcurrencyLimit(2);
    const jobs = [job(), job(), job(), job()];
    const started: number[] = [];
    const done = jobs.map(({ run }, index) =>
      limit(NEVER, () => {
        started.push(index);
        return run();
      }),
    );
    await Promise.resolve();
    expect(started).to.deep.equal([0, 1]);
    jobs[1]?.finish();
    await done[1];
    expect(started).to.deep.equal([0, 1, 2]);
    for (const { finish } of jobs) finish();
    await Promise.all(done);
    expect(started).to.deep.equal([0, 1, 2, 3]);
  });

  it('gives the slot of a failed job to the next', async () => {
    const limit = createConcurrencyLimit(1);
    const failed = limit(NEVER, () => Promise.reject(new Error('no'))).catch((error: Error) => error.message);
    expect(await Promise.all([failed, limit(NEVER, async () => 'yes')])).to.deep.equal(['no', 'yes']);
  });

  it('ends waiting jobs when the run is given up', async () => {
    const limit = createConcurrencyLimit(1);
    const first = job();
    const controller = new AbortController();
    const reason = new Error('given up');
    const done = limit(NEVER, first.run);
    const waiting = limit(controller.signal, async () => 'ran').catch((error: unknown) => error);
    const last = limit(NEVER, async () => 'last');
    controller.abort(reason);
    expect(await waiting).to.equal(reason);
    first.finish();
    expect(await last).to.equal('last');
    await done;
    expect(await limit(controller.signal, async () => 'ran').catch((error: unknown) => error)).to.equal(reason);
  });
});
