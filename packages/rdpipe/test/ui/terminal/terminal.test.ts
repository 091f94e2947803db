import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { execa } from 'execa';
import { writeAll } from '../../../src/ui/terminal/terminal.ts';
import { bundled } from './bundle.ts';

describe('terminal', () => {
  const script = bundled('print-terminal.ts');
  it('writes everything to a file', () => {
    const directory = mkdtempSync(join(tmpdir(), 'rdpipe-terminal-'));
    try {
      const file = openSync(join(directory, 'out'), 'w');
      writeAll(file, Buffer.alloc(3_000_000, 'x'));
      closeSync(file);
      expect(readFileSync(join(directory, 'out'))).to.have.lengthOf(3_000_000);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('gives up if its output cannot be read', () => {
    const full = openSync('/dev/full', 'w');
    writeAll(full, Buffer.from('x'));
    closeSync(full);
    writeAll(full, Buffer.from('x'));
  });

  it('is not a terminal on a pipe, and leaves the pipe unchanged', async () => {
    expect(await stderrOf(script.path(), 'describe')).to.equal('{"terminal":false,"color":false,"blocks":true}\n');
  });

  const TERMINALS: readonly (readonly [string, string, string])[] = [
    ['stty cols 80 rows 24', 'TERM=xterm', '{"terminal":true,"color":true'],
    ['stty cols 80 rows 24', 'TERM=xterm NO_COLOR=1', '{"terminal":true,"color":false'],
    ['stty cols 80 rows 24', 'TERM=dumb', '{"terminal":false,"color":false'],
    ['stty cols 0 rows 0', 'TERM=xterm', '{"terminal":false,"color":false'],
  ];
  for (const [size, environment, expected] of TERMINALS) {
    it(`reads the size of a terminal with ${size}, ${environment}`, async () => {
      const command = `${size}; env -u NO_COLOR ${environment} ${process.execPath} ${script.path()} describe`;
      const { stdout } = await execa('script', ['-qec', command, '/dev/null'], { stdin: 'ignore', reject: false });
      expect(stdout).to.contain(expected);
    });
  }

  it('loses nothing on a full non-blocking pipe', async () => {
    expect(await stderrOf(script.path(), 'flood')).to.have.lengthOf(1_000_000);
  });
});

async function stderrOf(script: string, mode: string): Promise<string> {
  const options = { stdio: ['ignore', 'ignore', 'pipe'], reject: false, stripFinalNewline: false } as const;
  return (await execa(process.execPath, [script, mode], options)).stderr;
}
