import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { writeAll } from '../../src/ui/terminal.ts';
import { bundled } from './bundle.ts';

describe('terminal', () => {
  const script = bundled('print-terminal.ts');
  it('writes everything to a file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'rdpipe-terminal-'));
    try {
      const file = openSync(join(folder, 'out'), 'w');
      writeAll(file, Buffer.alloc(3_000_000, 'x'));
      closeSync(file);
      expect(readFileSync(join(folder, 'out'))).to.have.lengthOf(3_000_000);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('gives up where nobody can read it', () => {
    const full = openSync('/dev/full', 'w');
    writeAll(full, Buffer.from('x'));
    closeSync(full);
    writeAll(full, Buffer.from('x'));
  });

  it('is no terminal on a pipe, and leaves the pipe as it is', async () => {
    expect(await stderrOf(script.path(), 'describe')).to.equal('{"terminal":false,"color":false,"blocks":true}\n');
  });

  it('loses nothing on a full pipe that does not block', async () => {
    expect(await stderrOf(script.path(), 'flood')).to.have.lengthOf(1_000_000);
  });
});

async function stderrOf(script: string, mode: string): Promise<string> {
  const child = spawn(process.execPath, [script, mode], { stdio: ['ignore', 'ignore', 'pipe'] });
  return text(child.stderr);
}
