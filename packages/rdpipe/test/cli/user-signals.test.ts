import type { EventEmitter } from 'node:events';
import { expect } from 'chai';
import { watchUserSignals } from '../../src/cli/user-signals.ts';
import { SignalError } from '../../src/model/errors.ts';

describe('watchUserSignals', () => {
  /** What a signal does to a run, when `mask` was ignored at the beginning. */
  function after(signal: NodeJS.Signals, mask?: string): unknown {
    const run = new AbortController();
    const forget = watchUserSignals(run, mask);
    try {
      (process as EventEmitter).emit(signal, signal);
      return run.signal.reason;
    } finally {
      forget();
    }
  }

  for (const [signal, status] of [
    ['SIGHUP', 129],
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    it(`ends the run on ${signal} with ${status}`, () => {
      expect(after(signal)).to.be.instanceOf(SignalError).and.to.include({ status });
    });
  }

  it('ignores what was ignored before node began', () => {
    expect(after('SIGHUP', '0000000000000001')).to.equal(undefined);
    expect(after('SIGINT', '0000000000000001')).to.be.instanceOf(SignalError);
    expect(after('SIGTERM', '0000000000004000')).to.equal(undefined);
  });

  it('takes nonsense for nothing', () => {
    expect(after('SIGHUP', 'zz')).to.be.instanceOf(SignalError);
  });

  it('leaves no listener behind', () => {
    const before = process.listenerCount('SIGTERM');
    after('SIGTERM');
    expect(process.listenerCount('SIGTERM')).to.equal(before);
  });
});
