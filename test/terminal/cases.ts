// SPDX-License-Identifier: Apache-2.0
// The screen of a terminal of a given size, with commands typed at bash:
// the built bundle or an installed copy of it.
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { widthOf } from '../../packages/rdpipe/src/model/width.ts';
import { eventually } from '../support/eventually.ts';
import { useLab } from '../support/lab.ts';
import { needsTool } from '../support/needs.ts';
import { type Shown, type TerminalSize, Tmux } from '../support/tmux.ts';

/** The numbers of a copy, and its current file. */
const ROWS_OF_COPY = /^\d files {2}(?:[\d.]+ MiB of 16.0 MiB {2})?\d+% .*\n {2}\S+\/[1-4]$/m;
/** Rates of a copy that must be visible while it runs: a slow machine notices only a slow copy. */
const LIMITS = ['4M', '1M', '250K'];

export function describeTerminal(copy: 'checkout' | 'installed', size: TerminalSize): void {
  describe(`the ${copy === 'installed' ? 'installed' : 'built'} rdpipe at ${size.columns}x${size.rows}`, () => {
    before(function () {
      needsTool(this, 'tmux', 'less');
    });
    const lab = useLab({ copy });

    async function onTerminal(use: (terminal: Tmux) => Promise<void>, term?: string): Promise<void> {
      const terminal = await Tmux.open(size, { cwd: lab.directory, env: lab.environment, term });
      try {
        await use(terminal);
      } finally {
        await terminal.close();
      }
    }

    /** The command of a stage that prints lines until `letGo`. */
    const flowing = () => `cd ${lab.directory}; until test -e open; do echo body; done`;
    const sinkHere = () => `h2:'> ${lab.directory}/out'`;
    const letGo = () => lab.write('open', Buffer.alloc(0));

    /** The rows of hops on the screen; expects that none is wrapped. */
    function rowsOf({ lines }: Shown): string[] {
      const rows = lines.filter((line) => /^\S+→/.test(line));
      for (const row of rows) expect([...row].length, row).to.be.below(size.columns);
      return rows.map((row) => row.slice(0, 'h1→h2'.length));
    }

    /** Expects that no line is wider than the terminal, except for a word that is. */
    function expectUnbroken({ lines }: Shown): void {
      const broken = lines.filter((line) => widthOf(line) > size.columns && /\S\s+\S/.test(line));
      expect(broken).to.deep.equal([]);
    }

    it('runs the main job and leaves only its output on the screen', () =>
      onTerminal(async (terminal) => {
        const shown = await terminal.run("echo hi | rdpipe h1:'tr a-z A-Z' h2:rev");
        expect(shown).to.deep.equal({ status: 0, lines: ['IH'] });
        expect(await terminal.cursorIsVisible()).to.equal(true);
      }));

    it('shows one row per hop while a stream flows, and leaves the last ones', () =>
      onTerminal(async (terminal) => {
        await terminal.start(`rdpipe h1:'${flowing()}' h2:cat h3:'> ${lab.directory}/out'`);
        await terminal.shows(/^h1→h2 .*[KM]iB[\s\S]*^h2→h3 .*[KM]iB/m);
        await letGo();
        const shown = await terminal.ended();
        expect(shown.status).to.equal(0);
        expect(rowsOf(shown)).to.deep.equal(['h1→h2', 'h2→h3']);
        expect(shown.lines).to.have.length(2);
      }));

    it('shows a copy in two rows while it runs, and its totals in one line', () =>
      onTerminal(async (terminal) => {
        await lab.sh('mkdir tree; for i in 1 2 3 4; do head -c 4M /dev/zero | tr "\\0" "$i" > tree/$i; done');
        let screen = '';
        for (const limit of LIMITS) {
          await lab.sh('rm -rf new');
          await terminal.start(`rdcp -r --limit ${limit} h1:${lab.directory}/tree h2:${lab.directory}/new`);
          screen = await terminal.shows(new RegExp(`${ROWS_OF_COPY.source}|^status `, 'm'));
          const shown = await terminal.ended();
          expect(shown.status).to.equal(0);
          expect(shown.lines).to.have.length(1);
          expect(shown.lines[0]).to.match(/^Copied 4 files, 16.0 MiB in /);
          if (ROWS_OF_COPY.test(screen)) break;
        }
        expect(screen).to.match(ROWS_OF_COPY);
      }));

    it('ends a copy on Ctrl-C with one line, and resumes it', () =>
      onTerminal(async (terminal) => {
        await lab.sh('mkdir -p tree/d; echo x > tree/d/x; head -c 32M /dev/zero | tr "\\0" x > tree/large');
        const line = (more: string) => `rdcp -r ${more} h1:${lab.directory}/tree/ h2:${lab.directory}/new`;
        let shown: Shown = { status: 0, lines: [] };
        for (const limit of LIMITS) {
          await lab.sh('rm -rf new');
          await terminal.start(line(`--limit ${limit}`));
          await terminal.shows(/ (?:[3-9]|[1-9]\d)% .*\n|^status /m);
          await terminal.press('C-c');
          shown = await terminal.ended();
          if (shown.status !== 0) break;
        }
        expect(shown.status).to.equal(130);
        expect(shown.lines.filter((text) => text.startsWith('rdcp: '))).to.deep.equal(['rdcp: ended by SIGINT']);
        await eventually(() => expect(lab.processes('rdtree')).to.deep.equal([]));
        const left = (await lab.sh('find new -type f')).text.trimEnd().split('\n');
        expect(left.filter((path) => !/^new\/(\.rdcp-[0-9a-f]{32}|d\/x)$/.test(path))).to.deep.equal([]);
        const again = await terminal.run(line(''));
        expect(again.status).to.equal(0);
        expect((await lab.sh('cmp tree/large new/large; find new -name ".rdcp*"')).text).to.equal('');
      }));

    it('prints a summary with -v', () =>
      onTerminal(async (terminal) => {
        const shown = await terminal.run("rdpipe -v h1:'head -c 64M /dev/zero' h2:'wc -c'");
        expect(shown.status).to.equal(0);
        expect(shown.lines).to.include('67108864');
        expectUnbroken(shown);
        expect(shown.lines.join('\n'))
          .to.match(/^Bandwidth [\d.]+ [MG]iB\/s/m)
          .and.to.match(/^stage 2 +h2 +succeeded/m);
      }));

    it('shows the plan with -n, and starts nothing', () =>
      onTerminal(async (terminal) => {
        const shown = await terminal.run(
          `rdpipe -n --compress zstd --limit 2M h1:'touch ${lab.directory}/started' h2:cat`,
        );
        expect(shown.status).to.equal(0);
        expectUnbroken(shown);
        expect(shown.lines.join('\n'))
          .to.match(/h1→h2 tcp/)
          .and.match(/ at\s+most\s+2 MB\/s$/m)
          .and.not.match(/connecting/);
        expect(await lab.list()).not.to.include('started');
      }));

    it('shows why a run failed, last on the screen', () =>
      onTerminal(async (terminal) => {
        const shown = await terminal.run("rdpipe h1:'echo part; exit 3' h2:'cat >/dev/null'");
        expect(shown.status).to.equal(3);
        expect(shown.lines.join(' ')).to.match(/rdpipe: stage 1 \(h1: echo part; exit 3\) exited with status 3/);
      }));

    it('runs the demo', () =>
      onTerminal(async (terminal) => {
        const shown = await terminal.run('rdpipe demo');
        expect(shown.status, shown.lines.join('\n')).to.equal(0);
        expect(shown.lines).to.include('IH');
        expect(shown.lines.join('\n')).to.match(/^Bandwidth [\d.]+ [MG]iB\/s/m);
      }));

    it('examines hosts with doctor', () =>
      onTerminal(async (terminal) => {
        const shown = await terminal.run('rdpipe doctor h1 h2');
        expect(shown.status, shown.lines.join('\n')).to.be.oneOf([0, 1]);
        expectUnbroken(shown);
        expect(shown.lines.join('\n')).to.match(/h1/).and.to.match(/h2/);
        expect(shown.lines.join('\n')).not.to.match(/internal error|connecting/);
      }));

    it('measures with bench', () =>
      onTerminal(async (terminal) => {
        const shown = await terminal.run('rdpipe bench --rounds 1 --size 4M h1 h2');
        expect(shown.status).to.equal(0);
        expectUnbroken(shown);
        expect(shown.lines.join('\n')).to.match(/MiB\/s/);
      }));

    it('asks for a host key and for a passphrase, which is not shown', () =>
      onTerminal(async (terminal) => {
        const key = join(lab.directory, 'locked');
        execaSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', 'secret word', '-f', key]);
        const known = `-o UserKnownHostsFile=${lab.directory}/known -o StrictHostKeyChecking=ask`;
        await lab.authorize(`${key}.pub`);
        await terminal.start(`echo hi | rdpipe ${known} -o IdentityFile=${key} h1:'tr a-z A-Z'`);
        await terminal.shows(/^h1: [\s\S]*yes\/no[\s\S]*\? *$/m);
        await terminal.type('yes');
        await terminal.shows(/passphrase/);
        await terminal.type('secret word');
        const shown = await terminal.ended();
        expect(shown.status).to.equal(0);
        expect(shown.lines.at(-1)).to.equal('HI');
        expect(shown.lines.join('\n')).not.to.match(/secret word/);
      }));

    it('ends on Ctrl-C and leaves the terminal as it was', () =>
      onTerminal(async (terminal) => {
        await terminal.run('stty -g >before');
        await terminal.start(`rdpipe h1:'${flowing()}' ${sinkHere()}`);
        await terminal.shows(/^h1→h2 .*[KM]iB/m);
        await terminal.press('C-c');
        await terminal.shows(/^\$$/m);
        const shown = await terminal.run('stty -g | cmp - before && rdpipe :true');
        expect(shown).to.deep.equal({ status: 0, lines: [] });
        expect(await terminal.cursorIsVisible()).to.equal(true);
        expect(await lab.list()).not.to.include('out');
      }));

    it('stops on Ctrl-Z and resumes after fg', () =>
      onTerminal(async (terminal) => {
        await terminal.start(`rdpipe h1:'${flowing()}' ${sinkHere()}`);
        await terminal.shows(/^h1→h2 .*[KM]iB/m);
        await terminal.press('C-z');
        await terminal.shows(/Stopped[\s\S]*^\$$/m);
        await terminal.start('fg');
        await terminal.shows(/^h1→h2 .*[KM]iB/m);
        await letGo();
        const shown = await terminal.ended();
        expect(shown.status).to.equal(0);
        expect(rowsOf(shown)).to.deep.equal(['h1→h2']);
      }));

    it('redraws its rows when the terminal becomes narrower and wider', () =>
      onTerminal(async (terminal) => {
        // On a screen that is not full, tmux itself keeps broken rows above the screen and brings them back.
        await terminal.start(`seq 60; rdpipe h1:'${flowing()}' h2:cat h3:'> ${lab.directory}/out'`);
        await terminal.shows(/^h2→h3 .*[KM]iB/m);
        for (const columns of [40, 120, size.columns]) {
          await terminal.resize({ columns, rows: size.rows });
          await eventually(async () => {
            const rows = (await terminal.screen()).split('\n').filter((line) => line.includes('→'));
            expect(rows.map((row) => row.slice(0, 5))).to.deep.equal(['h1→h2', 'h2→h3']);
            for (const row of rows) expect([...row].length).to.be.below(columns);
          });
        }
        await letGo();
        expect((await terminal.ended()).status).to.equal(0);
      }));

    it('writes into a pager', () =>
      onTerminal(async (terminal) => {
        await terminal.start("rdpipe h1:'seq 1000' h2:cat | less");
        const screen = await terminal.shows(new RegExp(`^1\\n2\\n[\\s\\S]*^${size.rows - 1}\\n:`, 'm'));
        expect(screen).not.to.match(/→|rdpipe/);
        await terminal.press('G');
        // less discards keys that are typed while it waits for data.
        await terminal.shows(/^1000\n\(END\)/m);
        await terminal.press('q');
        expect((await terminal.ended()).status).to.equal(0);
      }));

    it('keeps the terminal modes that a pager set', () =>
      onTerminal(async (terminal) => {
        const waitFor = (file: string) => `until test -e ${lab.directory}/${file}; do sleep 0.05; done`;
        const pager = `${waitFor('began')}; stty -icanon -echo; stty -g >modes; touch open; ${waitFor('ended')}; stty -g`;
        const stage = `touch ${lab.directory}/began; ${waitFor('open')}`;
        await terminal.run(`{ rdpipe h1:'${stage}' h2:cat; touch ended; } | (${pager}) </dev/tty >after; stty sane`);
        expect((await lab.read('after')).toString()).to.equal((await lab.read('modes')).toString());
      }));

    it('ends when `head` has enough', () =>
      onTerminal(async (terminal) => {
        const shown = await terminal.run('rdpipe h1:yes h2:cat | head -2');
        expect(shown).to.deep.equal({ status: 0, lines: ['y', 'y'] });
      }));

    for (const [setting, isColored] of [
      ['', true],
      ['NO_COLOR=1 ', false],
    ] as const) {
      it(`uses ${isColored ? '' : 'no '}colors with '${setting}'`, () =>
        onTerminal(async (terminal) => {
          expect((await terminal.run(`${setting}rdpipe :false`)).status).to.equal(1);
          // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for them
          expect(/\u001b\[3\dm/.test(await terminal.coloredHistory())).to.equal(isColored);
        }));
    }

    it('sends no escape sequence to a dumb terminal', () =>
      onTerminal(async (terminal) => {
        await terminal.record(join(lab.directory, 'bytes'));
        await terminal.type(`rdpipe -v h1:'seq 100000' ${sinkHere()}; echo done`);
        await terminal.shows(/^done$/m);
        await eventually(async () => expect((await lab.read('bytes')).toString()).to.match(/^done\r$/m));
        const typed = (await lab.read('bytes')).toString().replaceAll('\u001b[?2004', '');
        expect(typed)
          .to.match(/^Bandwidth /m)
          .and.not.to.contain('\u001b');
      }, 'dumb'));
  });
}
