// SPDX-License-Identifier: Apache-2.0
// Producers whose consumer exits early: each dies of SIGPIPE, or exits as after any other error.
// None of it counts as a failure.
import { expect } from 'chai';
import { useLab } from '../support/lab.ts';
import { needsTool } from '../support/needs.ts';
import { reportOf } from '../support/report.ts';

interface Producer {
  readonly name: string;
  /** A stage's command; its output begins with a line `y` and is endless. */
  readonly command: string;
  readonly options?: string;
  /** The signal or the status with which it ends. */
  readonly signal?: number;
  readonly code?: number;
  readonly needs?: string;
}

const SIGPIPE = 13;
const PRODUCERS: readonly Producer[] = [
  { name: 'yes', command: 'exec yes', signal: SIGPIPE },
  { name: 'a shell around yes', command: 'yes; exit $?', code: 128 + SIGPIPE },
  { name: 'seq', command: 'echo y; exec seq 1000000000000', signal: SIGPIPE },
  { name: 'bash with pipefail', command: 'yes | cat', options: '--shell bash', code: 128 + SIGPIPE },
  {
    name: 'python3, which exits 1 on EPIPE',
    command: `exec python3 -c 'while True: print("y")' 2>/dev/null`,
    code: 1,
    needs: 'python3',
  },
  {
    name: 'a program that treats EPIPE like any other error, as in Go',
    command: `trap "" PIPE; yes 2>/dev/null`,
    code: 1,
  },
  {
    name: 'perl that ignores SIGPIPE and dies',
    command: `exec perl -e '$SIG{PIPE} = "IGNORE"; $| = 1; while (1) { print "y\\n" or exit 32 }'`,
    code: 32,
    needs: 'perl',
  },
  {
    name: 'git',
    command: `echo y; yes | head -c 20M > "$HOME/big"; exec git diff --no-index /dev/null "$HOME/big"`,
    signal: SIGPIPE,
    needs: 'git',
  },
  { name: 'dd', command: `echo y; trap "" PIPE; exec dd if=/dev/zero status=none 2>/dev/null`, code: 1 },
];

describe('a consumer that closes early is not a failure of', () => {
  const lab = useLab();

  for (const { name, command, options = '', needs, ...end } of PRODUCERS) {
    it(`${name}, on another host`, async function () {
      needsTool(this, ...(needs === undefined ? [] : [needs]));
      const { status, text, stderr } = await lab.sh(`rdpipe --json ${options} h1:"$COMMAND" h2:'head -n 1'`, {
        COMMAND: command,
      });
      expect({ status, text }, stderr).to.deep.equal({ status: 0, text: 'y\n' });
      const report = reportOf({ stderr });
      expect(report).to.include({ cause: null, message: null });
      expect(report.stages[0]).to.include({ state: 'consumer_closed', code: null, signal: null, ...end });
      expect(report.hops[0]?.result).to.equal('closed');
    });
  }

  for (const { name, command, needs } of PRODUCERS.filter(({ name }) => /^(yes|python3)/.test(name))) {
    it(`${name}, on the same host`, async function () {
      needsTool(this, ...(needs === undefined ? [] : [needs]));
      const result = await lab.sh(`rdpipe h1:"$COMMAND" h1:'head -n 1'`, { COMMAND: command });
      expect(result).to.include({ status: 0, text: 'y\n', stderr: '' });
    });

    it(`${name}, when standard output is closed`, async function () {
      needsTool(this, ...(needs === undefined ? [] : [needs]));
      const result = await lab.sh(`rdpipe h1:"$COMMAND" | head -n 1; exit \${PIPESTATUS[0]}`, { COMMAND: command });
      expect(result).to.include({ status: 0, text: 'y\n', stderr: '' });
    });
  }
});
