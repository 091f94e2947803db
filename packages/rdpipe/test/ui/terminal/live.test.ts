import { expect } from 'chai';
import type { Display } from '../../../src/ui/terminal/display.ts';
import { createLiveDisplay } from '../../../src/ui/terminal/live.ts';
import { createPage, createScreen, type Page } from '../helpers.ts';
import { intervals } from '../intervals.ts';

/** The text of the page without control sequences of a terminal. */
function visible(page: Page): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression matches control sequences
  return page.text.replace(/\u001b(?:\[[0-9;?]*[A-Za-z]|[78])|\r(?!\n)/g, '').replaceAll('\r\n', '\n');
}

/** Erases the cursor's row, then all rows below, but never the whole screen at once. */
const ERASED = '\r\u001b[K\u001b7\u001b[B\u001b[J\u001b8';

describe('live', () => {
  let page: Page;
  let screen: NodeJS.WriteStream;
  let display: Display;
  let rows: readonly string[];
  beforeEach(() => {
    intervals.enable();
    page = createPage();
    screen = createScreen(page);
    rows = ['h1→h2  1 B'];
    display = createLiveDisplay(screen, page.write, {
      at: (columns) => rows.map((row) => `${row} of ${columns}`),
      stay: true,
    });
  });
  afterEach(() => {
    display.stop();
    intervals.reset();
  });

  /** The text that appears while `act` runs. */
  const appears = (act: () => void) => {
    page.text = '';
    act();
    return visible(page);
  };

  it('shows a spinner while it waits, and erases it', () => {
    expect(appears(() => display.status('connecting to h1'))).to.contain('connecting to h1');
    display.status('connecting to h2');
    expect(appears(() => intervals.tick(100))).to.contain('connecting to h2');
    expect(appears(() => display.status(undefined))).not.to.contain('connecting');
    expect(appears(() => intervals.tick(1000))).to.equal('');
  });

  it('keeps the spinner in one row, however long the text', () => {
    display.status('connecting to a host '.repeat(9));
    intervals.tick(100);
    display.status(undefined);
    expect(page.text).to.contain('…').and.not.to.contain('<up ');
  });

  it('redraws rows as wide as the terminal', () => {
    expect(appears(() => display.startRows())).to.equal('h1→h2  1 B of 79');
    rows = ['h1→h2  2 B'];
    expect(appears(() => intervals.tick(100))).to.equal('h1→h2  2 B of 79');
    expect(appears(() => intervals.tick(100))).to.equal('');
    screen.columns = 60;
    expect(appears(() => intervals.tick(100))).to.equal('h1→h2  2 B of 59');
  });

  it('erases rows from the beginning of the first, however the terminal has wrapped them', () => {
    rows = ['h1→h2  1 B', 'h2→h3  1 B'];
    display.startRows();
    expect(page.text).to.contain('h1→h2  1 B of 79\u001b[K\r\nh2→h3  1 B of 79\u001b[?7h\u001b[J\u001b[1A\r');
    page.text = '';
    display.pause();
    expect(page.text).to.equal(ERASED);
  });

  it('shows as many rows as fit the terminal, and all of them at the end', () => {
    screen.rows = 4;
    rows = ['1', '2', '3', '4', '5'];
    expect(appears(() => display.startRows())).to.equal('1 of 79\n2 of 79\n… 3 more');
    screen.rows = 6;
    expect(appears(() => intervals.tick(100))).to.match(/^1 of 79\n.*\n5 of 79$/s);
    screen.rows = 3;
    intervals.tick(100);
    expect(appears(() => display.stop())).to.match(/^1 of 79\n.*\n5 of 79\n$/s);
  });

  it('writes text above the rows when it redraws them, at most ten times a second', () => {
    display.startRows();
    const lines = Array.from({ length: 1000 }, (_, line) => `h1: ${line}\n`);
    const writeAll = () => {
      for (const line of lines) display.text(line);
    };
    expect(appears(writeAll)).to.equal('');
    expect(appears(() => intervals.tick(100))).to.equal(`${lines.join('')}h1→h2  1 B of 79`);
    for (const act of [() => display.pause(), () => display.output(), () => display.stop()]) {
      display.startRows();
      expect(appears(() => display.text('h1: last\n'))).to.equal('');
      expect(appears(act)).to.match(/^h1: last\n/);
      display.resume();
    }
  });

  it('draws rows only after the end of a line', () => {
    display.startRows();
    expect(appears(() => display.text(Buffer.from('raw')))).to.equal('raw');
    expect(appears(() => intervals.tick(1000))).to.equal('');
    expect(appears(() => display.text(Buffer.from(' end\n')))).to.equal(' end\nh1→h2  1 B of 79');
  });

  it('does not draw while questions are asked, also several at a time', () => {
    display.status('connecting to h1');
    display.pause();
    display.pause();
    expect(appears(() => intervals.tick(1000))).to.equal('');
    expect(appears(() => display.status('connecting to h2'))).to.equal('');
    expect(appears(() => display.resume())).to.equal('');
    expect(appears(() => display.resume())).to.contain('connecting to h2');
  });

  it('leaves the last rows when it stops', () => {
    display.startRows();
    rows = ['h1→h2  3 B'];
    expect(appears(() => display.stop())).to.equal('h1→h2  3 B of 79\n');
    expect(appears(() => intervals.tick(1000))).to.equal('');
    expect(appears(() => display.stop())).to.equal('');
  });

  it('erases rows that are not to stay', () => {
    display = createLiveDisplay(screen, page.write, { at: () => rows, stay: false });
    expect(appears(() => display.startRows())).to.equal('h1→h2  1 B');
    expect(appears(() => display.stop())).to.equal('');
    expect(page.text).to.equal(ERASED);
  });

  it('draws nothing without hops', () => {
    rows = [];
    expect(appears(() => display.startRows())).to.equal('');
    display.text('x\n');
    expect(appears(() => display.stop())).to.equal('x\n');
  });
});
