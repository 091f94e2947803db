import { mock } from 'node:test';
import { expect } from 'chai';
import { createPlainDisplay } from '../../../src/ui/terminal/plain.ts';
import { createPage, type Page } from '../helpers.ts';

describe('plain', () => {
  let page: Page;
  beforeEach(() => {
    mock.timers.enable({ apis: ['setInterval'] });
    page = createPage();
  });
  afterEach(() => mock.timers.reset());

  it('writes a line a hop every ten seconds', () => {
    const display = createPlainDisplay(page.write, () => ['h1→h2  1 B', 'h2→h3  0 B']);
    display.status('connecting');
    mock.timers.tick(20_000);
    expect(page.text).to.equal('');
    display.startRows();
    display.text('h1: hello\n');
    mock.timers.tick(10_000);
    expect(page.text).to.equal('h1: hello\nrdpipe: h1→h2  1 B\nrdpipe: h2→h3  0 B\n');
    mock.timers.tick(20_000);
    expect(page.text.match(/h1→h2/g)).to.have.lengthOf(3);
    display.stop();
    mock.timers.tick(20_000);
    expect(page.text.match(/h1→h2/g)).to.have.lengthOf(3);
  });

  it('is silent while it is paused', () => {
    const display = createPlainDisplay(page.write, () => ['row']);
    display.pause();
    display.resume();
    mock.timers.tick(20_000);
    expect(page.text).to.equal('');
    display.startRows();
    display.pause();
    mock.timers.tick(20_000);
    expect(page.text).to.equal('');
    display.resume();
    mock.timers.tick(10_000);
    expect(page.text).to.equal('rdpipe: row\n');
    display.stop();
  });
});
