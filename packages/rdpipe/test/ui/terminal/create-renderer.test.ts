import { expect } from 'chai';
import { jsonLines } from '../../../../../test/support/json-output.ts';
import type { Settings } from '../../../src/model/settings.ts';
import {
  createRenderer,
  type OutputDestination,
  type RendererSettings,
} from '../../../src/ui/terminal/create-renderer.ts';
import type { Terminal } from '../../../src/ui/terminal/terminal.ts';
import { createPage, createScreen, type Page, planFor, report } from '../helpers.ts';
import { intervals } from '../intervals.ts';

const SETTINGS: RendererSettings = {
  json: false,
  quiet: false,
  verbosity: 0,
  dryRun: false,
  stderr: 'auto',
  prefix: true,
  progress: 'auto',
  sizeBytes: undefined,
};

interface Where {
  readonly isTerminal: boolean;
  readonly output: OutputDestination;
  readonly color?: boolean;
}

/** All output for a run of 10 s over one hop, including control sequences of the terminal. */
async function pageOf(settings: Partial<RendererSettings>, where: Where): Promise<string> {
  const page: Page = createPage();
  const stream = where.isTerminal ? createScreen(page) : undefined;
  const { isTerminal } = where;
  const terminal: Terminal = { isTerminal, stream, color: where.color ?? false, write: page.write };
  const { output } = where;
  const renderer = await createRenderer({ ...SETTINGS, ...settings }, { terminal, output });
  renderer.handle({ kind: 'connecting', hosts: ['h1'] });
  renderer.handle({ kind: 'planned', plan: planFor(['h1:a', 'h2:b']) });
  renderer.handle({ kind: 'segment_started', segment: 1 });
  intervals.tick(10_000);
  renderer.handle({ kind: 'finished', report: report({ message: 'broken', status: 125 }) });
  renderer.close();
  return page.text;
}

describe('create-renderer', () => {
  beforeEach(() => intervals.enable());
  afterEach(() => intervals.reset());

  const FILE: Where = { isTerminal: false, output: 'elsewhere' };
  const SCREEN: Where = { isTerminal: true, output: 'elsewhere' };
  const SHARED: Where = { isTerminal: true, output: 'announced' };
  const PIPED: Where = { isTerminal: true, output: 'unknown' };

  /** Booleans: the spinner is shown, live rows are shown, lines are shown. */
  const CASES: readonly (readonly [Settings['progress'], Where, string, readonly [boolean, boolean, boolean]])[] = [
    ['auto', FILE, 'a file', [false, false, false]],
    ['auto', SCREEN, 'a terminal', [true, true, false]],
    ['auto', SHARED, 'a terminal with output that is announced', [true, true, false]],
    ['auto', PIPED, 'a terminal with output that is not', [true, false, false]],
    ['live', FILE, 'a file', [false, false, true]],
    ['live', SCREEN, 'a terminal', [true, true, false]],
    ['live', SHARED, 'a terminal with output that is announced', [true, true, false]],
    ['live', PIPED, 'a terminal with output that is not', [false, false, true]],
    ['plain', SCREEN, 'a terminal', [false, false, true]],
    ['plain', FILE, 'a file', [false, false, true]],
    ['none', SCREEN, 'a terminal', [false, false, false]],
  ];
  for (const [progress, where, name, expected] of CASES) {
    it(`shows ${progress} progress on ${name}`, async () => {
      const text = await pageOf({ progress }, where);
      const lines = text.includes('rdpipe: h1→h2');
      expect([text.includes('connecting to h1'), !lines && text.includes('h1→h2'), lines]).to.deep.equal(expected);
      expect(text).to.match(/rdpipe: broken\n$/);
    });
  }

  it('shows the failure only with -q', async () => {
    expect(await pageOf({ quiet: true, progress: 'live' }, SCREEN)).to.equal('rdpipe: broken\n');
  });

  it('shows JSON only with --json', async () => {
    const text = await pageOf({ json: true, progress: 'live', verbosity: 2 }, SCREEN);
    expect(jsonLines(text, 'run').map(({ kind }) => kind)).to.deep.equal([
      'connecting',
      'planned',
      'segment_started',
      'report',
    ]);
  });

  it('has colors if the terminal has', async () => {
    expect(await pageOf({}, { ...SCREEN, color: true })).to.contain('\u001b[31mrdpipe:\u001b[39m broken\n');
  });
});
