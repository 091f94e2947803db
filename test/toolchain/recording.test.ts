// SPDX-License-Identifier: Apache-2.0
// The terminal recording in README: screens become an animated image, which is small and accurate.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { terminalSvg } from '../../scripts/terminal-svg.ts';
import { ROOT } from '../support/root.ts';

const BYTES_MAX = 150_000;
const LOOK = { columns: 80, title: 'A terminal', holdMs: 1000 };

describe('the recording of a terminal', () => {
  it('shows each row as long as it was visible, and the last screen without motion', () => {
    const svg = terminalSvg(
      [
        { atMs: 0, screen: '$ \nsame' },
        { atMs: 1000, screen: '$ a<b\nsame' },
      ],
      LOOK,
    );
    expect(svg.match(/<text .*/g)).to.deep.equal([
      '<text x="14" y="27" textLength="8.4" class="k0-rs">$</text>',
      '<text x="14" y="27" textLength="42" class="end krs-1jk">$ a&lt;b</text>',
      '<text x="14" y="45" textLength="33.6" class="end">same</text>',
    ]);
    expect(svg).to.contain('@keyframes k0-rs{0%{visibility:visible}50%{visibility:hidden}}');
    expect(svg).to.contain('@keyframes krs-1jk{0%{visibility:hidden}50%{visibility:visible}}');
  });

  it('keeps colors', () => {
    const svg = terminalSvg([{ atMs: 0, screen: '\u001b[1m\u001b[31mrdpipe:\u001b[0m gone' }], LOOK);
    expect(svg).to.contain('<tspan class="c1 b">rdpipe:</tspan> gone</text>');
  });

  it('is small, and matches README', () => {
    const file = join(ROOT, 'docs/images/demo.svg');
    expect(statSync(file).size).to.be.below(BYTES_MAX);
    expect(readFileSync(file, 'utf8'))
      .to.match(/>IH</)
      .and.to.match(/h1→h2 .*100%/)
      .and.to.match(/exited with status 3/);
  });
});
