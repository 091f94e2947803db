import { expect } from 'chai';
import type { RunEvent } from '../../src/model/events.ts';
import type { AgentEvent } from '../../src/model/protocol.ts';
import { createRecord } from '../../src/run/record.ts';
import { time } from '../frozen-time.ts';
import { counters, linkEnded, PLAN } from './sample.ts';

describe('the counters that are shown', () => {
  beforeEach(() => time.freeze());
  afterEach(() => time.reset());

  /** Returns the byte counts that are shown for the receiver of link 1 after these events from its host. */
  function shownOf(...said: readonly AgentEvent[]): number[] {
    const shown: RunEvent[] = [];
    const record = createRecord(
      PLAN,
      false,
      (event) => shown.push(event),
      () => {},
    );
    for (const event of said) record.receive('s2', event);
    return shown.flatMap((event) => (event.kind === 'counters' ? [event.bytes] : []));
  }
  const counted = (bytes: number) => counters(1, 'recv', { bytes });
  const ended = (bytes: number) => linkEnded(1, 'recv', { bytes });

  it('are not more frequent than people can read', () => {
    expect(shownOf(counted(10), counted(20))).to.deep.equal([10]);
  });

  it('are the last ones when a hop has ended, however soon they follow others', () => {
    expect(shownOf(counted(10), counted(20), ended(20))).to.deep.equal([10, 20]);
    expect(shownOf(ended(20))).to.deep.equal([20]);
  });

  it('are not shown twice', () => {
    expect(shownOf(counted(20), ended(20))).to.deep.equal([20]);
    expect(shownOf(ended(0))).to.deep.equal([]);
  });
});
