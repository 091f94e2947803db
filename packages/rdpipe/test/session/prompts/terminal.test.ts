import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { eventually } from '../../../../../test/support/eventually.ts';
import { needsTool } from '../../../../../test/support/needs.ts';
import { startProgram } from '../../../../../test/support/start-program.ts';
import { controllingTerminal } from '../../../src/session/prompts/terminal.ts';

describe('the terminal', () => {
  let directory: string;

  before(function () {
    needsTool(this, 'script');
  });
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'rdpipe-unit-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  /** Types the keys after the question was shown, on a real terminal. */
  const typeKeys = async (keys: string, how: 'echo' | 'silent' | 'interrupted') => {
    const file = join(directory, 'answer');
    const program = fileURLToPath(new URL('ask-terminal.ts', import.meta.url));
    const command = `${process.execPath} --import tsx ${program} ${file} ${how}`;
    const { child, stdout, ended } = startProgram(['script', '-qec', command, '/dev/null'], { stderr: 'inherit' });
    await eventually(() => expect(stdout().toString()).to.include('Question? '));
    child.stdin?.write(keys);
    const shown = (await ended).stdout.toString();
    const answer: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return { answer, shown };
  };

  it('shows nothing of a secret', async () => {
    expect(await typeKeys('s3crét\r', 'silent')).to.deep.equal({
      answer: 's3crét',
      shown: 'Question? \r\n',
    });
  });

  it('shows an answer that is not secret', async () => {
    expect((await typeKeys('yes\n', 'echo')).shown).to.equal('Question? yes\r\n');
  });

  it('lets the user correct a line', async () => {
    expect((await typeKeys('wrong\x15yy\x7fes\b\bx\r', 'silent')).answer).to.equal('yx');
  });

  it('is ended by end of input', async () => {
    expect((await typeKeys('\x04', 'silent')).answer).to.equal(null);
  });

  it('is interrupted like one that is not raw', async () => {
    expect((await typeKeys('abc\x03', 'interrupted')).answer).to.equal(null);
  });

  it('is missing for a process without one', () => {
    expect(controllingTerminal('/nowhere/tty')).to.equal(undefined);
  });
});
