import { expect } from 'chai';
import { HopError, SessionError, SignalError, TimeoutError } from '../../src/model/errors.ts';
import type { Plan } from '../../src/model/plan.ts';
import type { AgentEvent } from '../../src/model/protocol.ts';
import { addFailure, collect } from '../../src/run/collect.ts';
import { endsTheRun, firstCause } from '../../src/run/first-cause.ts';
import { type Failure, initialState, type RunState } from '../../src/run/state.ts';
import { counters, exited, FILE_PLAN, linkEnded, linkFailed, OPEN, PLAN } from './sample.ts';

type Heard = readonly [session: string, event: AgentEvent] | Failure;

const GIB = 1024 ** 3;
/** `h1:'< in' h1:'> out'`. */
const WITHIN_PLAN: Plan = {
  ...FILE_PLAN,
  segments: FILE_PLAN.segments.map((segment) => ({
    ...segment,
    links: [{ number: 1, kind: 'local', session: 's1', source: 'stage', sink: 'stage', open: OPEN }],
  })),
};
const lost = failure(new SessionError('session_lost', 'h2', 'lost the session to h2: broken pipe'));
const interrupted = failure(new SignalError('SIGINT'));
const timedOut = failure(new TimeoutError('the run took longer than 5 s (--timeout)'));
const failedStage2: Heard = ['s2', exited(2, { code: 1 })];
const killedStage3: Heard = ['s3', exited(3, { signal: 9 })];
const unreadable: Heard = ['s1', linkFailed(1, 'send', 'source_unreadable', 'read: input/output error')];
const broken: Heard = ['s2', linkFailed(1, 'recv', 'internal', 'out of memory')];
const damaged: Heard = ['s2', linkFailed(1, 'recv', 'data_damaged', 'digest differs')];
const peerLost: Heard = ['s1', linkFailed(1, 'send', 'peer_lost', 'connection reset')];
const aborted: Heard = ['s3', linkFailed(2, 'recv', 'aborted', 'ended by the other side')];

describe('firstCause', () => {
  it('is nothing when nothing failed', () => {
    const heard: Heard[] = [
      ['s1', exited(1)],
      ['s1', linkEnded(1, 'send')],
      ['s2', exited(2)],
    ];
    expect(judge(PLAN, heard)).to.deep.equal({ status: 0, cause: null, causeStage: null, message: null });
  });

  describe('ranks', () => {
    /** Best first: each must win over all that follow, in both orders of arrival. */
    const ranked: readonly (readonly [string, Heard, number])[] = [
      ['a stage that failed on its own', failedStage2, 1],
      ['a file that could not be read', unreadable, 125],
      ['damaged data', damaged, 125],
      ['a lost session', lost, 125],
      ['a lost peer', peerLost, 125],
      ['an aborted link', aborted, 125],
    ];
    ranked.forEach(([better, first, status], index) => {
      for (const [worse, second] of ranked.slice(index + 1)) {
        it(`ranks ${better} before ${worse}, whichever arrives first`, () => {
          const alone = judge(PLAN, [first]);
          expect(alone.status).to.equal(status);
          expect(judge(PLAN, [first, second])).to.deep.equal(alone);
          expect(judge(PLAN, [second, first])).to.deep.equal(alone);
        });
      }
    });

    it('uses the first of one rank to arrive', () => {
      expect(judge(PLAN, [failedStage2, killedStage3]).status).to.equal(1);
      expect(judge(PLAN, [killedStage3, failedStage2]).status).to.equal(137);
      expect(judge(PLAN, [broken, unreadable]).message).to.equal('rdrecv on h2: out of memory');
      expect(judge(PLAN, [unreadable, broken]).message).to.equal('stage 1 (h1: produce): read: input/output error');
    });

    for (const [name, heard, status, cause] of [
      ['a signal', interrupted, 130, 'signal'],
      ['the time limit', timedOut, 124, 'timeout'],
    ] as const) {
      it(`puts ${name} first when it came before any failure`, () => {
        expect(judge(PLAN, [heard, failedStage2, lost])).to.include({ status, cause });
      });
      it(`ignores ${name} when something had failed before`, () => {
        expect(judge(PLAN, [peerLost, heard])).to.include({ status: 125, cause: 'rdpipe' });
        expect(judge(PLAN, [peerLost, heard, failedStage2])).to.include({ status: 1, cause: 'stage' });
      });
      it(`does not count an aborted link as a failure before ${name}`, () => {
        expect(judge(PLAN, [aborted, heard])).to.include({ status, cause });
      });
    }

    it('ranks a refused key with damaged data, and a hop that was not connected with lost peers', () => {
      const refused = failure(new HopError('key_refused', 'cannot connect h1 to h2: key refused'));
      const unmade = failure(new HopError('cannot_connect', 'cannot connect h1 to h2: refused'));
      expect(judge(PLAN, [lost, refused]).message).to.contain('key refused');
      expect(judge(PLAN, [unmade, lost]).message).to.contain('lost the session');
    });
  });

  describe('a host that is lost with its processes', () => {
    const ofHost2: readonly (readonly [string, Heard])[] = [
      ['a stage', ['s2', exited(2, { signal: 15 })]],
      ['a native program', ['s2', linkFailed(1, 'recv', 'internal', 'rdrecv was killed by signal 9')]],
    ];
    for (const [what, killed] of ofHost2)
      it(`is the cause, not ${what} that was killed there`, () => {
        for (const heard of [
          [killed, lost],
          [lost, killed],
        ])
          expect(judge(PLAN, heard).message).to.contain('lost the session');
      });
    it('is not the cause of a stage that failed there, or was killed elsewhere', () => {
      for (const heard of [failedStage2, killedStage3])
        expect(judge(PLAN, [lost, heard])).to.deep.equal(judge(PLAN, [heard]));
    });
    it('comes before a hop that broke', () => {
      const killed = ofHost2[1]?.[1] ?? peerLost;
      expect(judge(PLAN, [peerLost, killed, lost]).message).to.contain('lost the session');
    });
  });

  describe('not a failure', () => {
    it('a stage that was stopped', () => {
      expect(judge(PLAN, [['s1', exited(1, { signal: 9, stopped: true })]]).status).to.equal(0);
    });
    it('a stage whose consumer had closed', () => {
      expect(judge(PLAN, [['s1', exited(1, { signal: 13, consumer_closed: true })]]).status).to.equal(0);
    });
    it('a sender that lost a consumer which had closed', () => {
      const closes: Heard = ['s2', { event: 'closed', link: 1, end: 'recv' }];
      const hadClosed: Heard = ['s2', linkEnded(1, 'recv', { result: 'closed', code: 'closed' })];
      const stalled: Heard = ['s1', linkFailed(1, 'send', 'peer_stalled', 'received nothing')];
      for (const loss of [peerLost, stalled]) {
        expect(judge(PLAN, [hadClosed, loss]).status).to.equal(0);
        expect(judge(PLAN, [closes, loss, hadClosed]).status).to.equal(0);
      }
      expect(judge(PLAN, [peerLost, closes, hadClosed]).status).to.equal(125); // rdpipe had already aborted everything
      expect(judge(PLAN, [hadClosed, unreadable]).status).to.equal(125);
    });
    it('a closed link', () => {
      expect(judge(PLAN, [['s1', linkEnded(1, 'send', { result: 'closed', code: 'closed' })]]).status).to.equal(0);
    });
    it('an allowed status', () => {
      const [segment] = PLAN.segments;
      const stages = segment?.stages.map((planned) =>
        planned.stage.kind === 'command' ? { ...planned, stage: { ...planned.stage, ok: [0, 1] } } : planned,
      );
      const plan = { ...PLAN, segments: [{ number: 1, links: segment?.links ?? [], stages: stages ?? [] }] };
      expect(judge(plan, [['s2', exited(2, { code: 1 })]]).status).to.equal(0);
      expect(judge(plan, [['s2', exited(2, { code: 2 })]]).status).to.equal(2);
    });
  });

  describe('words', () => {
    const stopped = (stage: number): Heard => [`s${stage}`, exited(stage, { signal: 9, stopped: true })];
    const cases: readonly (readonly [string, Plan, readonly Heard[], string])[] = [
      [
        'a middle stage and the stages stopped around it',
        PLAN,
        [['s2', counters(1, 'recv', { bytes: 41.2 * GIB })], failedStage2, stopped(1), stopped(3)],
        'stage 2 (h2: filter --x) exited with status 1 after 41.2 GiB; stages 1 and 3 were stopped',
      ],
      [
        'a first stage whose reader did not see the end',
        PLAN,
        [['s1', exited(1, { code: 1 })], stopped(2)],
        'stage 1 (h1: produce) exited with status 1; stage 2 was stopped before it saw end of file (if status 1 is expected, use --ok 1=1)',
      ],
      [
        'several readers',
        PLAN,
        [['s1', exited(1, { code: 3 })], stopped(2), stopped(3)],
        'stage 1 (h1: produce) exited with status 3; stages 2 and 3 were stopped before they saw end of file (if status 3 is expected, use --ok 1=3)',
      ],
      [
        'a signal',
        PLAN,
        [killedStage3, stopped(1)],
        'stage 3 (h3: consume) was killed by SIGKILL; stage 1 was stopped',
      ],
      [
        'a signal at the producer, which --ok cannot allow',
        PLAN,
        [['s1', exited(1, { signal: 11 })], stopped(2)],
        'stage 1 (h1: produce) was killed by SIGSEGV; stage 2 was stopped before it saw end of file',
      ],
      [
        'a missing command',
        PLAN,
        [['s1', exited(1, { code: 127 })]],
        "stage 1 (h1: produce) exited with status 127 (command not found; if it is a file, use h1:'< produce' to read it)",
      ],
      [
        'a missing command, and the stage that waited for it',
        PLAN,
        [['s1', exited(1, { code: 126 })], stopped(2)],
        "stage 1 (h1: produce) exited with status 126 (not executable; if it is a file, use h1:'< produce' to read it); " +
          'stage 2 was stopped before it saw end of file',
      ],
      [
        'a missing last command',
        PLAN,
        [['s3', exited(3, { code: 127 })]],
        "stage 3 (h3: consume) exited with status 127 (command not found; if it is a file, use h3:'> consume' to write it)",
      ],
      [
        'a missing command of several words',
        PLAN,
        [['s2', exited(2, { code: 127 })]],
        'stage 2 (h2: filter --x) exited with status 127 (command not found)',
      ],
      [
        'the bytes that a first stage had written',
        PLAN,
        [
          ['s1', counters(1, 'send', { bytes: 2048 })],
          ['s1', exited(1, { code: 1 })],
        ],
        'stage 1 (h1: produce) exited with status 1 after 2.0 KiB',
      ],
      [
        'a sink that is full',
        FILE_PLAN,
        [['s2', linkFailed(1, 'recv', 'sink_unwritable', 'write /srv/out: no space left on device')]],
        'stage 2 (h2: > out): write /srv/out: no space left on device',
      ],
      [
        'a source that cannot be opened',
        FILE_PLAN,
        [['s1', { event: 'failed', stage: 1, code: 'source_unreadable', message: 'cannot open in: no such file' }]],
        'stage 1 (h1: < in): cannot open in: no such file',
      ],
      [
        'a host that cannot be used',
        FILE_PLAN,
        [['s2', { event: 'failed', stage: null, code: 'internal', message: 'out of processes' }]],
        'h2: out of processes',
      ],
      [
        'a link between two hosts',
        FILE_PLAN,
        [
          [
            's1',
            linkEnded(1, 'send', { result: 'failed', code: 'peer_lost', message: 'connection reset', bytes: GIB }),
          ],
        ],
        'data from h1 to h2: h1 lost h2: connection reset after 1.0 GiB',
      ],
      [
        'a link within a host',
        WITHIN_PLAN,
        [['s1', linkFailed(1, 'recv', 'peer_lost', 'the other side closed the connection')]],
        'data within h1: the other side closed the connection',
      ],
      [
        'the side that fell silent, according to its peer',
        FILE_PLAN,
        [['s2', linkFailed(1, 'recv', 'peer_stalled', 'received nothing from 10.0.0.1:50000 for 60 s')]],
        'data from h1 to h2: h1 went silent: received nothing from 10.0.0.1:50000 for 60 s',
      ],
      [
        'both sides, when neither received from the other',
        FILE_PLAN,
        [
          ['s1', linkFailed(1, 'send', 'peer_stalled', 'received nothing from 10.0.0.2:40000 for 60 s')],
          ['s2', linkFailed(1, 'recv', 'peer_stalled', 'received nothing from 10.0.0.1:50000 for 60 s')],
        ],
        'data from h1 to h2: h1 and h2 received nothing from each other: received nothing from 10.0.0.2:40000 for 60 s',
      ],
      [
        'the side that was lost',
        FILE_PLAN,
        [['s2', linkFailed(1, 'recv', 'peer_lost', 'no new connection was made in time to 10.0.0.2:40000')]],
        'data from h1 to h2: h2 lost h1: no new connection was made in time to 10.0.0.2:40000',
      ],
      [
        'processes that remained',
        PLAN,
        [interrupted, ['s1', { event: 'left_behind', pid: 99, command: 'sudo dd' }]],
        'ended by SIGINT; could not kill process 99 (sudo dd) on h1 (kill it by hand)',
      ],
    ];
    for (const [name, plan, heard, message] of cases) {
      it(`names ${name}`, () => expect(judge(plan, heard).message).to.equal(message));
    }

    it('shortens a long command', () => {
      const [segment] = PLAN.segments;
      const stages = (segment?.stages ?? []).map((planned) => ({
        ...planned,
        stage: { ...planned.stage, text: 'x'.repeat(500) },
      }));
      const message = judge({ ...PLAN, segments: [{ number: 1, links: [], stages }] }, [failedStage2]).message;
      expect(message).to.match(/^stage 2 \(h2: x{59}…\) exited with status 1/);
    });
  });

  describe('a complete file whose final acknowledgement was lost', () => {
    const written: Heard = ['s2', linkEnded(1, 'recv')];
    const complete = 'h2: file is complete (stage 2: > out), but the final acknowledgement did not reach h1';
    const senderGone = failure(new SessionError('session_lost', 'h1', 'lost the agent on h1: broken pipe'));

    for (const [what, loss] of [
      ['its sender lost its peer', peerLost],
      ['its sender received nothing more', ['s1', linkFailed(1, 'send', 'peer_stalled', 'received nothing')]],
      ["its sender's host was lost", senderGone],
    ] as const)
      it(`is a file, and the run fails, when ${what}`, () => {
        for (const heard of [
          [written, loss],
          [loss, written],
        ]) {
          const { status, cause, message } = judge(FILE_PLAN, heard);
          expect({ status, cause }).to.deep.equal({ status: 125, cause: 'rdpipe' });
          expect(message).to.match(/^(data from h1 to h2|lost the agent on h1): .*; h2: file is complete /);
          expect(message?.endsWith(complete), message ?? '').to.equal(true);
        }
      });

    it('is a command that succeeded', () => {
      const message = judge(PLAN, [written, ['s2', exited(2)], peerLost]).message;
      expect(message).to.contain(
        '; h2: command succeeded (stage 2: filter --x), but the final acknowledgement did not reach h1',
      );
    });

    it('is not a command that was stopped', () => {
      const stopped: Heard = ['s2', exited(2, { signal: 9, stopped: true })];
      expect(judge(PLAN, [written, peerLost, stopped]).message).not.to.contain('acknowledgement');
    });

    it('is not reported if its sender got the acknowledgement', () => {
      const known: Heard[] = [written, ['s1', linkEnded(1, 'send')], interrupted];
      expect(judge(FILE_PLAN, known).message).to.equal('ended by SIGINT');
    });

    it('is not a file that was not written', () => {
      const lostToo: Heard = ['s2', linkFailed(1, 'recv', 'peer_lost', 'connection reset')];
      expect(judge(FILE_PLAN, [peerLost, lostToo]).message).not.to.contain('complete');
    });
  });

  it('fails a run that left a process behind, even if nothing else failed', () => {
    const verdict = judge(PLAN, [['s1', { event: 'left_behind', pid: 99, command: 'sudo dd' }]]);
    expect(verdict).to.include({ status: 125, cause: 'rdpipe' });
    expect(verdict.message).to.contain('99 (sudo dd) on h1');
  });

  it('names a process once, however often it is reported', () => {
    const told: Heard = ['s1', { event: 'left_behind', pid: 99, command: 'sudo dd' }];
    const elsewhere: Heard = ['s2', { event: 'left_behind', pid: 99, command: 'sudo dd' }];
    const words = 'could not kill process 99 (sudo dd) on h1 and 99 (sudo dd) on h2 (kill them by hand)';
    expect(judge(PLAN, [told, elsewhere, told]).message).to.equal(words);
  });

  describe('--lenient', () => {
    it('uses the rightmost stage that failed', () => {
      expect(judge(PLAN, [killedStage3, failedStage2], true).status).to.equal(137);
      expect(judge(PLAN, [failedStage2, killedStage3], true).status).to.equal(137);
    });
    it('prefers any other failure to that of a stage', () => {
      for (const other of [unreadable, damaged, lost, peerLost]) {
        expect(judge(PLAN, [failedStage2, other], true).cause).to.equal('rdpipe');
      }
    });
    it("uses the user's signal, even if a stage had failed", () => {
      expect(judge(PLAN, [failedStage2, interrupted], true).status).to.equal(130);
    });
    it('continues when a stage fails, and on nothing else', () => {
      const stage: Failure = { kind: 'stage', stage: 1, code: 1, signal: null };
      expect(endsTheRun(stage, true)).to.equal(false);
      expect(endsTheRun(stage, false)).to.equal(true);
      expect(endsTheRun(failure(new TimeoutError('late')), true)).to.equal(true);
    });
  });
});

function failure(error: SessionError | HopError | SignalError | TimeoutError): Failure {
  return { kind: 'error', error };
}

function judge(plan: Plan, heard: readonly Heard[], lenient = false) {
  const state = heard.reduce<RunState>(
    (before, item) => ('kind' in item ? addFailure(before, item) : collect(before, item[0], item[1], 1000)),
    initialState(plan),
  );
  return firstCause(state, lenient);
}
