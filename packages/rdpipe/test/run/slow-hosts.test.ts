import { expect } from 'chai';
import type { AgentEvent } from '../../src/model/protocol.ts';
import { makePlan } from '../../src/plan/plan.ts';
import { createSlowHosts, type SlowHost, slowLinks } from '../../src/run/slow-hosts.ts';
import { wideInputFor } from '../plan/helpers.ts';

const NOTHING = {
  bytes: 0,
  wire_bytes: 0,
  input_ms: 0,
  limit_ms: 0,
  worker_ms: 0,
  wire_ms: 0,
  send_buffer_ms: 0,
  receive_window_ms: 0,
  sent_again: 0,
  streams: 1,
  rtt_us: 0,
};

describe('slow hosts of a chain', () => {
  for (const [what, waits, expected] of [
    ['one of four', [0, 9000, 100, 0], [1]],
    ['none if all are slow', [9000, 9000, 8000, 9000], []],
    ['two of four', [9000, 9000, 100, 0], [0, 1]],
    ['none that waited briefly', [0, 4000, 0, 0], []],
    ['none if there is only one', [9000], []],
    ['one of two', [9000, 100], [0]],
    ['none without a complete window', [undefined, 9000], []],
  ] as const) {
    it(`are ${what}`, () => {
      expect(slowLinks(new Map(waits.map((ms, link) => [link, ms])))).to.deep.equal(expected);
    });
  }

  /**
   * Returns the hosts that are reported if the outputs of n1 to n4 are waited for this many milliseconds per second.
   */
  const namedAfter = (stage: string, seconds: number, perSecond: readonly number[]): readonly SlowHost[] => {
    const [segment] = makePlan(wideInputFor(['h1:< f', stage])).segments;
    if (segment === undefined) throw new Error('the plan has a segment');
    const named: SlowHost[] = [];
    const hosts = createSlowHosts(segment, (host) => named.push(host));
    for (let second = 0; second <= seconds; second++) {
      segment.links.forEach(({ number }, index) => {
        const outputMs = second * (perSecond[index] ?? 0);
        const event: AgentEvent = { event: 'counters', link: number, end: 'recv', ...NOTHING, output_ms: outputMs };
        hosts.receive(event, second * 1000);
      });
    }
    return named;
  };

  it('are named once, after ten seconds, with the slow part', () => {
    const perSecond = [0, 0, 900, 10];
    expect(namedAfter('n[1-4]:> f', 9, perSecond)).to.deep.equal([]);
    expect(namedAfter('n[1-4]:> f', 60, perSecond)).to.deep.equal([{ session: 'n3', output: 'disk' }]);
    expect(namedAfter('n[1-4]:cat > f', 60, perSecond)).to.deep.equal([{ session: 'n3', output: 'command' }]);
  });

  it('are not reported for stages on one host', () => expect(namedAfter('n1:> f', 60, [900])).to.deep.equal([]));
});
