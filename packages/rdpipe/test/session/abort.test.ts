import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { unlessAborted } from '../../src/session/abort.ts';

describe('unlessAborted', () => {
  const never = new Promise<never>(() => {});

  it('returns the value, and leaves no listener', async () => {
    const { signal } = new AbortController();
    expect(await unlessAborted(Promise.resolve(1), signal)).to.equal(1);
    expect(getEventListeners(signal, 'abort')).to.deep.equal([]);
  });

  it('throws the error of the promise, or the reason of the signal, before or while it waits', async () => {
    const controller = new AbortController();
    const failed = unlessAborted(Promise.reject(new Error('why')), controller.signal);
    expect(await failed.catch(String)).to.equal('Error: why');
    const waiting = unlessAborted(never, controller.signal);
    controller.abort('reason');
    expect(await waiting.catch(String)).to.equal('reason');
    expect(await unlessAborted(never, controller.signal).catch(String)).to.equal('reason');
  });
});
