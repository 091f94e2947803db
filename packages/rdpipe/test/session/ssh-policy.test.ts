/** The same configuration has the same result, accepted or refused, with the system's ssh and with ssh2. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { needs, needsFile, needsTool } from '../../../../test/support/needs.ts';
import { SessionError } from '../../src/model/errors.ts';
import { openSessions } from '../../src/session/open.ts';
import { hostRef, settingsFor, startTestHosts, type TestHosts } from './ssh-hosts.ts';

interface Case {
  readonly options: readonly string[];
  readonly accepted: boolean;
  readonly host?: string;
}

const CTR = 'Ciphers=aes128-ctr';

/**
 * Files are in `directory`. `plain` has sshd's defaults except for the key exchange, `usual` also has that, `picky` has
 * one algorithm each, `rsa` has an RSA key of 2048 bits.
 */
const CASES: readonly Case[] = [
  { options: [], accepted: true },
  { host: 'usual', options: [], accepted: true },
  { host: 'picky', options: [], accepted: true },

  { host: 'picky', options: ['KexAlgorithms=curve25519-sha256'], accepted: true },
  { host: 'picky', options: ['KexAlgorithms=sntrup761x25519-sha512@openssh.com,curve25519-sha256'], accepted: true },
  { host: 'picky', options: ['KexAlgorithms=diffie-hellman-group14-sha256'], accepted: false },
  { host: 'picky', options: ['KexAlgorithms=-curve25519-sha256*'], accepted: false },
  { host: 'picky', options: [CTR], accepted: true },
  { host: 'picky', options: ['Ciphers=aes256-gcm@openssh.com'], accepted: false },
  { host: 'picky', options: [CTR, 'MACs=hmac-sha2-512'], accepted: true },
  { host: 'picky', options: [CTR, 'MACs=hmac-sha2-256-etm@openssh.com'], accepted: false },
  { host: 'behind', options: ['Ciphers=chacha20-poly1305@openssh.com,aes128-ctr'], accepted: true },
  { options: ['HostKeyAlgorithms=ssh-ed25519'], accepted: true },
  { options: ['HostKeyAlgorithms=rsa-sha2-512'], accepted: false },
  { host: 'rsa', options: ['HostKeyAlgorithms=rsa-sha2-256'], accepted: true },
  { host: 'rsa', options: ['HostKeyAlgorithms=ssh-ed25519'], accepted: false },
  { host: 'rsa', options: ['RequiredRSASize=2048'], accepted: true },
  { host: 'rsa', options: ['RequiredRSASize=3072'], accepted: false },

  { options: ['RevokedHostKeys=none'], accepted: true },
  { options: ['RevokedHostKeys=others.pub'], accepted: true },
  { options: ['RevokedHostKeys=revoked.pub'], accepted: false },
  { options: ['RevokedHostKeys=empty'], accepted: true },
  { options: ['RevokedHostKeys=words'], accepted: false },
  { options: ['RevokedHostKeys=half'], accepted: false },
  { options: ['RevokedHostKeys=others.krl'], accepted: true },
  { options: ['RevokedHostKeys=revoked.krl'], accepted: false },
  { options: ['RevokedHostKeys=sha1.krl'], accepted: false },
  { options: ['RevokedHostKeys=sha256.krl'], accepted: false },
  { options: ['RevokedHostKeys=cut.krl'], accepted: false },
  { options: ['RevokedHostKeys=missing'], accepted: false },
  { options: ['RevokedHostKeys=.'], accepted: false },
  { options: ['UserKnownHostsFile=marked'], accepted: false },
  { options: ['UserKnownHostsFile=empty'], accepted: false },
  { options: ['UserKnownHostsFile=empty', 'StrictHostKeyChecking=yes'], accepted: false },
  { options: ['HostKeyAlias=plain'], accepted: true },
  { options: ['HostKeyAlias=nowhere'], accepted: false },

  { options: ['PubkeyAuthentication=no'], accepted: false },
  { options: ['PreferredAuthentications=password,publickey'], accepted: true },
  { options: ['PreferredAuthentications=password'], accepted: false },
  { options: ['PreferredAuthentications=hostbased'], accepted: false },
  { options: ['PubkeyAcceptedAlgorithms=ssh-ed25519'], accepted: true },
  { options: ['PubkeyAcceptedAlgorithms=rsa-sha2-512,rsa-sha2-256'], accepted: false },
  { options: ['IdentityFile=rsa-key', 'IdentityFile=none'], accepted: true },
  { options: ['IdentityFile=rsa-key', 'PubkeyAcceptedAlgorithms=rsa-sha2-256'], accepted: true },
  {
    options: ['IdentityFile=rsa-key', 'PubkeyAcceptedAlgorithms=rsa-sha2-256', 'RequiredRSASize=3072'],
    accepted: false,
  },
];

const FILES = /(?<=^(RevokedHostKeys|UserKnownHostsFile|IdentityFile)=)(?!none$).*/;

describe('what the configuration of ssh forbids', () => {
  let hosts: TestHosts;
  let directory: string;

  before(async function () {
    needsFile(this, '/usr/sbin/sshd');
    needsTool(this, 'ssh', 'ssh-keygen');
    directory = mkdtempSync(join(tmpdir(), 'rdpipe-unit-'));
    for (const name of ['rsa-host', 'rsa-key']) makeKey(name, ['-t', 'rsa', '-b', '2048']);
    hosts = await startTestHosts([
      { name: 'plain' },
      { name: 'usual', defaultKeyExchange: true },
      { name: 'picky', server: ['KexAlgorithms curve25519-sha256', 'Ciphers aes128-ctr', 'MACs hmac-sha2-512'] },
      { name: 'behind', jump: 'plain' },
      { name: 'rsa', server: [`HostKey ${join(directory, 'rsa-host')}`, 'HostKeyAlgorithms rsa-sha2-256'] },
    ]);
    makeFiles();
  });
  after(async () => {
    await hosts?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  for (const client of ['openssh', 'ssh2'] as const) {
    describe(`with ${client}`, () => {
      for (const { host = 'plain', options, accepted } of CASES) {
        const words = options.length === 0 ? 'nothing more' : options.join(' ');
        it(`${accepted ? 'accepts' : 'refuses'} ${host} with ${words}`, async function () {
          needs(this, unknownKeyword(options));
          const outcome = await tryHost(host, client, options.map(inDirectory));
          expect(outcome, String(outcome)).to.satisfy((error: unknown) =>
            accepted ? error === undefined : error instanceof SessionError,
          );
        });
      }
    });
  }

  const tryHost = async (host: string, client: 'openssh' | 'ssh2', options: readonly string[]): Promise<unknown> => {
    const silent = ['StrictHostKeyChecking=yes', ...options];
    try {
      await (await openSessions([hostRef(host)], settingsFor(hosts, { client, options: silent }), undefined)).close();
      return undefined;
    } catch (error) {
      return error;
    }
  };

  describe('and ssh2 cannot do', () => {
    for (const [option, words] of [
      ['KnownHostsCommand=/bin/true', /KnownHostsCommand \/bin\/true .*--ssh openssh/],
      ['CertificateFile=/tmp/x', /CertificateFile \/tmp\/x /],
      ['RekeyLimit=1G 1h', /RekeyLimit 1073741824 3600 /],
      ['BindInterface=lo', /BindInterface lo /],
      ['CheckHostIP=yes', /CheckHostIP yes /],
      ['Ciphers=chacha20-poly1305@openssh.com,aes128-cbc', undefined],
      [
        'KexAlgorithms=sntrup761x25519-sha512@openssh.com',
        /KexAlgorithms lists nothing that ssh2 supports; it supports curve/,
      ],
      ['MACs=umac-128@openssh.com', /MACs lists nothing that ssh2 supports/],
      ['HostKeyAlgorithms=ssh-ed25519-cert-v01@openssh.com', /HostKeyAlgorithms lists nothing/],
      ['PubkeyAcceptedAlgorithms=ssh-ed25519-cert-v01@openssh.com', /PubkeyAcceptedAlgorithms lists nothing/],
      ['PreferredAuthentications=hostbased', /PreferredAuthentications lists no method/],
      ['RevokedHostKeys=/nowhere', /RevokedHostKeys \/nowhere cannot be read/],
    ] as const) {
      it(`is ${words === undefined ? 'accepted if algorithms remain' : 'refused by its name'}: ${option}`, async () => {
        const outcome = await tryHost('plain', 'ssh2', [option]);
        if (words === undefined) expect(outcome, String(outcome)).to.equal(undefined);
        else expect(outcome).to.be.instanceOf(SessionError).with.property('message').that.matches(words);
      });
    }
  });

  function inDirectory(option: string): string {
    return option.replace(FILES, (name) => join(directory, name));
  }

  function makeKey(name: string, kind: readonly string[]): void {
    execaSync('ssh-keygen', ['-q', ...kind, '-N', '', '-C', 'rdpipe-test', '-f', join(directory, name)]);
  }

  function makeFiles(): void {
    const key = readFileSync(join(hosts.directory, 'plain.host.pub'), 'utf8');
    const own = readFileSync(join(hosts.directory, 'picky.host.pub'), 'utf8');
    const rsa = hosts.hosts.get('rsa');
    const rsaKey = readFileSync(join(directory, 'rsa-host.pub'), 'utf8');
    writeFileSync(join(hosts.directory, 'known_hosts'), `[${rsa?.address}]:${rsa?.port} ${rsaKey}`, { flag: 'a' });
    writeFileSync(join(hosts.directory, 'authorized_keys'), readFileSync(join(directory, 'rsa-key.pub')), {
      flag: 'a',
    });
    const known = readFileSync(join(hosts.directory, 'known_hosts'), 'utf8');
    const texts = {
      empty: '',
      words: 'these are\nno keys\n',
      half: `${own}ssh-ed25519\n`,
      marked: `${known}@revoked * ${key}`,
      'revoked.pub': `# of a host\n\n${own}${key}`,
      'others.pub': own,
      'sha1.spec': `sha1: ${key}`,
      'sha256.spec': `sha256: ${own}sha256: ${key}`,
    };
    for (const [name, text] of Object.entries(texts)) writeFileSync(join(directory, name), text);
    for (const [krl, source] of [
      ['others.krl', 'others.pub'],
      ['revoked.krl', 'revoked.pub'],
      ['sha1.krl', 'sha1.spec'],
      ['sha256.krl', 'sha256.spec'],
    ]) {
      execaSync('ssh-keygen', ['-q', '-k', '-f', join(directory, `${krl}`), join(directory, `${source}`)]);
    }
    writeFileSync(join(directory, 'cut.krl'), readFileSync(join(directory, 'others.krl')).subarray(0, -3));
  }
});

/** Returns a message if this machine's ssh does not know one of the keywords; otherwise undefined. */
function unknownKeyword(options: readonly string[]): string | undefined {
  const words = ['-G', '-F', 'none', ...options.flatMap((option) => ['-o', option]), 'h'];
  const { failed, stderr } = execaSync('ssh', words, { reject: false });
  return failed ? `this ssh does not know ${options.join(' ')}: ${stderr}` : undefined;
}
