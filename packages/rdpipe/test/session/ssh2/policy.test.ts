import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { needsTool } from '../../../../../test/support/needs.ts';
import { destinationOf } from '../../../src/session/destination.ts';
import { readSshConfig } from '../../../src/session/openssh/config.ts';
import { locateSsh, type SshProgram } from '../../../src/session/openssh/program.ts';
import { resolveTarget, type Target } from '../../../src/session/resolve.ts';
import { offeredAlgorithms, REPERTOIRES } from '../../../src/session/ssh2/algorithms.ts';
import { readPlainConfig } from '../../../src/session/ssh2/config-file.ts';
import { SSH_KEYWORDS } from '../../../src/session/ssh2/keywords.ts';
import { refuseUnsupported } from '../../../src/session/ssh2/policy.ts';
import { settingsFor } from '../ssh-hosts.ts';

const NEVER = new AbortController().signal;

describe('the keywords of ssh, for ssh2', () => {
  it('are all that ssh prints', function () {
    needsTool(this, 'ssh');
    const { stdout } = execaSync('ssh', ['-F', 'none', '-G', 'h1'], { lines: true });
    const keywords = stdout.flatMap((line) => line.toLowerCase().split(' ')[0] || []);
    const known = Object.keys(SSH_KEYWORDS).map((keyword) => keyword.toLowerCase());
    expect(keywords.filter((keyword) => !known.includes(keyword))).to.deep.equal([]);
  });

  it('are named in the man page if they are refused', () => {
    const page = readFileSync(new URL('../../../man/rdpipe.1', import.meta.url), 'utf8');
    const refused = Object.entries(SSH_KEYWORDS).flatMap(([name, way]) => ('refusedUnless' in way ? [name] : []));
    expect(refused.filter((name) => !new RegExp(`\\b${name}\\b`).test(page))).to.deep.equal([]);
  });

  it('choose from the algorithms of ssh2', () => {
    const has = createRequire(createRequire(import.meta.url).resolve('ssh2'))('./protocol/constants.js');
    for (const [kind, supported] of [
      ['kex', has.SUPPORTED_KEX],
      ['cipher', has.SUPPORTED_CIPHER],
      ['hmac', has.SUPPORTED_MAC],
      ['serverHostKey', has.SUPPORTED_SERVER_HOST_KEY],
    ] as const) {
      const { usual, others } = REPERTOIRES[kind];
      expect(supported, kind).to.include.members([...usual, ...others]);
    }
  });
});

describe('a configuration for ssh2', () => {
  let directory: string;

  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'rdpipe-unit-'));
  });
  after(() => rmSync(directory, { recursive: true }));

  /** An ssh of another version: it prints one more keyword, with `usual`, or with `set` if a file is used. */
  const otherSsh = (usual: string, set: string): SshProgram => {
    const path = join(directory, 'ssh');
    const script = `echo futurekeyword $([ "$3" = none ] && echo ${usual} || echo ${set})`;
    writeFileSync(path, `#!/bin/sh\n[ "$1" = -G ] && ${script}\n`, { mode: 0o755 });
    return { path, env: {} };
  };
  const refusalBy = async (ssh: SshProgram | undefined, options: readonly string[] = []): Promise<string> => {
    const configFile = join(directory, 'config');
    writeFileSync(configFile, '');
    const destination = destinationOf({ name: 'h1', user: undefined, label: 'h1' }, { configFile, options });
    const read = ssh === undefined ? readPlainConfig : () => readSshConfig(ssh, destination, NEVER);
    const route = await resolveTarget(destination, read, NEVER);
    const hosts = { configFile, hosts: new Map(), close: async () => {} };
    const outcome = await refuseUnsupported(route, { ...settingsFor(hosts), ssh }).catch((error: unknown) => error);
    return outcome instanceof Error ? outcome.message : '';
  };

  it('is refused if a newer ssh prints a keyword that is not at its default', async () => {
    expect(await refusalBy(otherSsh('no', 'no'))).to.equal('');
    expect(await refusalBy(otherSsh('no', 'strict'))).to.match(
      /^cannot reach h1: ssh2 cannot honour futurekeyword strict in its configuration; use --ssh openssh /,
    );
  });

  it('is accepted from this machine, if it has nothing special', async function () {
    needsTool(this, 'ssh');
    expect(await refusalBy(locateSsh())).to.equal('');
  });

  it('is refused without ssh by the same table, unless IgnoreUnknown names the keyword', async () => {
    expect(await refusalBy(undefined, ['ForwardAgent=yes', 'LogLevel=DEBUG'])).to.equal('');
    expect(await refusalBy(undefined, ['KnownHostsCommand=/bin/keys'])).to.match(
      /ssh2 cannot honour KnownHostsCommand \/bin\/keys in its configuration; remove it, or install ssh/,
    );
    expect(await refusalBy(undefined, ['FutureKeyword=1'])).to.match(/ssh2 cannot honour futurekeyword 1 /);
    expect(await refusalBy(undefined, ['FutureKeyword=1', 'IgnoreUnknown=Other,Future*'])).to.equal('');
  });

  const offered = (config: Readonly<Record<string, string>>, known: readonly string[] = []) => {
    const destination = destinationOf(
      { name: 'h1', user: undefined, label: 'h1' },
      { configFile: undefined, options: [] },
    );
    const route = { destination, config: new Map(Object.entries(config).map(([key, value]) => [key, [value]])) };
    return offeredAlgorithms(route as unknown as Target, known);
  };

  it('offers the listed algorithms in order, known host keys first', () => {
    const { cipher, serverHostKey } = offered(
      {
        ciphers: 'aes256-ctr,nonsense,aes128-gcm@openssh.com',
        hostkeyalgorithms: 'ssh-ed25519,rsa-sha2-512,rsa-sha2-256',
      },
      ['rsa-sha2-512', 'rsa-sha2-256', 'ecdsa-sha2-nistp256'],
    );
    expect(cipher).to.deep.equal(['aes256-ctr', 'aes128-gcm@openssh.com']);
    expect(serverHostKey).to.deep.equal(['rsa-sha2-512', 'rsa-sha2-256', 'ssh-ed25519']);
  });

  it('offers nothing obsolete by default, and applies + and - of a file that ssh has not read', () => {
    const all = Object.values(offered({})).flat();
    expect(all.filter((name) => /^ssh-rsa$|cbc|md5|group1[-]|group14-sha1/.test(name))).to.deep.equal([]);
    expect(offered({ ciphers: '+aes128-cbc' }).cipher).to.include.members(['aes128-gcm@openssh.com', 'aes128-cbc']);
    expect(offered({ ciphers: '-aes*' }).cipher).to.deep.equal(['chacha20-poly1305@openssh.com']);
    expect(offered({ macs: '^hmac-sha2-512' }).hmac).to.have.property('0', 'hmac-sha2-512');
  });
});
