import { expect } from 'chai';
import { SessionError, SignalError, UsageError } from '../../src/model/errors.ts';
import type { RunEvent } from '../../src/model/events.ts';
import type { Segment } from '../../src/model/plan.ts';
import type { AgentEvent } from '../../src/model/protocol.ts';
import { makeKeys, prepareRequest } from '../../src/run/prepare-request.ts';
import { createRecord } from '../../src/run/record.ts';
import { makeReport } from '../../src/run/report.ts';
import type { Failure } from '../../src/run/state.ts';
import {
  COPY_PLAN,
  type exited,
  failedPath,
  hexPath,
  linkEnded,
  linkFailed,
  printed,
  progress,
  ran,
} from './sample.ts';

type Heard = readonly [session: 's1' | 's2', event: AgentEvent] | Failure;

const FOUND: Heard = ['s1', printed(1, progress({ entries: 1234, files: 1200 }))];

describe('a copy', () => {
  it('shows the events of its programs in place of their standard error', () => {
    const { shown } = hear([['s2', printed(4, failedPath('/t/a'), 'Killed')]]);
    expect(shown).to.deep.equal([
      {
        kind: 'tree',
        stage: 4,
        host: 'h2',
        role: 'write',
        event: { event: 'failed', path: '/t/a', code: 'EACCES', message: 'permission denied' },
      },
      { kind: 'stderr', stage: 4, host: 'h2', data: Buffer.from('Killed\n') },
    ]);
  });

  it('shows an unfinished line when its host has ended', () => {
    const half: AgentEvent = { event: 'stderr', stage: 2, data: hexPath('half') };
    const { shown } = hear([
      ['s2', half],
      ['s1', { event: 'ended' }],
      ['s2', { event: 'ended' }],
    ]);
    expect(shown).to.deep.equal([{ kind: 'stderr', stage: 2, host: 'h2', data: Buffer.from('half\n') }]);
  });

  it('reports the last totals of its programs', () => {
    const slow = { event: 'slowest', of: 'files', paths: [{ path: hexPath('/t/big'), bytes: 9, ms: 1200 }] };
    const { report } = hear([
      FOUND,
      ['s2', printed(2, progress({ same: 34, files: 34, same_files: 30, same_bytes: 900 }))],
      ['s2', printed(4, progress({ files: 5, bytes: 50 }, false), { event: 'warning', message: 'no xattrs' })],
      ['s2', printed(4, progress({ files: 1200, directories: 34, bytes: 5000, sent_bytes: 4000, removed: 2 }), slow)],
    ]);
    expect(report.status).to.equal(0);
    expect(report.copy).to.deep.equal({
      found: 1234,
      files: 1200,
      directories: 34,
      links: 0,
      bytes: 5000,
      same: 34,
      sameFiles: 30,
      sameBytes: 900,
      removed: 2,
      failed: 0,
      failures: [],
      link: 3,
      sentBytes: 4000,
      resumedBytes: 0,
      ownersRefused: 0,
      slowestFiles: [{ path: '/t/big', bytes: 9, ms: 1200, host: 'h2' }],
      slowestDirectories: [],
      warnings: [{ host: 'h2', message: 'no xattrs' }],
    });
  });

  it('reports the totals of compare if nothing else runs, as with --dry-run', () => {
    const { report } = hear([FOUND, ['s2', printed(2, progress({ same: 34, removed: 3 }))]]);
    expect(report.copy).to.include({ same: 34, removed: 3 });
  });

  it('reports what remains of files if it was interrupted', () => {
    const interrupted = hear([
      FOUND,
      ['s2', printed(4, { event: 'kept', path: hexPath('/t/big'), bytes: 900 }, progress({ files: 7 }, false))],
      failure(new SignalError('SIGINT')),
    ]);
    expect(interrupted.report.copy).to.deep.include({ files: 7, kept: [{ path: '/t/big', bytes: 900, host: 'h2' }] });
  });

  it('has status 23 when only some paths failed', () => {
    const { report } = hear([
      FOUND,
      ['s1', printed(1, failedPath('/d/a'))],
      ['s2', printed(4, failedPath('/t/b'), failedPath('/t/c', 'no space left on device'))],
      ...ended('s1', 1, {}),
      ...ended('s1', 3, {}),
    ]);
    expect(report).to.include({ status: 23, cause: 'copy', causeStage: null });
    expect(report.message).to.equal('3 of 1,234 paths failed');
    expect(report.copy?.failures).to.deep.equal([
      { path: '/d/a', message: 'permission denied', host: 'h1' },
      { path: '/t/b', message: 'permission denied', host: 'h2' },
      { path: '/t/c', message: 'no space left on device', host: 'h2' },
    ]);
    expect(hear([['s1', printed(3, failedPath('/d/a'))]]).report.message).to.equal('1 path failed');
    expect(hear([FOUND, ['s1', printed(3, failedPath('/d/a'))]]).report.message).to.match(/^1 of 1,234 paths failed$/);
  });

  it('sends its settings in one request to each host, which is not too long', () => {
    const request = (digits: number) =>
      prepareRequest(withSources('61'.repeat(digits / 2)), 's1', makeKeys(SEGMENT), {
        settings: { run: 'r', lenient: false, lease_ms: 1, connect_timeout_ms: 1 },
        label: () => 'h1',
      });
    expect(JSON.stringify(request(8_000_000)).length).to.be.greaterThan(16_000_000);
    expect(() => request(9_000_000)).to.throw(
      UsageError,
      'the stages of h1 are too long for one request: 17.2 MiB, at most 16.0 MiB (name fewer files and patterns, or list them in a file: rdcp --files-from FILE)',
    );
  });

  it('keeps the first 100 of the paths that failed, and counts them all', () => {
    const { copy } = hear([
      ['s2', printed(4, ...Array.from({ length: 250 }, (_, index) => failedPath(`/${index}`)))],
    ]).report;
    expect(copy).to.include({ failed: 250 });
    expect(copy?.failures).to.have.lengthOf(100);
    expect(copy?.failures.at(-1)?.path).to.equal('/99');
  });

  describe('of which something was left out', () => {
    const [ONE, OTHER] = ['1', '2'].map((digit) => digit.repeat(32)) as [string, string];
    const decisions = (stage: number, digest: string, dropped = 0, skipped = 0): Heard => [
      's2',
      printed(stage, { event: 'decisions', digest, dropped, skipped }),
    ];
    const dropped: Heard = ['s1', printed(3, failedPath('/d/a'))];
    const line =
      'h1 did not send exactly what h2 asked for, and gave no reason; its copy of rdpipe may have been tampered with';

    it('fails, and names the host that did', () => {
      for (const heard of [
        [decisions(2, ONE), decisions(4, OTHER)],
        [decisions(2, ONE), decisions(4, ONE, 1)],
        [dropped, decisions(2, ONE), decisions(4, ONE, 2)],
        [dropped, decisions(2, ONE), decisions(4, OTHER)],
      ])
        expect(hear(heard).report).to.include({ status: 125, cause: 'rdpipe', causeStage: 3, message: line });
    });

    it('fails where scan told only the target of failures or special files', () => {
      const message =
        'h1 left out a part of the source, and gave no reason; its copy of rdpipe may have been tampered with';
      const failed: Heard = ['s1', printed(1, failedPath('/d/a'))];
      const warned: Heard = ['s1', printed(1, { event: 'warning', message: '1 special file was skipped' })];
      for (const heard of [[decisions(2, ONE, 1)], [failed, decisions(2, ONE, 2)], [decisions(2, ONE, 0, 1)]])
        expect(hear(heard).report).to.include({ status: 125, cause: 'rdpipe', causeStage: 1, message });
      expect(hear([failed, decisions(2, ONE, 1)]).report.status).to.equal(23);
      expect(hear([warned, decisions(2, ONE, 0, 1)]).report.status).to.equal(0);
    });

    it('has status 23 where the host says why, and 0 where nothing was', () => {
      expect(hear([dropped, decisions(2, ONE), decisions(4, ONE, 1)]).report.status).to.equal(23);
      expect(hear([decisions(2, ONE), decisions(4, ONE)]).report.status).to.equal(0);
      expect(hear([decisions(4, ONE)]).report.status).to.equal(0);
    });
  });

  describe('that fails', () => {
    const fatal = (stage: number, code: string, message: string) => printed(stage, { event: 'fatal', code, message });
    const full: readonly Heard[] = [
      ['s2', fatal(4, 'sink_unwritable', '/data/x: no space left on device')],
      ...ended('s2', 4, { code: 7 }),
    ];
    const WORDS = 'cannot continue: h2: /data/x: no space left on device';

    it('reports the reason of the program that ended it, whatever followed', () => {
      const followed: readonly Heard[] = [
        ['s1', fatal(3, 'closed', 'the next program of the copy is gone')],
        ...ended('s1', 3, { code: 141 }),
        ['s1', fatal(1, 'peer_lost', 'the stream of the tree was cut off')],
        ...ended('s1', 1, { code: 5 }),
        ...ended('s2', 2, { signal: 9, stopped: true }),
        ['s2', linkFailed(3, 'recv', 'aborted', 'ended by the agent')],
      ];
      for (const heard of [
        [...full, ...followed],
        [...followed, ...full],
      ]) {
        const { report } = hear(heard);
        expect(report).to.include({ status: 125, cause: 'rdpipe', causeStage: 4, message: WORDS });
      }
    });

    it('is a usage error if a program reports one', () => {
      const wrong = hear([
        ['s1', fatal(1, 'usage', "the pattern '[' can match nothing")],
        ...ended('s1', 1, { code: 2 }),
      ]);
      expect(wrong.report).to.include({ status: 2, cause: 'usage', message: "the pattern '[' can match nothing" });
    });

    it('names the host that sent what was not asked for', () => {
      const message = 'a file that was not asked for: "x" (not a source)';
      const said = (stage: number) => {
        const session = stage % 2 === 0 ? 's2' : 's1';
        const heard: Heard[] = [
          [session, fatal(stage, 'not_requested', message)],
          ...ended(session, stage, { code: 8 }),
        ];
        const { report } = hear(heard);
        expect(report).to.include({ status: 125, cause: 'rdpipe' });
        return report.message;
      };
      const line = (host: string) =>
        `cannot continue: ${host} sent ${message}; its copy of rdpipe may have been tampered with`;
      expect([said(2), said(4)]).to.deep.equal([line('h1'), line('h1')]);
      expect(said(3)).to.equal(line('h2'));
    });

    it('then counts no failed paths', () => {
      expect(hear([...full, ['s1', printed(3, failedPath('/d/a'))]]).report).to.include({
        status: 125,
        message: WORDS,
      });
    });

    it('has the network as its cause rather than its effects on the programs', () => {
      const cut: readonly Heard[] = [
        ['s2', fatal(4, 'peer_lost', 'the stream of the tree was cut off')],
        ...ended('s2', 4, { code: 5 }),
      ];
      const silent: Heard = ['s1', linkFailed(3, 'send', 'peer_lost', 'connection reset')];
      expect(hear([...cut, silent]).report.message).to.contain('h1 lost h2: connection reset');
      const lost = failure(new SessionError('session_lost', 'h2', 'lost the session to h2'));
      expect(hear([...cut, lost]).report.message).to.equal('lost the session to h2');
      expect(hear([...cut]).report.message).to.equal('cannot continue: h2 (write): the stream of the tree was cut off');
      expect(hear([failure(new SignalError('SIGINT')), ...cut]).report).to.include({ status: 130, cause: 'signal' });
    });

    it('names a program that ended without a reason', () => {
      expect(hear(ended('s1', 1, { signal: 9 })).report.message).to.equal('h1 (scan) was killed by SIGKILL');
      expect(hear(ended('s1', 3, { code: 10 })).report.message).to.equal(
        'h1 (read) exited with status 10 without giving a reason',
      );
      const failed: Heard = [
        's2',
        { event: 'failed', stage: 2, code: 'internal', message: 'there is no rdtree in /x' },
      ];
      expect(hear([failed]).report.message).to.equal('h2 (compare): there is no rdtree in /x');
    });

    it('is complete if only the last acknowledgement was lost', () => {
      const { report } = hear([
        ...ended('s2', 4, {}),
        ['s2', linkEnded(3, 'recv')],
        ['s1', linkFailed(3, 'send', 'peer_lost', 'connection reset')],
      ]);
      expect(report.message).to.match(/; h2: the copy is complete, but the final acknowledgement did not reach h1$/);
    });
  });
});

const [SEGMENT] = COPY_PLAN.segments as [Segment];

/** Scan and read get the sources. */
function withSources(source: string): Segment {
  const stages = SEGMENT.stages.map((planned) => {
    const { stage } = planned;
    if (stage.kind !== 'tree') return planned;
    return { ...planned, stage: { ...stage, settings: { ...stage.settings, sources: [source] } } };
  });
  return { ...SEGMENT, stages };
}

/** All messages about a stage that runs and exits. */
function ended(session: 's1' | 's2', stage: number, how: Parameters<typeof exited>[1]): Heard[] {
  return ran(stage, how).map((event): Heard => [session, event]);
}

function failure(error: SessionError | SignalError): Failure {
  return { kind: 'error', error };
}

function hear(heard: readonly Heard[]) {
  const shown: RunEvent[] = [];
  const prepared = new Set<string>();
  const record = createRecord(
    COPY_PLAN,
    false,
    (event) => shown.push(event),
    () => {},
  );
  for (const item of heard) {
    if ('kind' in item) record.fail(item);
    else if (item[1].event !== 'prepared' || !prepared.has(item[0])) record.receive(...item);
    if (!('kind' in item) && item[1].event === 'prepared') prepared.add(item[0]);
  }
  return { shown, report: makeReport(COPY_PLAN, record.state, false, 1) };
}
