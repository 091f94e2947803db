import { chmod, chown, mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { needsRoot } from '../../../../test/support/needs.ts';
import { readConfigFile } from '../../src/config/file.ts';
import { UsageError } from '../../src/model/errors.ts';

const STRANGER = 4711;

describe('a config file', () => {
  let directory: string;
  let path: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'rdpipe-config-'));
    path = join(directory, 'config.toml');
    await writeFile(path, '[defaults]\nshell = "bash"\n', { mode: 0o600 });
  });
  afterEach(() => rm(directory, { recursive: true }));

  const read = async (name = path): Promise<string> => {
    const outcome = await readConfigFile(name, {}).catch((error: unknown) => error);
    if (outcome instanceof UsageError) return outcome.message;
    expect(outcome).to.have.nested.property('defaults.shell', 'bash');
    return '';
  };

  it('is read if only this user can write it', async () => {
    for (const mode of [0o600, 0o644, 0o400]) {
      await chmod(path, mode);
      expect(await read()).to.equal('');
    }
  });

  for (const mode of [0o620, 0o664, 0o602, 0o666]) {
    it(`is refused with mode ${mode.toString(8)}`, async () => {
      await chmod(path, mode);
      const reason = `other users can write it, mode 0${mode.toString(8)} (chmod go-w ${path})`;
      expect(await read()).to.equal(`refusing to read the config file ${path}: ${reason}`);
    });
  }

  for (const mode of [0o720, 0o775, 0o777]) {
    it(`is refused in a directory with mode ${mode.toString(8)}`, async () => {
      await chmod(directory, mode);
      const reason = `other users can write its directory ${directory}, mode 0${mode.toString(8)} (chmod go-w ${directory})`;
      expect(await read()).to.equal(`refusing to read the config file ${path}: ${reason}`);
    });
  }

  it('is read from a sticky directory', async () => {
    await chmod(directory, 0o1777);
    expect(await read()).to.equal('');
  });

  it('is checked through a link, both at the link and at its target', async () => {
    const [there, link] = [join(directory, 'there'), join(directory, 'link.toml')];
    await mkdir(there, { mode: 0o700 });
    await rename(path, join(there, 'config.toml'));
    await symlink('there/config.toml', link);
    expect(await read(link)).to.equal('');
    await chmod(there, 0o777);
    expect(await read(link)).to.include(`its directory ${there}, mode `);
    await chmod(there, 0o700);
    await chmod(directory, 0o770);
    expect(await read(link)).to.include(`its directory ${directory}, mode `);
    await chmod(directory, 0o700);
    await chmod(join(there, 'config.toml'), 0o666);
    expect(await read(link)).to.include('other users can write it, mode 0666 ');
  });

  it('is refused if it, or its directory, belongs to another user', async function () {
    needsRoot(this);
    await chown(path, STRANGER, STRANGER);
    expect(await read()).to.equal(
      `refusing to read the config file ${path}: it belongs to uid ${STRANGER}, which is neither you nor root (if you wrote it: chown 0 ${path})`,
    );
    await chown(path, 0, STRANGER);
    expect(await read()).to.equal('');
    await chown(directory, STRANGER, STRANGER);
    expect(await read()).to.include(`its directory ${directory} belongs to uid ${STRANGER}`);
  });

  it('may be /dev/null', async () => {
    expect(await readConfigFile('/dev/null', {})).to.deep.equal({ defaults: {}, hosts: new Map(), groups: new Map() });
  });
});
