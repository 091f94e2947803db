import { expect } from 'chai';
import { NO_WAITS } from '../../../src/model/counters.ts';
import type { RunEvent } from '../../../src/model/events.ts';
import { createHistoryKeeper } from '../../../src/ui/pages/history.ts';
import { counters, planFor } from '../helpers.ts';

describe('history', () => {
  function start() {
    let now = 5000;
    const keeper = createHistoryKeeper(() => now);
    const at = (seconds: number, ...events: readonly RunEvent[]) => {
      now = 5000 + seconds * 1000;
      for (const event of events) keeper.handle(event);
    };
    at(0, { kind: 'planned', plan: planFor(['h1:a', 'h2:b']) });
    return { at, history: () => keeper.history() };
  }

  it('combines the reports of both ends of a hop, from its beginning', () => {
    const { at, history } = start();
    at(1, { kind: 'hop_connected', link: 1, transport: 'tcp', cipher: 'none', way: '' });
    at(1.25, { kind: 'segment_started', segment: 1 });
    at(
      2,
      counters({ end: 'send', bytes: 90, wireBytes: 50, inputMs: 1, limitMs: 4, wireMs: 2 }),
      counters({ bytes: 70, wireBytes: 40, workerMs: 1, outputMs: 3 }),
    );
    const [hop] = history().hops.filter(({ link }) => link === 1);
    expect(hop?.samples).to.deep.equal([
      { at: 1, bytes: 0, wireBytes: 0, send: NO_WAITS, recv: NO_WAITS },
      {
        at: 2,
        bytes: 70,
        wireBytes: 40,
        send: { ...NO_WAITS, inputMs: 1, limitMs: 4, wireMs: 2 },
        recv: { ...NO_WAITS, workerMs: 1, outputMs: 3 },
      },
    ]);
  });

  it('notes when connections broke, up to a limit', () => {
    const { at, history } = start();
    for (let second = 1; second <= 500; second += 1)
      at(second, { kind: 'hop_broken', link: 1, end: 'send', host: 'h1', message: 'reset' });
    const [hop] = history().hops;
    expect(hop?.broken).to.have.lengthOf(100);
    expect(hop?.broken[0]).to.equal(1);
  });

  it("keeps the end of each stage's stderr, and its size", () => {
    const { at, history } = start();
    for (let index = 0; index < 100; index += 1)
      at(1, { kind: 'stderr', stage: 2, host: 'h2', data: Buffer.alloc(1000, index % 2 ? 'a' : 'b') });
    const [stderr] = history().stderr;
    expect(stderr).to.include({ stage: 2, host: 'h2', bytes: 100_000 });
    expect(stderr?.tail).to.have.lengthOf(8192);
    expect(Buffer.from(stderr?.tail ?? []).toString()).to.match(/a{1000}$/);
    expect(stderr?.tail.buffer.byteLength).to.equal(8192);
  });

  it('keeps warnings, up to a limit', () => {
    const { at, history } = start();
    for (let index = 0; index < 500; index += 1) at(1, { kind: 'warning', message: `warning ${index}` });
    expect(history().warnings).to.have.lengthOf(100);
  });
});
