import { expect } from 'chai';
import fc from 'fast-check';
import type { RunEvent } from '../../../src/model/events.ts';
import { widthOf } from '../../../src/model/width.ts';
import { NO_COLORS } from '../../../src/ui/terminal/colors.ts';
import { createCopyView } from '../../../src/ui/terminal/copy.ts';
import { createCopyProgress } from '../../../src/ui/terminal/copy-progress.ts';
import { copyLine, copyRows } from '../../../src/ui/terminal/copy-rows.ts';
import { createNoDisplay } from '../../../src/ui/terminal/display.ts';
import type { HopProgress } from '../../../src/ui/terminal/progress.ts';
import { copyReport, createPage, planFor, report, tree, treeProgress } from '../helpers.ts';

const GIB = 1024 ** 3;

const HOP: HopProgress = {
  link: 3,
  group: 0,
  name: 'h1→h2',
  from: 'h1',
  to: 'h2',
  host: 'h2',
  state: 'running',
  bytes: 0,
  compress: 0,
  wireBytes: 0,
  bytesPerSecond: 0,
  waitsFor: 'output',
  reconnecting: false,
  size: undefined,
  secondsLeft: undefined,
};

/** A plan of four stages, the third of which reads. */
function planOfCopy(): Extract<RunEvent, { kind: 'planned' }>['plan'] {
  const plan = planFor(['h1:scan', 'h2:compare', 'h1:read', 'h2:write']);
  const roles = ['scan', 'compare', 'read', 'write'] as const;
  const segments = plan.segments.map((segment) => ({
    ...segment,
    stages: segment.stages.map((planned, index) => {
      const { number, host, text } = planned.stage;
      const settings = { role: roles[index] ?? 'scan', run: 'a' };
      return { ...planned, stage: { kind: 'tree' as const, number, host, text, settings } };
    }),
  }));
  return { ...plan, segments };
}

function progressWith(hop?: Partial<HopProgress>) {
  const clock = { ms: 0 };
  const plan = planOfCopy();
  const link = plan.segments[0]?.stages[2]?.out ?? -1;
  const progress = createCopyProgress(
    () => (hop === undefined ? [] : [{ ...HOP, link, ...hop }]),
    () => clock.ms,
  );
  progress.planned(plan);
  return { progress, clock };
}

/** Half of 8 GiB after two seconds; the scan is finished. */
function halfWay(hop?: Partial<HopProgress>) {
  const { progress, clock } = progressWith(hop);
  progress.tree(tree('scan', treeProgress({ files: 20_000, bytes: 8 * GIB, done: true })));
  progress.tree(tree('write', treeProgress({})));
  clock.ms = 2000;
  progress.tree(tree('write', treeProgress({ files: 10_000, bytes: 4 * GIB, path: '/t/dir/a file' })));
  return { progress, clock };
}

describe('the rows of a copy', () => {
  it('show totals, rates, time left and the reason for waiting', () => {
    const { progress } = halfWay({});
    expect(copyRows(progress.state(), 120)).to.deep.equal([
      '10,000 files  4.0 GiB of 8.0 GiB  50%  2.000 GiB/s  5,000 files/s  ETA 0:02  waiting for destination',
      '  /t/dir/a file',
    ]);
    expect(copyLine(progress.state())).to.have.length(1);
  });

  it('drop cells that do not fit, and cut the beginning of a path', () => {
    const { progress } = halfWay({});
    const state = progress.state();
    expect(copyRows(state, 79)[0]).to.equal(
      '10,000 files  4.0 GiB of 8.0 GiB  50%  2.000 GiB/s  5,000 files/s  ETA 0:02',
    );
    expect(copyRows(state, 60)[0]).to.equal('10,000 files  4.0 GiB of 8.0 GiB  50%  2.000 GiB/s  ETA 0:02');
    expect(copyRows(state, 14)).to.deep.equal(['10,000 files', '  …/dir/a file']);
    expect(copyRows(state, 8)[0]).to.equal('10,000 …');
  });

  it('fit any width', () => {
    const { progress } = halfWay({ waitsFor: 'wire' });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), (columns) => {
        for (const row of copyRows(progress.state(), columns)) expect(widthOf(row)).to.be.at.most(Math.max(columns, 2));
      }),
    );
  });

  it('count found paths until the scan is complete', () => {
    const { progress } = progressWith();
    expect(copyRows(progress.state(), 80)).to.deep.equal(['scanning: 0 files, 0 B so far']);
    progress.tree(tree('scan', treeProgress({ files: 45_678, bytes: 12 * GIB, path: 'src/x' })));
    expect(copyRows(progress.state(), 80)).to.deep.equal(['scanning: 45,678 files, 12.0 GiB so far', '  src/x']);
    progress.tree(tree('write', treeProgress({ files: 1, sent_bytes: 2048 })));
    expect(copyRows(progress.state(), 90)[0]).to.equal(
      '1 file  2.0 KiB  0 B/s  0 files/s  scanning: 45,678 files, 12.0 GiB so far',
    );
  });

  it('show a percentage of everything found, unchanged paths included', () => {
    const { progress } = progressWith();
    progress.tree(tree('scan', treeProgress({ files: 9, bytes: 8000, done: true })));
    progress.tree(tree('compare', treeProgress({ same: 9, same_files: 8, same_bytes: 4000 })));
    expect(copyRows(progress.state(), 80)[0]).to.match(/^8 files {2}3.9 KiB of 7.8 KiB {2}50% .* 8 unchanged$/);
    progress.tree(tree('copy', treeProgress({ sent_bytes: 1000, resumed_bytes: 1500 })));
    expect(copyRows(progress.state(), 80)[0]).to.match(/^8 files {2}6.3 KiB of 7.8 KiB {2}81% /);
    progress.tree(tree('copy', treeProgress({ files: 1, bytes: 4000, sent_bytes: 4000, done: true })));
    expect(copyRows(progress.state(), 80)[0]).to.match(/^9 files {2}7.8 KiB of 7.8 KiB {2}100% /);
  });

  it('reach the end if nothing changed, and if all files are empty', () => {
    const { progress, clock } = progressWith();
    progress.tree(tree('scan', treeProgress({ files: 400, bytes: 0, done: true })));
    progress.tree(tree('compare', treeProgress({})));
    clock.ms = 1000;
    progress.tree(tree('compare', treeProgress({ same_files: 100, path: '/t/a' })));
    expect(copyRows(progress.state(), 80)).to.deep.equal([
      '100 files  0 B of 0 B  25%  0 B/s  100 files/s  ETA 0:03  100 unchanged',
      '  /t/a',
    ]);
    progress.tree(tree('compare', treeProgress({ same_files: 400, done: true })));
    expect(copyRows(progress.state(), 80)[0]).to.match(/^400 files {2}0 B of 0 B {2}100% .*ETA 0:00/);
  });

  it('count two columns for a wide character', () => {
    const { progress } = progressWith();
    progress.tree(tree('scan', treeProgress({ path: `d/${'漢'.repeat(300)}` })));
    expect(copyRows(progress.state(), 20)[1]).to.equal(`  …${'漢'.repeat(8)}`);
    progress.tree(tree('scan', treeProgress({ path: '漢字/b' })));
    expect(copyRows(progress.state(), 8)[1]).to.equal('  漢字/b');
    expect(copyRows(progress.state(), 7)[1]).to.equal('  …字/b');
  });

  it('show that a connection broke, and drop an old rate', () => {
    const { progress, clock } = halfWay({ reconnecting: true });
    expect(copyRows(progress.state(), 120)[0]).to.match(/ {2}reconnecting$/);
    clock.ms = 1_000_000;
    expect(progress.state().bytesPerSecond).to.be.lessThan(5e6);
  });
});

const NORMAL = { verbosity: 0, quiet: false, isTerminal: false, isPlan: false };

function show(settings: Partial<typeof NORMAL>, events: readonly ReturnType<typeof tree>[]): string {
  const page = createPage();
  const { progress } = progressWith();
  const view = createCopyView({ ...NORMAL, ...settings }, createNoDisplay(page.write), progress, NO_COLORS);
  for (const event of events) view.tree(event);
  view.end();
  for (const line of view.closingLines(report({ copy: copyReport() }))) page.write(`${line}\n`);
  return page.text;
}

describe('the lines of a copy', () => {
  const failed = tree('scan', { event: 'failed', path: 'dir/file', code: 'EACCES', message: 'Permission denied' });
  const path = tree('write', { event: 'path', action: 'new', path: 'dir/file', bytes: 5 }, 'h2');
  const warning = tree('write', { event: 'warning', message: 'owners stay' }, 'h2');

  it('name failed paths at once, and nothing else in a pipe', () => {
    const text = 'rdcp: h1: dir/file: Permission denied\n';
    expect(show({}, [path, failed])).to.equal(text);
    expect(show({ quiet: true, isTerminal: true }, [path, failed, warning])).to.equal(text);
  });

  it('show totals on a terminal, and paths with -v', () => {
    expect(show({ isTerminal: true }, [path])).to.match(/^Copied 12,345 files.*\n$/);
    expect(show({ verbosity: 1 }, [path, warning])).to.match(
      /^new dir\/file\nrdcp: warning: h2: owners stay\nCopied 12,345 files.*\n$/,
    );
    expect(show({ isTerminal: true, isPlan: true }, [path])).to.equal('');
  });

  it('have hops and stages only with -vv', () => {
    const done = report({ copy: copyReport({ link: 1 }) });
    const linesWith = (settings: Partial<typeof NORMAL>) => {
      const { progress } = progressWith();
      return createCopyView(
        { ...NORMAL, ...settings },
        createNoDisplay(() => {}),
        progress,
        NO_COLORS,
      ).summaryLines(done);
    };
    expect(linesWith({ verbosity: 1 }).join('\n')).not.to.match(/^(hop|stage|Bandwidth)/m);
    expect(linesWith({ verbosity: 2 }).join('\n'))
      .to.match(/^Bandwidth/)
      .and.to.match(/^stage 1/m);
    expect(linesWith({ verbosity: 2, isPlan: true })).to.deep.equal([]);
  });

  it('say what an interrupted copy keeps, instead of its sums', () => {
    const interrupted = report({ copy: copyReport({ kept: [] }) });
    const linesWith = (settings: Partial<typeof NORMAL>) => {
      const { progress } = progressWith();
      const view = createCopyView(
        { ...NORMAL, ...settings },
        createNoDisplay(() => {}),
        progress,
        NO_COLORS,
      );
      return [...view.closingLines(interrupted), ...view.lastLines(interrupted)];
    };
    const kept = 'rdcp: 12,345 files done; run the same command to continue\n';
    expect(linesWith({ isTerminal: true })).to.deep.equal([kept]);
    expect(linesWith({ quiet: true })).to.deep.equal([]);
  });

  it('are at most fifty failures, and then their number', () => {
    const lines = show(
      {},
      Array.from({ length: 1284 }, () => failed),
    )
      .trimEnd()
      .split('\n');
    expect(lines).to.have.length(51);
    expect(lines.at(-1)).to.equal('rdcp: … and 1,234 more (--json lists all, --report the first)');
  });
});
