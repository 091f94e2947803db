// SPDX-License-Identifier: Apache-2.0
// rdssh at a terminal: typed input reaches the command, and Ctrl-C and Ctrl-D end it.
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { type Lab, useLab } from '../support/lab.ts';
import { needsTool } from '../support/needs.ts';
import { Tmux } from '../support/tmux.ts';

describe('rdssh at a terminal', () => {
  const lab = useLab();
  describe('types', () => tests(lab));
});

/** In a nested describe(), because its hooks run before the lab checks for processes that are left. */
function tests(lab: Lab): void {
  before(function () {
    needsTool(this, 'tmux');
  });
  afterEach(() => lab.endKeptConnections());

  async function onTerminal(use: (terminal: Tmux) => Promise<void>): Promise<void> {
    const terminal = await Tmux.open({ columns: 80, rows: 24 }, { cwd: lab.directory, env: lab.environment });
    try {
      await use(terminal);
    } finally {
      await terminal.close();
    }
  }

  it('lines, until Ctrl-D', () =>
    onTerminal(async (terminal) => {
      await terminal.start('rdssh h1 "echo on; while read x; do echo got \\$x; done; echo end"');
      await terminal.shows(/^on$/m);
      await terminal.type('abc');
      await terminal.shows(/^got abc$/m);
      await terminal.press('C-d');
      expect(await terminal.ended()).to.deep.equal({ status: 0, lines: ['on', 'abc', 'got abc', 'end'] });
      // The shell reads typed input again.
      expect(await terminal.run('echo hi')).to.deep.equal({ status: 0, lines: ['hi'] });
    }));

  it('Ctrl-C, and the command is gone', () =>
    onTerminal(async (terminal) => {
      await terminal.start('rdssh h1 "echo on; sleep 1000"; ended=$?; echo; (exit $ended)');
      await terminal.shows(/^on$/m);
      await terminal.press('C-c');
      expect(await terminal.ended()).to.deep.equal({ status: 255, lines: ['on', '^C'] });
      await eventually(() => expect(lab.processes('sleep')).to.deep.equal([]));
    }));

  it('to the shell, when the command ends without reading, and into a surrounding loop with -n', () =>
    onTerminal(async (terminal) => {
      expect(await terminal.run('rdssh h1 "echo hi; exit 3"')).to.deep.equal({ status: 3, lines: ['hi'] });
      expect(await terminal.run('rdssh -n h1 cat; rdssh h1 "seq 5" | head -1')).to.deep.equal({
        status: 0,
        lines: ['1'],
      });
      expect((await terminal.run('rdssh -t h1 tty')).lines[0]).to.match(/^\/dev\//);
    }));
}
