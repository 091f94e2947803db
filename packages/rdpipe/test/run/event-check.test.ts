import { expect } from 'chai';
import type { Plan } from '../../src/model/plan.ts';
import type { AgentEvent } from '../../src/model/protocol.ts';
import { createEventCheck } from '../../src/run/event-check.ts';
import { connected, counters, exited, linkEnded, PLAN } from './sample.ts';

const PREPARED: AgentEvent = { event: 'prepared', segment: 1 };
const STARTED: AgentEvent = { event: 'started', stage: 2, pid: 5 };
const ENDED: AgentEvent = { event: 'segment_ended', segment: 1 };
const CLOSED: AgentEvent = { event: 'closed', link: 1, end: 'recv' };
const SIZE: AgentEvent = { event: 'size', link: 2, bytes: 1 };

/** Returns the complaint about the last message of h2, the middle one of three hosts; the others must be valid. */
function complaint(said: readonly AgentEvent[], plan: Plan = PLAN, session = 's2'): string | undefined {
  const check = createEventCheck(plan);
  const complaints = said.map((event) => check(session, event));
  expect(complaints.slice(0, -1).filter((words) => words !== undefined)).to.deep.equal([]);
  return complaints.at(-1);
}

describe('what a host may report', () => {
  it('is everything of its own part', () => {
    const all: AgentEvent[] = [
      ...[PREPARED, connected(1, 'recv'), connected(2, 'send'), SIZE, STARTED, counters(1, 'recv')],
      { event: 'broken', link: 2, end: 'send', message: 'reset' },
      { event: 'resumed', link: 2, end: 'send', epoch: 2, bytes: 5 },
      ...[{ event: 'stderr', stage: 2, data: '61' } as const, CLOSED, exited(2)],
      ...[linkEnded(1, 'recv'), linkEnded(2, 'send')],
      ...[ENDED, { event: 'failed', stage: null, code: 'internal', message: '' } as const, { event: 'ended' } as const],
    ];
    expect(complaint(all)).to.equal(undefined);
  });

  for (const [what, event] of [
    ['the stage of another', { event: 'started', stage: 1, pid: 5 }],
    ['the exit of another', exited(3)],
    ['the stderr of another', { event: 'stderr', stage: 1, data: '61' }],
    ['the failure of another', { event: 'failed', stage: 1, code: 'internal', message: 'x' }],
    ['the other end of its hop', linkEnded(1, 'send')],
    ['a connection of the other end', connected(2, 'recv')],
    ['the port of the other end', { event: 'listening', link: 1, end: 'send', transport: 'tcp', port: 1 }],
    ['a failed dial of the other end', { event: 'dial_failed', link: 1, end: 'send', code: 'internal', message: '' }],
    ['the bytes of the other end', counters(1, 'send')],
    ["the size of the other end's data", { event: 'size', link: 1, bytes: 1 }],
    ['output that is not the user’s', { event: 'output', link: 1, end: 'recv' }],
    ['the consumer of another', { event: 'closed', link: 2, end: 'recv' }],
    ['a link without programs', linkEnded(3, 'recv')],
    ['a missing link', linkEnded(99, 'recv')],
    ['a missing stage', { event: 'stderr', stage: 99, data: '' }],
    ['a missing segment', { event: 'prepared', segment: 2 }],
  ] as const) {
    it(`is not ${what}`, () => expect(complaint([event])).to.match(/, which is not in its part of the plan$/));
  }

  it('is nothing of a segment without a part of it', () => {
    const plan = { ...PLAN, segments: [...PLAN.segments, { number: 2, stages: [], links: [] }] };
    expect(complaint([{ event: 'prepared', segment: 2 }], plan)).to.match(/not in its part of the plan$/);
  });

  for (const [what, ...said] of [
    ['prepared', PREPARED],
    ['connected', connected(1, 'recv')],
    ['started', PREPARED, STARTED],
    ['exited', PREPARED, STARTED, exited(2)],
    ['closed', CLOSED],
    ['link_ended', linkEnded(2, 'send')],
    ['segment_ended', PREPARED, ENDED],
  ] as const) {
    it(`is not ${what} twice`, () => {
      const last = said.at(-1);
      if (last === undefined) throw new Error('nothing said');
      expect(complaint([...said, last])).to.match(/ twice$/);
    });
  }

  it('must be in order', () => {
    expect(complaint([STARTED])).to.equal('started of stage 2 without prepared of segment 1');
    expect(complaint([PREPARED, exited(2)])).to.equal('exited of stage 2 without started of stage 2');
    expect(complaint([ENDED])).to.equal('segment_ended of segment 1 without prepared of segment 1');
  });

  it('may not be an endless list of failures', () => {
    const failed: AgentEvent = { event: 'failed', stage: 2, code: 'internal', message: 'x' };
    expect(complaint(Array(100).fill(failed))).to.equal(undefined);
    expect(complaint(Array(101).fill(failed))).to.equal('too many failed events');
    const left: AgentEvent = { event: 'left_behind', pid: 1, command: 'x' };
    expect(complaint(Array(101).fill(left))).to.equal('too many left_behind events');
  });

  it('may not be an unencrypted connection if the payload was to be sealed', () => {
    const clear = { cipher: 'none' } as const;
    expect(complaint([connected(1, 'recv', clear)])).to.equal('connected of link 1 (recv) without encryption');
    expect(complaint([connected(1, 'recv', { ...clear, transport: 'rdma' })])).to.match(/without authentication$/);
    expect(complaint([connected(1, 'recv', { ...clear, transport: 'rdma' })], encrypted('always'))).to.match(/without/);
    expect(complaint([connected(1, 'recv', clear)], encrypted('never'))).to.equal(undefined);
    expect(complaint([connected(1, 'recv', clear)], encrypted('auth'))).to.match(/without authentication$/);
  });

  it('may not be a connection with only a MAC if the payload was to be sealed', () => {
    for (const cipher of ['poly1305', 'aes-256-gmac'] as const) {
      const overTcp = [connected(1, 'recv', { cipher })];
      const overRdma = [connected(1, 'recv', { cipher, transport: 'rdma' })];
      expect(complaint(overTcp)).to.equal('connected of link 1 (recv) without encryption');
      expect(complaint(overRdma)).to.equal(undefined);
      expect(complaint(overRdma, encrypted('always'))).to.match(/without encryption$/);
      expect(complaint(overTcp, encrypted('auth'))).to.equal(undefined);
      expect(complaint(overTcp, encrypted('never'))).to.equal(undefined);
    }
    for (const how of ['auth', 'always'] as const)
      expect(complaint([connected(1, 'recv', { cipher: 'aes-256-gcm' })], encrypted(how))).to.equal(undefined);
  });

  it('is recorded separately for each host', () => {
    const check = createEventCheck(PLAN);
    for (const session of ['s1', 's2', 's3']) expect(check(session, PREPARED)).to.equal(undefined);
    expect(check('s1', PREPARED)).to.match(/twice/);
  });
});

function encrypted(encrypt: 'always' | 'auth' | 'never'): Plan {
  const segments = PLAN.segments.map((segment) => ({
    ...segment,
    links: segment.links.map((link) => (link.kind === 'hop' ? { ...link, open: { ...link.open, encrypt } } : link)),
  }));
  return { ...PLAN, segments };
}
