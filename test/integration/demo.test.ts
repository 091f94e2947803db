// SPDX-License-Identifier: Apache-2.0
// `rdpipe demo` needs no host, shows the real thing, and leaves nothing.
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { MARK_VARIABLE, processesWith } from '../support/processes.ts';
import { type Started, startProgram } from '../support/start-program.ts';

const PROGRAM = join(import.meta.dirname, '../../bin/rdpipe');

describe('rdpipe demo', function () {
  this.timeout(60_000);
  let folder: string;
  let mark: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'rdpipe-test-demo-'));
    mark = randomUUID();
  });
  afterEach(async () => {
    try {
      expect(readdirSync(folder)).to.deep.equal([]);
      await eventually(() => expect(processesWith(mark)).to.deep.equal([]));
    } finally {
      for (const { pid } of processesWith(mark)) process.kill(pid, 'SIGKILL');
      rmSync(folder, { recursive: true });
    }
  });

  it('runs a pipeline between two hosts of its own, then 2 GiB with a report', async () => {
    await shows(start());
  });

  it('does the same where there is no ssh', async () => {
    const programs = mkdtempSync(join(tmpdir(), 'rdpipe-test-path-'));
    try {
      for (const name of readdirSync('/usr/bin')) {
        if (!name.startsWith('ssh')) symlinkSync(join('/usr/bin', name), join(programs, name));
      }
      if (!existsSync(join(programs, 'node'))) symlinkSync(process.execPath, join(programs, 'node'));
      await shows(start({ PATH: programs }));
    } finally {
      rmSync(programs, { recursive: true });
    }
  });

  for (const [signal, status] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    it(`ends everything on ${signal}`, async () => {
      const demo = start();
      await eventually(() => expect(commands()).to.contain('head -c 2G'), 30_000);
      demo.child.kill(signal);
      expect((await demo.ended).status).to.equal(status);
    });
  }

  async function shows(demo: Started): Promise<void> {
    const { status, stdout, stderr } = await demo.ended;
    expect(status, stderr).to.equal(0);
    expect(stdout.toString()).to.equal('IH\n');
    expect(stderr).to.contain("$ echo hi | rdpipe h1:'tr a-z A-Z' h2:rev\n");
    expect(stderr).to.contain('h2: 2147483648\n');
    expect(stderr).to.match(/^Bandwidth \d/m);
  }

  function commands(): string {
    return processesWith(mark)
      .map(({ command }) => command)
      .join('\n');
  }

  function start(environment: NodeJS.ProcessEnv = {}): Started {
    const env = { [MARK_VARIABLE]: mark, TMPDIR: folder, ...environment };
    return startProgram([PROGRAM, 'demo'], { env, stdin: 'ignore' });
  }
});
