import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { destinationOf } from '../../../src/session/destination.ts';
import { readPlainConfig } from '../../../src/session/ssh2/config-file.ts';

describe('the configuration without ssh', () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'rdpipe-unit-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const read = async (text: string, name = 'h1', options: readonly string[] = [], user?: string) => {
    const configFile = join(directory, 'config');
    writeFileSync(configFile, text);
    const config = await readPlainConfig(destinationOf({ name, user, label: name }, { configFile, options }));
    return Object.fromEntries(config);
  };

  it('has usable defaults if nothing is configured', async () => {
    const config = await read('');
    expect(config.user).to.deep.equal([userInfo().username]);
    expect(config.userknownhostsfile).to.deep.equal(['~/.ssh/known_hosts']);
    expect(config.identityfile).to.include('~/.ssh/id_ed25519');
  });

  it('comes from the matching blocks, and the first value of a keyword wins', async () => {
    const text = `Port 1\n# Port 9\n\nHost h2\n Port 2\n User two\nHost h? !h3\n\tHostName = "10.0.0.1"\n  port 3\n IdentityFile a b\nHost *\nUser=ann\nIdentityFile c\n`;
    const config = await read(text);
    expect(config).to.deep.include({ port: ['1'], hostname: ['10.0.0.1'], user: ['ann'] });
    expect(config.identityfile?.slice(0, 2)).to.deep.equal(['a b', 'c']);
    expect((await read(text, 'h3')).hostname).to.equal(undefined);
  });

  it('is overridden by -o, and by the user of the stage', async () => {
    const config = await read('Port 1\nUser ann\n', 'h1', ['Port=2', 'user bob', 'Port=3'], 'carol');
    expect(config).to.deep.include({ port: ['2'], user: ['carol'] });
  });

  for (const keyword of ['Match all', 'Include more']) {
    it(`is refused if it has '${keyword}', which only ssh supports`, async () => {
      const outcome = await read(`${keyword}\n`).catch((error: unknown) => error);
      expect(outcome)
        .to.have.property('message')
        .that.includes(
          `its configuration has '${keyword.split(' ')[0]?.toLowerCase()}', which only ssh itself supports`,
        );
    });
  }

  it('is refused if the file of -F is missing', async () => {
    const host = destinationOf(
      { name: 'h1', user: undefined, label: 'h1' },
      { configFile: join(directory, 'none'), options: [] },
    );
    const outcome = await readPlainConfig(host).catch((error: unknown) => error);
    expect(outcome)
      .to.have.property('message')
      .that.matches(/^cannot reach h1: cannot read .*none: /);
  });
});
