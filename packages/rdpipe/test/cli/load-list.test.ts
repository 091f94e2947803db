import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadList } from '../../src/cli/load-list.ts';
import { LIST_MAX_BYTES } from '../../src/copy/settings.ts';
import { UsageError } from '../../src/model/errors.ts';

describe('loadList', () => {
  let directory = '';
  const at = (name: string) => join(directory, name);
  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'rdpipe-list-'));
  });
  after(() => rmSync(directory, { recursive: true }));

  it('has the whole list if that is short enough', async () => {
    for (const bytes of [0, 7, LIST_MAX_BYTES]) {
      const text = Buffer.alloc(bytes, 'a\n');
      writeFileSync(at('short'), text);
      expect(await loadList(at('short'))).to.deep.equal({ text, isWhole: true });
    }
    expect(await loadList(undefined)).to.equal(undefined);
  });

  it('leaves a longer file to the stage that sends it', async () => {
    writeFileSync(at('long'), Buffer.alloc(LIST_MAX_BYTES + 1));
    expect(await loadList(at('long'))).to.deep.equal({ text: Buffer.alloc(0), isWhole: false });
  });

  it('refuses a file that cannot be read, or not a second time', async () => {
    const refused = async (name: string) => {
      const error = await loadList(at(name)).catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(UsageError);
      return (error as UsageError).message;
    };
    expect(await refused('none')).to.equal(`--files-from: cannot read ${at('none')}: ENOENT`);
    expect(await refused('.')).to.equal(`--files-from: cannot read ${at('.')}: EISDIR`);
    execFileSync('sh', ['-c', 'mkfifo fifo; head -c 1200000 /dev/zero > fifo &'], { cwd: directory, stdio: 'ignore' });
    expect(await refused('fifo')).to.match(/fifo is longer than 1\.0 MiB, and not a regular file/);
  });
});
