import { expect } from 'chai';
import { createPlainDisplay, createSwitchingDisplay, type Display } from '../../../src/ui/terminal/display.ts';
import { createLiveDisplay } from '../../../src/ui/terminal/live.ts';
import { createProgress, type Progress } from '../../../src/ui/terminal/progress.ts';
import { progressRows, rowsWithoutOutput } from '../../../src/ui/terminal/progress-rows.ts';
import { counters, createPage, createScreen, type Page, planFor } from '../helpers.ts';
import { intervals } from '../intervals.ts';

/** The last control sequence of those that erase rows. */
const RESTORE_CURSOR = '\u001b8';

describe('a display that switches when output begins', () => {
  let page: Page;
  let progress: Progress;
  let display: Display;
  beforeEach(() => {
    intervals.enable();
    page = createPage();
    progress = createProgress(undefined, () => 0);
    progress.planned(planFor(['h1:a', 'h2:b'], { stdout: 'arrive' }));
    progress.segmentStarted(1);
    const rows = { at: (columns: number) => progressRows(progress.hops(), columns), stay: false };
    const live = createLiveDisplay(createScreen(page), page.write, rows);
    display = createSwitchingDisplay(live, createPlainDisplay(page.write, rowsWithoutOutput(progress)));
    display.startRows();
  });
  afterEach(() => {
    display.stop();
    intervals.reset();
  });

  it('erases the rows before it returns, for good', () => {
    expect(page.text).to.contain('h1→h2');
    page.text = '';
    display.output();
    display.output();
    expect(page.text.endsWith(RESTORE_CURSOR)).to.equal(true);
    display.text('h1: hello\n');
    display.pause();
    display.resume();
    intervals.tick(60_000);
    expect(page.text.endsWith(`${RESTORE_CURSOR}h1: hello\n`)).to.equal(true);
  });

  it('then writes lines only for periods in which data moved without output', () => {
    display.output();
    page.text = '';
    progress.counted(counters({ link: 1, bytes: 1024 }));
    progress.counted(counters({ link: 2, bytes: 6 }));
    intervals.tick(10_000);
    expect(page.text).to.equal('');
    progress.counted(counters({ link: 1, bytes: 2048 }));
    intervals.tick(10_000);
    expect(page.text).to.match(/^rdpipe: h1→h2 +2\.0 KiB .*\nrdpipe: h2→this machine +6 B .*\n$/);
    page.text = '';
    intervals.tick(60_000);
    expect(page.text).to.equal('');
  });
});

describe('a plain display', () => {
  let page: Page;
  beforeEach(() => {
    intervals.enable();
    page = createPage();
  });
  afterEach(() => intervals.reset());

  it('writes a line per hop every ten seconds', () => {
    const display = createPlainDisplay(page.write, () => ['h1→h2  1 B', 'h2→h3  0 B']);
    display.status('connecting');
    intervals.tick(20_000);
    expect(page.text).to.equal('');
    display.startRows();
    display.text('h1: hello\n');
    intervals.tick(10_000);
    expect(page.text).to.equal('h1: hello\nrdpipe: h1→h2  1 B\nrdpipe: h2→h3  0 B\n');
    intervals.tick(20_000);
    expect(page.text.match(/h1→h2/g)).to.have.lengthOf(3);
    display.stop();
    intervals.tick(20_000);
    expect(page.text.match(/h1→h2/g)).to.have.lengthOf(3);
  });

  it('is silent while it is paused', () => {
    const display = createPlainDisplay(page.write, () => ['row']);
    display.pause();
    display.resume();
    intervals.tick(20_000);
    expect(page.text).to.equal('');
    display.startRows();
    display.pause();
    intervals.tick(20_000);
    expect(page.text).to.equal('');
    display.resume();
    intervals.tick(10_000);
    expect(page.text).to.equal('rdpipe: row\n');
    display.stop();
  });
});
