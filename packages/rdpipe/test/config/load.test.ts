import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadSettings } from '../../src/config/load.ts';
import { UsageError } from '../../src/model/errors.ts';
import { forHost } from '../../src/model/settings.ts';
import { parseHostRef as host } from '../../src/parse/host-ref.ts';

describe('loadSettings', () => {
  const environment = { XDG_CONFIG_HOME: '/nonexistent' };
  const data = (...value: string[]) => ({ data: [{ host: 'h1', value }] });

  it('resolves names of data addresses', async () => {
    const settings = await loadSettings(data('localhost'), environment);
    const found = forHost(settings.data, host('h1'));
    expect(found?.address).to.be.oneOf(['127.0.0.1', '::1']);
    expect(found?.why).to.equal('--data localhost');
  });

  it('refuses a report that cannot be written, and creates none', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'rdpipe-report-'));
    const load = (report: string) =>
      loadSettings({ reportFile: join(directory, report) }, environment).catch((thrown: unknown) => thrown);
    try {
      await writeFile(join(directory, 'old.html'), 'old');
      expect(await load('new.html')).to.have.property('reportFile', join(directory, 'new.html'));
      expect(await load('old.html')).to.have.property('reportFile', join(directory, 'old.html'));
      expect(await load('none/new.html')).to.have.property(
        'message',
        `cannot write the report to ${directory}/none/new.html: no such file or directory`,
      );
      expect(await load('old.html/new.html')).to.be.instanceOf(UsageError);
      expect(await load('.')).to.be.instanceOf(UsageError);
      expect(await readdir(directory)).to.deep.equal(['old.html']);
      expect(await readFile(join(directory, 'old.html'), 'utf8')).to.equal('old');
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  it('leaves addresses unchanged', async () => {
    const settings = await loadSettings(data('fe80::1%eth0', '10.0.0.1'), environment);
    const found = { address: 'fe80::1%eth0', others: ['10.0.0.1'], why: '--data' };
    expect(forHost(settings.data, host('h1'))).to.deep.equal(found);
  });

  it('names a host name that cannot be resolved', async () => {
    const error = await loadSettings(data('no-such-host.invalid'), environment).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(UsageError);
    expect((error as UsageError).message).to.match(
      /^--data: cannot look up no-such-host\.invalid, the data address of h1 \(E[A-Z_]+\)$/,
    );
  });
});
