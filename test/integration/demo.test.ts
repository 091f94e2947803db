// SPDX-License-Identifier: Apache-2.0
// `rdpipe demo` needs no host, runs real pipelines, and leaves nothing.
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { MARK_VARIABLE, processesWith } from '../support/processes.ts';
import { type Started, startProgram } from '../support/start-program.ts';

const PROGRAM = join(import.meta.dirname, '../../bin/rdpipe');

describe('rdpipe demo', () => {
  let directory: string;
  let mark: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'rdpipe-test-demo-'));
    mark = randomUUID();
  });
  afterEach(async () => {
    try {
      expect(readdirSync(directory)).to.deep.equal([]);
      await eventually(() => expect(processesWith(mark)).to.deep.equal([]));
    } finally {
      for (const { pid } of processesWith(mark)) process.kill(pid, 'SIGKILL');
      rmSync(directory, { recursive: true });
    }
  });

  it('runs a pipeline between its own two hosts, then 2 GiB with a report', async () => {
    await shows(start());
  });

  it('begins the same without ssh', async () => {
    const programs = mkdtempSync(join(tmpdir(), 'rdpipe-test-path-'));
    try {
      for (const name of readdirSync('/usr/bin')) {
        if (!name.startsWith('ssh')) symlinkSync(join('/usr/bin', name), join(programs, name));
      }
      if (!existsSync(join(programs, 'node'))) symlinkSync(process.execPath, join(programs, 'node'));
      expect(await endedBy('SIGINT', { PATH: programs })).to.deep.equal({ status: 130, text: 'IH\n' });
    } finally {
      rmSync(programs, { recursive: true });
    }
  });

  for (const [signal, status] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    it(`ends everything on ${signal}`, async () => {
      expect(await endedBy(signal)).to.deep.equal({ status, text: 'IH\n' });
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

  /** Ends a demo while it moves 2 GiB; if this process is too slow for that, it ends the next demo. */
  async function endedBy(signal: NodeJS.Signals, environment: NodeJS.ProcessEnv = {}) {
    for (;;) {
      const demo = start(environment);
      await Promise.race([eventually(() => expect(demo.stderr()).to.contain('head -c 2G')), demo.ended]);
      demo.child.kill(signal);
      const { status, stdout } = await demo.ended;
      if (status !== 0) return { status, text: stdout.toString() };
    }
  }

  function start(environment: NodeJS.ProcessEnv = {}): Started {
    const env = { [MARK_VARIABLE]: mark, TMPDIR: directory, ...environment };
    return startProgram([PROGRAM, 'demo'], { env, stdin: 'ignore' });
  }
});
