import { mock } from 'node:test';
import { expect } from 'chai';
import type { Display } from '../../src/ui/display.ts';
import { createLiveDisplay } from '../../src/ui/live.ts';
import { createPage, createScreen, type Page } from './helpers.ts';

/** What the page says once the marks of a terminal are taken away. */
function visible(page: Page): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return page.text.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, '');
}

describe('live', () => {
  let page: Page;
  let display: Display;
  let rows: readonly string[];
  beforeEach(() => {
    mock.timers.enable({ apis: ['setInterval'] });
    page = createPage();
    rows = ['h1→h2  1 B'];
    display = createLiveDisplay(createScreen(page), page.write, (columns) => rows.map((row) => `${row} of ${columns}`));
  });
  afterEach(() => {
    display.stop();
    mock.timers.reset();
  });

  /** What appears while `act` runs. */
  const appears = (act: () => void) => {
    page.text = '';
    act();
    return visible(page);
  };

  it('spins while it waits, and leaves nothing of that', () => {
    expect(appears(() => display.status('connecting to h1'))).to.contain('connecting to h1');
    display.status('connecting to h2');
    expect(appears(() => mock.timers.tick(100))).to.contain('connecting to h2');
    expect(appears(() => display.status(undefined))).not.to.contain('connecting');
    expect(appears(() => mock.timers.tick(1000))).to.equal('');
  });

  it('redraws rows as wide as the terminal', () => {
    expect(appears(() => display.startRows())).to.equal('h1→h2  1 B of 79\n');
    rows = ['h1→h2  2 B'];
    expect(appears(() => mock.timers.tick(100))).to.equal('h1→h2  2 B of 79\n');
    expect(appears(() => mock.timers.tick(100))).to.equal('');
  });

  it('writes text above the rows', () => {
    display.startRows();
    expect(appears(() => display.text('h1: hello\n'))).to.equal('h1: hello\nh1→h2  1 B of 79\n');
  });

  it('waits with the rows for the end of a line', () => {
    display.startRows();
    expect(appears(() => display.text(Buffer.from('raw')))).to.equal('raw');
    expect(appears(() => mock.timers.tick(1000))).to.equal('');
    expect(appears(() => display.text(Buffer.from(' end\n')))).to.equal(' end\nh1→h2  1 B of 79\n');
  });

  it('leaves the terminal alone while a question is put, several at a time too', () => {
    display.status('connecting to h1');
    display.pause();
    display.pause();
    expect(appears(() => mock.timers.tick(1000))).to.equal('');
    expect(appears(() => display.status('connecting to h2'))).to.equal('');
    expect(appears(() => display.resume())).to.equal('');
    expect(appears(() => display.resume())).to.contain('connecting to h2');
  });

  it('leaves the last rows when it stops', () => {
    display.startRows();
    rows = ['h1→h2  3 B'];
    expect(appears(() => display.stop())).to.equal('h1→h2  3 B of 79\n');
    expect(appears(() => mock.timers.tick(1000))).to.equal('');
    expect(appears(() => display.stop())).to.equal('');
  });

  it('draws nothing without hops', () => {
    rows = [];
    expect(appears(() => display.startRows())).to.equal('');
    expect(appears(() => display.text('x\n'))).to.equal('x\n');
    expect(appears(() => display.stop())).to.equal('');
  });
});
