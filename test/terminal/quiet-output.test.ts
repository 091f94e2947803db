// SPDX-License-Identifier: Apache-2.0
// The screen below a typed command, in real terminals:
// rows are shown until output arrives in the same place, and leave no traces in the output.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { useLab } from '../support/lab.ts';
import { needsTool } from '../support/needs.ts';
import { Tmux } from '../support/tmux.ts';

const CTRL_C = 'C-c';
const CTRL_Z = 'C-z';
/** A last stage that reads everything and prints nothing until the file `go` exists. */
const QUIET = 'cat > /dev/null; until test -e "$go"; do sleep 0.05; done; printf "one\\ntwo\\n"';

describe('rows on the terminal of the output', () => {
  const { lab, open, raw } = useScreens();

  it('are shown until its first byte, and leave nothing', async () => {
    const screen = await open(80, 24);
    await screen.type(`rdpipe h1:'head -c 5M /dev/zero' h2:'go=${lab.directory}/go; ${QUIET}'`);
    await screen.shows(/^h1→h2 +5\.0 MiB .*\nh2→this machine +0 B /m);
    go();
    await screen.shows(/^one\ntwo\n\$$/m);
    expect(await screen.screen()).not.to.contain('→');
    // The cursor is at the beginning of the first row: the rows below it are erased, then the output is printed.
    const written = await eventually(() => {
      expect(raw()).to.contain('\x1b8one\r\ntwo\r\n');
      return raw();
    });
    expect(written.slice(written.indexOf('one\r\n'))).not.to.contain('→');
  });

  it('leave nothing if there is no output', async () => {
    const screen = await open(80, 24);
    await screen.type(
      `rdpipe h1:'head -c 5M /dev/zero' h2:'cat > /dev/null; until test -e ${lab.directory}/go; do sleep 0.05; done'`,
    );
    await screen.shows(/^h1→h2 +5\.0 MiB /m);
    go();
    await eventually(async () => expect(await screen.screen()).not.to.contain('→'));
    await screen.shows(/\n\$$/);
  });

  it('become lines, ten seconds apart, while data moves without output', async () => {
    const screen = await open(80, 24);
    await screen.type(`rdpipe h1:'while sleep 0.1; do head -c 100K /dev/zero; done' h2:'echo begun; cat > /dev/null'`);
    await screen.shows(/^begun$/m);
    // Not at the first update, when the output has only just begun.
    await screen.shows(/^begun\n(?:rdpipe: .*\n)*rdpipe: h1→h2 +[\d.]+ MiB .*\nrdpipe: h2→this machine +6 B /m);
    await screen.press(CTRL_C);
    await screen.shows(/SIGINT/);
  });

  it('do not delay output when rdpipe cannot answer', async () => {
    const screen = await open(80, 24);
    await screen.type(`rdpipe h1:'head -c 5M /dev/zero' h2:'go=${lab.directory}/go; ${QUIET}'`);
    await screen.shows(/^h1→h2 +5\.0 MiB /m);
    const [rdpipe] = lab.processes().filter(({ program, command }) => program === 'node' && command.includes('rdpipe'));
    if (rdpipe === undefined) expect.fail('rdpipe does not run');
    process.kill(rdpipe.pid, 'SIGSTOP');
    await screen.shows(/Stopped/);
    go();
    await screen.shows(/one\n *two/);
    await screen.type('fg');
    await screen.shows(/\ntwo\nfg\n(?:.+\n)+\$$/);
  });

  for (const [what, last, shown] of [
    ['a command on this machine writes to the terminal', '', /^one\ntwo\n\$$/m],
    ['the lines of several hosts are gathered', 'h2,h3', /^h[23]: one\n(?:h[23]: \S+\n){3}\$$/m],
  ] as const) {
    it(`are not drawn if ${what}`, async () => {
      const screen = await open(80, 24);
      await screen.type(`rdpipe h1:'head -c 5M /dev/zero' ${last}:'go=${lab.directory}/go; ${QUIET}'`);
      await eventually(() => expect(lab.processes('sleep').length + lab.processes('sh').length).to.be.greaterThan(0));
      go();
      await screen.shows(shown);
      expect(raw()).not.to.contain('→');
    });
  }

  it('stay when the output goes to a file', async () => {
    const screen = await open(80, 24);
    await screen.type(`rdpipe h1:'head -c 5M /dev/zero' h2:cat > out`);
    await screen.shows(/^h1→h2 +5\.0 MiB .*\nh2→this machine +5\.0 MiB .*\n\$$/m);
    expect(readFileSync(join(lab.directory, 'out'))).to.have.lengthOf(5 << 20);
  });

  function go(): void {
    writeFileSync(join(lab.directory, 'go'), '');
  }
});

describe('rows on a terminal', () => {
  const { lab, open } = useScreens();
  /** Moves some data, then none. */
  const STANDS = `h1:'head -c 5M /dev/zero; exec sleep 600' h2:cat h3:'cat > /dev/null'`;

  it('are as wide as the terminal, and as many as fit', async () => {
    const screen = await open(60, 20);
    const stages = Array.from({ length: 24 }, (_, index) => `h${(index % 2) + 1}:cat`).join(' ');
    await screen.type(`rdpipe h3:'head -c 5M /dev/zero; exec sleep 600' ${stages} > /dev/null`);
    await screen.shows(/^(?:h\d→h\d .*\n){18}… 6 more$/m);
    await eventually(async () => expect((await screen.screen()).match(/5\.0 MiB/g)).to.have.length(18));
    expect((await screen.screen()).split('\n')).to.have.length(20);
    await screen.press(CTRL_C);
    await screen.shows(/SIGINT/);
  });

  it('stay intact when it becomes narrow, wide and low', async () => {
    const screen = await open(80, 24);
    await screen.type('seq 40');
    await screen.type(`rdpipe ${STANDS} > /dev/null`);
    await screen.shows(/^h1→h2 +5\.0 MiB .*waiting.*\nh2→h3 +5\.0 MiB .*$/m);
    for (const [columns, rows] of [
      [30, 24],
      [120, 24],
      [40, 8],
      [80, 24],
    ] as const) {
      await screen.resize({ columns, rows });
      await eventually(async () => {
        const lines = (await screen.screen()).split('\n');
        expect(
          lines.filter((line) => line.includes('→')),
          lines.join('\n'),
        ).to.have.length(2);
        expect(lines.at(-2)).to.match(/^h1→h2 /);
        expect(lines.at(-1)).to.match(/^h2→h3 /);
      });
    }
    await screen.press(CTRL_C);
    await screen.shows(/SIGINT/);
  });

  it('are not drawn in the background, while the user types', async () => {
    const screen = await open(80, 24);
    await screen.type(`rdpipe ${STANDS} > /dev/null &`);
    await eventually(() => expect(lab.processes('sleep')).to.have.length(1));
    await screen.type('seq 3');
    await screen.shows(/^1\n2\n3\n\$$/m);
    expect(await screen.screen()).not.to.contain('→');
    await screen.type('fg');
    await screen.shows(/^h1→h2 +5\.0 MiB .*\nh2→h3 +5\.0 MiB .*$/m);
    await screen.press(CTRL_C);
    await screen.shows(/SIGINT/);
  });

  it('disappear on Ctrl-Z, and return after fg', async () => {
    const screen = await open(80, 24);
    await screen.type(`rdpipe ${STANDS} > /dev/null`);
    await screen.shows(/^h1→h2 +5\.0 MiB .*\nh2→h3 +5\.0 MiB .*$/m);
    await screen.press(CTRL_Z);
    await screen.shows(/Stopped .*(?:\n.+)*\n\$$/);
    expect(await screen.screen()).not.to.match(/^h\d→h\d/m);
    await screen.type('fg');
    await screen.shows(/^h1→h2 +5\.0 MiB .*\nh2→h3 +5\.0 MiB .*$/m);
    expect((await screen.screen()).match(/^h1→h2/gm)).to.have.length(1);
    await screen.press(CTRL_C);
    await screen.shows(/SIGINT/);
  });
});

/** Opens one terminal per test. */
function useScreens() {
  let screen: Tmux | undefined;
  // Runs before the lab checks for leftovers.
  afterEach(() => screen?.close());
  const lab = useLab();
  before(function () {
    needsTool(this, 'tmux');
  });
  const open = async (columns: number, rows: number) => {
    screen = await Tmux.open({ columns, rows }, { cwd: lab.directory, env: lab.environment });
    await screen.record(join(lab.directory, 'raw'));
    return screen;
  };
  /** All bytes that were written to the terminal. */
  const raw = () => readFileSync(join(lab.directory, 'raw'), 'utf8');
  return { lab, open, raw };
}
