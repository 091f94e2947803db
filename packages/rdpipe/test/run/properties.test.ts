import { expect } from 'chai';
import fc from 'fast-check';
import { RdpipeError } from '../../src/model/errors.ts';
import type { AgentEvent } from '../../src/model/protocol.ts';
import { jsonText } from '../../src/model/text.ts';
import { missingOutcome } from '../../src/run/missing-outcomes.ts';
import { createRecord, type RunRecord } from '../../src/run/record.ts';
import { makeReport } from '../../src/run/report.ts';
import { connected, counters, exited, linkEnded, linkFailed, PLAN, ran } from './sample.ts';

const number = fc.integer({ min: 0, max: 4 });
const end = fc.constantFrom('send' as const, 'recv' as const);
const anyEvent: fc.Arbitrary<AgentEvent> = fc.oneof(
  number.map((segment): AgentEvent => ({ event: 'prepared', segment })),
  number.map((segment): AgentEvent => ({ event: 'segment_ended', segment })),
  number.map((stage): AgentEvent => ({ event: 'started', stage, pid: 1 })),
  fc
    .tuple(number, fc.nat(255), fc.boolean(), fc.boolean())
    .map(([stage, code, stopped, closed]) =>
      exited(stage, { code: code % 3, stopped: stopped && closed, consumer_closed: closed }),
    ),
  fc.tuple(number, end).map(([link, which]) => connected(link, which)),
  fc.tuple(number, end, fc.nat()).map(([link, which, bytes]) => counters(link, which, { bytes })),
  fc.tuple(number, end).map(([link, which]) => linkEnded(link, which)),
  fc.tuple(number, end).map(([link, which]) => linkFailed(link, which, 'peer_lost', 'gone')),
  number.map((stage): AgentEvent => ({ event: 'failed', stage: stage || null, code: 'internal', message: 'x' })),
  fc.constant<AgentEvent>({ event: 'left_behind', pid: 7, command: 'sudo' }),
);
const said = fc.array(fc.tuple(fc.constantFrom('s1', 's2', 's3'), anyEvent), { maxLength: 60 });

describe('any reports from hosts in any order', () => {
  it('ends in a report with a valid status, and success only if every outcome was reported', () => {
    fc.assert(
      fc.property(said, fc.boolean(), (events, lenient) => {
        const record = createRecord(
          PLAN,
          lenient,
          () => {},
          () => {},
        );
        for (const [session, event] of events) hear(record, session, event);
        settle(record);
        const report = makeReport(PLAN, record.state, lenient, 1);
        expect(report.status).to.be.within(0, 255);
        expect(JSON.parse(jsonText(report)).status).to.equal(report.status);
        if (report.status !== 0) return;
        expect(report.stages.map(({ state }) => state))
          .to.have.length(3)
          .and.not.include.members(['not_started', 'stopped']);
        expect(new Set(report.hops.map(({ result }) => result))).to.deep.equal(new Set(['delivered']));
      }),
      { numRuns: 500 },
    );
  });

  it('is a success if everything was reported, and never if one message is missing', () => {
    fc.assert(
      fc.property(fc.infiniteStream(fc.nat(2)), fc.option(fc.nat(HONEST.flat().length - 1)), (turns, omitted) => {
        const record = createRecord(
          PLAN,
          false,
          () => {},
          () => {},
        );
        let place = 0;
        const queues = HONEST.map((events) => events.filter(() => place++ !== omitted));
        for (const turn of turns) {
          const event = queues[turn]?.shift();
          if (event !== undefined) hear(record, `s${turn + 1}`, event);
          if (queues.every((queue) => queue.length === 0)) break;
        }
        settle(record);
        expect(makeReport(PLAN, record.state, false, 1).status).to.equal(omitted === null ? 0 : 125);
      }),
    );
  });
});

/** The events of each of three hosts in a successful run. */
const HONEST: readonly (readonly AgentEvent[])[] = [
  [...ran(1), linkEnded(1, 'send')],
  [...ran(2), linkEnded(1, 'recv'), linkEnded(2, 'send')],
  [...ran(3), linkEnded(2, 'recv')],
];

function hear(record: RunRecord, session: string, event: AgentEvent): void {
  try {
    record.receive(session, event);
  } catch (error) {
    if (!(error instanceof RdpipeError)) throw error;
    record.fail({ kind: 'error', error });
  }
}

/** Adds a missing outcome as a failure, like the end of a segment. */
function settle(record: RunRecord): void {
  const [segment] = PLAN.segments;
  const missing = segment && missingOutcome(record.state, segment);
  if (missing !== undefined) record.fail({ kind: 'error', error: missing });
}
