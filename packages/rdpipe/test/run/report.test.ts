import { expect } from 'chai';
import type { Plan } from '../../src/model/plan.ts';
import type { AgentEvent } from '../../src/model/protocol.ts';
import type { HopReport, StageReport } from '../../src/model/report.ts';
import { makePlan } from '../../src/plan/plan.ts';
import { addNote, begin, collect } from '../../src/run/collect.ts';
import { makeReport } from '../../src/run/report.ts';
import { initialState, type RunState } from '../../src/run/state.ts';
import { wideInputFor } from '../plan/helpers.ts';
import { broken, connected, counters, exited, FILE_PLAN, linkEnded, linkFailed, PLAN, resumed } from './sample.ts';

type Heard = readonly [session: string, event: AgentEvent, atMs?: number];

describe('makeReport', () => {
  it('contains every stage, hop and number', () => {
    const report = reportOf(PLAN, [
      ['s1', connected(1, 'send'), 1000],
      ['s2', connected(1, 'recv'), 1001],
      ['s1', exited(1)],
      ['s1', counters(1, 'send', { bytes: 4000, input_ms: 10, wire_ms: 900, send_buffer_ms: 7, sent_again: 2 })],
      ['s2', counters(1, 'recv', { bytes: 3000, wire_bytes: 1500, output_ms: 600 })],
      ['s2', linkEnded(1, 'recv', { bytes: 4000, wire_bytes: 1900 }), 2900],
      ['s1', linkEnded(1, 'send', { bytes: 4000, user_ms: 30, system_ms: 40, max_rss_kib: 9000 }), 3000],
    ]);
    expect(report).to.include({ v: 1, run: 'r1', status: 0, cause: null, message: null, seconds: 12 });
    expect(report.stages[0]).to.deep.equal({
      stage: 1,
      host: 'h1',
      command: 'produce',
      state: 'succeeded',
      code: 0,
      signal: null,
      userMs: 5,
      systemMs: 6,
      maxRssKib: 700,
    });
    expect(report.hops[0]).to.deep.equal({
      link: 1,
      from: 'h1',
      to: 'h2',
      transport: 'tcp',
      cipher: 'aes-256-gcm',
      openssl: ['3.5.9'],
      why: 'tcp (no RDMA device on h1 or h2), encrypted (leaves the machine)',
      devices: [],
      numa: [null, null],
      local: '10.0.0.1:50000',
      peer: '10.0.0.2:40000',
      rttUs: null,
      reconnects: 0,
      result: 'delivered',
      bytes: 4000,
      compress: 0,
      wireBytes: 1900,
      seconds: 2,
      bytesPerSecond: 2000,
      bottleneck: 'output',
      inputMs: 10,
      limitMs: 0,
      workerMs: 0,
      wireMs: 300,
      outputMs: 600,
      sendBufferMs: 7,
      receiveWindowMs: 0,
      sentAgain: 2,
      streams: 1,
      sender: { userMs: 30, systemMs: 40, maxRssKib: 9000 },
      receiver: { userMs: 0, systemMs: 0, maxRssKib: 0 },
      notes: [],
      warnings: [],
    });
  });

  it('names the stage that failed by its position and the rank of its host', () => {
    const plan = makePlan(wideInputFor(['h1:a', 'n[1-3]:b']));
    const last = plan.segments[0]?.stages.find(({ stage }) => stage.part?.rank === 2);
    if (last === undefined) throw new Error('the plan has three ranks');
    const failed = exited(last.stage.number, { code: 7 });
    const { causeStage, causeRank, stages } = reportOf(plan, [[last.session, failed]]);
    expect({ causeStage, causeRank }).to.deep.equal({ causeStage: 2, causeRank: 2 });
    expect(stages.find(({ stage, rank }) => stage === causeStage && rank === causeRank)?.code).to.equal(7);
    expect(last.stage.number).not.to.equal(causeStage);
  });

  describe('stage', () => {
    const cases: readonly (readonly [string, readonly Heard[], StageReport['state']])[] = [
      ['that never ran', [], 'not_started'],
      ['that rdpipe stopped', [['s1', exited(1, { signal: 9, stopped: true })]], 'stopped'],
      ['that failed', [['s1', exited(1, { code: 1 })]], 'failed'],
      ['that succeeded', [['s1', exited(1)]], 'succeeded'],
      ['that SIGPIPE ended', [['s1', exited(1, { signal: 13, consumer_closed: true })]], 'consumer_closed'],
      ['that succeeded although its reader had closed', [['s1', exited(1, { consumer_closed: true })]], 'succeeded'],
      ['that could not start', [['s1', { event: 'failed', stage: 1, code: 'internal', message: 'no' }]], 'failed'],
    ];
    for (const [name, heard, state] of cases) {
      it(`${name} is ${state}`, () => expect(reportOf(PLAN, heard).stages[0]?.state).to.equal(state));
    }
  });

  it('counts a stage as stopped if rdpipe asked to start it and no event followed', () => {
    const [segment] = PLAN.segments;
    if (segment === undefined) throw new Error('the sample has a segment');
    const { stages } = makeReport(PLAN, begin(initialState(PLAN), segment), false, 12);
    expect(stages.map(({ state }) => state)).to.deep.equal(stages.map(() => 'stopped'));
  });

  describe('file', () => {
    const cases: readonly (readonly [string, readonly Heard[], readonly StageReport['state'][]])[] = [
      ['that was not reached', [], ['not_started', 'not_started']],
      [
        'that was delivered',
        [
          ['s1', linkEnded(1, 'send')],
          ['s2', linkEnded(1, 'recv')],
        ],
        ['succeeded', 'succeeded'],
      ],
      ['whose end is unknown', [['s1', connected(1, 'send')]], ['stopped', 'stopped']],
      [
        'that cannot be written',
        [
          ['s2', linkFailed(1, 'recv', 'sink_unwritable', 'full')],
          ['s1', linkFailed(1, 'send', 'aborted', 'full')],
        ],
        ['stopped', 'failed'],
      ],
    ];
    for (const [name, heard, states] of cases) {
      it(`${name} is ${states.join(', ')}`, () => {
        expect(reportOf(FILE_PLAN, heard).stages.map(({ state }) => state)).to.deep.equal(states);
      });
    }
  });

  describe('hop', () => {
    const closed = { result: 'closed', code: 'closed' } as const;
    const cases: readonly (readonly [string, readonly Heard[], Partial<HopReport>])[] = [
      ['that was never made', [], { result: 'not_connected', seconds: 0, bytesPerSecond: 0, bottleneck: 'none' }],
      ['that was cut', [['s1', connected(1, 'send')]], { result: 'aborted' }],
      [
        'whose consumer closed',
        [
          ['s2', linkEnded(1, 'recv', closed)],
          ['s1', linkEnded(1, 'send', closed)],
        ],
        { result: 'closed' },
      ],
      [
        'of which one end failed',
        [
          ['s1', linkFailed(1, 'send', 'peer_lost', 'reset')],
          ['s2', linkFailed(1, 'recv', 'aborted', 'reset')],
        ],
        { result: 'failed' },
      ],
      [
        'whose consumer had closed when its sender lost it',
        [
          ['s2', linkEnded(1, 'recv', closed)],
          ['s1', linkFailed(1, 'send', 'peer_stalled', 'received nothing')],
        ],
        { result: 'closed' },
      ],
      [
        'whose consumer had closed when its sender lost it, before the receiver ended',
        [
          ['s2', { event: 'closed', link: 1, end: 'recv' }],
          ['s1', linkFailed(1, 'send', 'peer_lost', 'no new connection')],
          ['s2', linkEnded(1, 'recv', closed)],
        ],
        { result: 'closed' },
      ],
      [
        'whose consumer had closed when its sender failed by itself',
        [
          ['s2', linkEnded(1, 'recv', closed)],
          ['s1', linkFailed(1, 'send', 'internal', 'out of memory')],
        ],
        { result: 'failed' },
      ],
      [
        'that broke twice, the second time unheard of by one end',
        [
          ['s1', broken(1, 'send')],
          ['s2', broken(1, 'recv')],
          ['s2', resumed(1, 'recv')],
          ['s1', resumed(1, 'send')],
          ['s1', broken(1, 'send')],
          ['s1', resumed(1, 'send', { epoch: 3 })],
        ],
        { reconnects: 2 },
      ],
      [
        'that waited for its producer',
        [['s1', counters(1, 'send', { input_ms: 9, wire_ms: 8 })]],
        { bottleneck: 'input' },
      ],
      [
        'that was slowed by its limit',
        [['s1', counters(1, 'send', { input_ms: 1, limit_ms: 9, wire_ms: 8 })]],
        { bottleneck: 'limit', limitMs: 9 },
      ],
      [
        'that waited for the network',
        [['s1', counters(1, 'send', { input_ms: 1, wire_ms: 8 })]],
        { bottleneck: 'wire' },
      ],
      [
        'that waited for its consumer',
        [
          ['s1', counters(1, 'send', { wire_ms: 9 })],
          ['s2', counters(1, 'recv', { output_ms: 8 })],
        ],
        { bottleneck: 'output', wireMs: 1 },
      ],
      [
        'that waited for workers of its sender',
        [['s1', counters(1, 'send', { worker_ms: 9, wire_ms: 8 })]],
        { bottleneck: 'worker', workerMs: 9, wireMs: 8 },
      ],
      [
        'that waited for workers of its receiver, and therefore for the network',
        [
          ['s1', counters(1, 'send', { worker_ms: 1, wire_ms: 9 })],
          ['s2', counters(1, 'recv', { worker_ms: 7, output_ms: 2 })],
        ],
        { bottleneck: 'worker', workerMs: 7, wireMs: 1 },
      ],
    ];
    for (const [name, heard, part] of cases) {
      it(`${name}: ${JSON.stringify(part)}`, () => expect(reportOf(PLAN, heard).hops[0]).to.include(part));
    }

    it('shows how it was connected: devices, round trip, warnings of its ends', () => {
      const rdma = { transport: 'rdma', cipher: 'none', local: '10.1.0.1:1', peer: '10.1.0.2:2' } as const;
      const [hop] = reportOf(PLAN, [
        ['s1', connected(1, 'send', { ...rdma, device: 'mlx5_0', numa: 1 })],
        ['s2', connected(1, 'recv', { ...rdma, local: '10.1.0.2:2', device: 'rxe0', note: 'the buffer is 4.0 MiB' })],
        ['s1', counters(1, 'send', { rtt_us: 331 })],
        ['s2', counters(1, 'recv', { rtt_us: 0 })],
        ['s1', linkEnded(1, 'send', { bytes: 4000 })],
      ]).hops;
      expect(hop).to.deep.include({
        transport: 'rdma',
        devices: ['mlx5_0', 'rxe0'],
        numa: [1, null],
        local: '10.1.0.1:1',
        peer: '10.1.0.2:2',
        rttUs: 331,
        warnings: ['h2: the buffer is 4.0 MiB'],
      });
    });

    it('keeps its notes in order', () => {
      const state = addNote(addNote(initialState(PLAN), 1, 'first'), 1, 'second');
      expect(makeReport(PLAN, state, false, 1).hops[0]?.notes).to.deep.equal(['first', 'second']);
    });
  });
});

function reportOf(plan: Plan, heard: readonly Heard[]) {
  const state = heard.reduce<RunState>(
    (before, [session, event, atMs]) => collect(before, session, event, atMs ?? 0),
    initialState(plan),
  );
  return makeReport(plan, state, false, 12);
}
