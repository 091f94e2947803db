// SPDX-License-Identifier: Apache-2.0
// Records docs/images/demo.svg: pipelines typed in a terminal, run by the built rdpipe (`npm run record`).
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execaSync } from 'execa';
import { Lab } from '../test/support/lab.ts';
import { onPath } from '../test/support/needs.ts';
import { ROOT } from '../test/support/root.ts';
import { Tmux } from '../test/support/tmux.ts';
import { type Frame, terminalSvg } from './terminal-svg.ts';

const IMAGE = join(ROOT, 'docs/images/demo.svg');
const SIZE = { columns: 80, rows: 24 };
const SOURCE_MIB = 3072;
/** The speed of a typist, and time to read. */
const KEY_MS = 30;
const READ_MS = 1500;
const LOOK_MS = 40;
const HOLD_MS = 5000;
const LONGEST_MS = 120_000;
const TITLE =
  'A terminal: echo hi goes through tr on h1 and rev on h2 and comes back as IH; a file is copied from h1 to h2 ' +
  'with its progress; a stage fails, rdpipe names the cause, and ls shows that no half file is left on h2.';
const LINES = [
  "echo hi | rdpipe h1:'tr a-z A-Z' h2:rev",
  "rdpipe h1:'< ~/run7.raw' h2:'> ~/run7.raw'",
  "rdpipe h1:'head -c 1G ~/run7.raw; exit 3' h2:'> ~/half.raw'",
  "rdpipe h2:'ls ~'",
];

const missing = ['tmux', 'sshd', 'ssh'].filter((tool) => !onPath(tool));
if (missing.length === 0) await record();
else {
  console.error(`record: not installed: ${missing.join(', ')}; npm test installs them`);
  process.exitCode = 1;
}

/** Records with two ssh servers on this machine as hosts, and ends them. */
async function record(): Promise<void> {
  const lab = new Lab(LONGEST_MS);
  try {
    await lab.open([{ name: 'h1' }, { name: 'h2' }]);
    lab.beginTest();
    execaSync('dd', [
      'if=/dev/urandom',
      `of=${lab.host('h1').home}/run7.raw`,
      'bs=1M',
      `count=${SOURCE_MIB}`,
      'status=none',
    ]);
    await lab.sh('rdpipe h1:true h2:true'); // copies the programs to the hosts
    const svg = terminalSvg(await framesOf(lab), { columns: SIZE.columns, title: TITLE, holdMs: HOLD_MS });
    writeFileSync(IMAGE, svg);
    console.log(`${IMAGE}: ${Math.round(svg.length / 1000)} kB`);
  } finally {
    await lab.close();
  }
}

async function framesOf(lab: Lab): Promise<Frame[]> {
  const terminal = await Tmux.open(SIZE, { cwd: lab.directory, env: lab.environment });
  try {
    await terminal.shows(/^\$$/);
    const typing = typeLines(terminal);
    return await watch(terminal, typing);
  } finally {
    await terminal.close();
  }
}

async function typeLines(terminal: Tmux): Promise<void> {
  for (const line of LINES) {
    await sleep(READ_MS);
    for (const key of line) {
      await terminal.typeKeys(key);
      await sleep(KEY_MS);
    }
    await terminal.press('Enter');
    await terminal.shows(promptAfter(line), LONGEST_MS);
  }
}

/** The prompt below the line and its output. */
function promptAfter(line: string): RegExp {
  return new RegExp(`${line.replaceAll(/[\W]/g, '\\$&')}\\n[\\s\\S]*^\\$$`, 'm');
}

/** Every screen that differs from the previous one, until `end` settles. */
async function watch(terminal: Tmux, end: Promise<void>): Promise<Frame[]> {
  const frames: Frame[] = [];
  const began = performance.now();
  const look = async () => {
    const screen = await terminal.coloredScreen();
    if (screen !== frames.at(-1)?.screen) frames.push({ atMs: Math.round(performance.now() - began), screen });
  };
  let ended = false;
  const over = end.finally(() => {
    ended = true;
  });
  while (!ended) {
    await look();
    await sleep(LOOK_MS);
  }
  await over;
  await look();
  return frames.map(({ atMs, screen }, index) => ({ atMs: index === 0 ? 0 : atMs, screen }));
}
