// SPDX-License-Identifier: Apache-2.0
// `rdpipe demo` on a machine without ssh; test/integration tests it with ssh.
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../../support/root.ts';
import { startProgram } from '../../support/start-program.ts';

describe('rdpipe demo', () => {
  it('runs a pipeline, then 2 GiB with a report, without ssh', async () => {
    const programs = mkdtempSync(join(tmpdir(), 'rdpipe-test-path-'));
    try {
      for (const name of readdirSync('/usr/bin'))
        if (!name.startsWith('ssh')) symlinkSync(join('/usr/bin', name), join(programs, name));
      if (!existsSync(join(programs, 'node'))) symlinkSync(process.execPath, join(programs, 'node'));
      const demo = startProgram([join(ROOT, 'bin/rdpipe'), 'demo'], { env: { PATH: programs }, stdin: 'ignore' });
      const { status, stdout, stderr } = await demo.ended;
      expect({ status, text: stdout.toString() }, stderr).to.deep.equal({ status: 0, text: 'IH\n' });
      expect(stderr)
        .to.contain('h2: 2147483648\n')
        .and.to.match(/^Bandwidth \d/m);
    } finally {
      rmSync(programs, { recursive: true });
    }
  });
});
