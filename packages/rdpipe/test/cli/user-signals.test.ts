import type { EventEmitter } from 'node:events';
import { expect } from 'chai';
import { untilUserSignal } from '../../src/cli/user-signals.ts';
import { SignalError } from '../../src/model/errors.ts';

describe('untilUserSignal', () => {
  /** A signal's effect on a run if the signals in `mask` were ignored at the start. */
  function after(name: NodeJS.Signals, mask?: string): Promise<unknown> {
    return untilUserSignal(mask, async (signal) => {
      (process as EventEmitter).emit(name, name);
      return signal.reason;
    });
  }

  for (const [signal, status] of [
    ['SIGHUP', 129],
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    it(`ends the run on ${signal} with ${status}`, async () => {
      expect(await after(signal))
        .to.be.instanceOf(SignalError)
        .and.to.include({ status });
    });
  }

  it('ignores signals that were ignored before node started', async () => {
    expect(await after('SIGHUP', '0000000000000001')).to.equal(undefined);
    expect(await after('SIGINT', '0000000000000001')).to.be.instanceOf(SignalError);
    expect(await after('SIGTERM', '0000000000004000')).to.equal(undefined);
  });

  it('treats an invalid mask as empty', async () => {
    expect(await after('SIGHUP', 'zz')).to.be.instanceOf(SignalError);
  });

  it('removes its listeners', async () => {
    const before = process.listenerCount('SIGTERM');
    await after('SIGTERM');
    expect(process.listenerCount('SIGTERM')).to.equal(before);
  });
});
