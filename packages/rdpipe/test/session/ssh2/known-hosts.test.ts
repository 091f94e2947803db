import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { needsTool } from '../../../../../test/support/needs.ts';
import {
  checkHostKey,
  fingerprint,
  hostKeyName,
  knownHostsLine,
  knownKeyTypes,
} from '../../../src/session/ssh2/known-hosts.ts';

const ED = keyOf('ssh-ed25519', 'a');
const OTHER_ED = keyOf('ssh-ed25519', 'b');
const RSA = keyOf('ssh-rsa', 'c');

/** A key is its type, followed by opaque bytes. */
function keyOf(type: string, secret: string): Buffer {
  return Buffer.concat([counted(type), counted(secret.repeat(32))]);
}

function counted(text: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(text.length);
  return Buffer.concat([length, Buffer.from(text)]);
}

function line(hosts: string, key: Buffer, marker = ''): string {
  return `${marker}${knownHostsLine(hosts, key)} comment\n`;
}

describe('a known host', () => {
  it('shows the key that is known for it', () => {
    expect(checkHostKey(line('h1', ED), 'h1', ED)).to.equal('known');
    expect(checkHostKey(line('h2,h1,h3', ED), 'h1', ED)).to.equal('known');
    expect(checkHostKey(line('h1', OTHER_ED) + line('h1', ED), 'h1', ED)).to.equal('known');
  });

  it('is unknown if no line names it with a key of this type', () => {
    expect(checkHostKey('', 'h1', ED)).to.equal('unknown');
    expect(checkHostKey(line('h2', ED), 'h1', ED)).to.equal('unknown');
    expect(checkHostKey(line('h1', RSA), 'h1', ED)).to.equal('unknown');
    expect(checkHostKey(line('h11', ED) + line('xh1', ED), 'h1', ED)).to.equal('unknown');
  });

  it('has changed if another key is known for it', () => {
    expect(checkHostKey(line('h1', OTHER_ED) + line('h1', RSA), 'h1', ED)).to.equal('changed');
  });

  it('is refused with a revoked key, known or not', () => {
    expect(checkHostKey(line('*', ED, '@revoked ') + line('h1', ED), 'h1', ED)).to.equal('revoked');
    expect(checkHostKey(line('h2', ED, '@revoked ') + line('h1', ED), 'h1', ED)).to.equal('known');
  });

  it('is not known through the key of a certificate authority', () => {
    expect(checkHostKey(line('*', ED, '@cert-authority '), 'h1', ED)).to.equal('unknown');
  });

  it('is matched by patterns', () => {
    expect(checkHostKey(line('*.example.com', ED), 'a.example.com', ED)).to.equal('known');
    expect(checkHostKey(line('*.example.com,!a.example.com', ED), 'a.example.com', ED)).to.equal('unknown');
    expect(checkHostKey(line('h?', ED), 'h1', ED)).to.equal('known');
    expect(checkHostKey(line('h?', ED), 'h12', ED)).to.equal('unknown');
    expect(checkHostKey(line('H1', ED), 'h1', ED)).to.equal('known');
    expect(checkHostKey(line('a.c', ED), 'abc', ED)).to.equal('unknown');
    expect(checkHostKey(line('!h2', ED), 'h1', ED)).to.equal('unknown');
  });

  it('is named with its port if that is not 22', () => {
    expect(hostKeyName('H1', 22)).to.equal('h1');
    expect(hostKeyName('2001:db8::1', 22)).to.equal('2001:db8::1');
    expect(hostKeyName('h1', 2222)).to.equal('[h1]:2222');
    expect(checkHostKey(line('h1', ED), '[h1]:2222', ED)).to.equal('unknown');
    expect(checkHostKey(line('[h1]:2222', ED), '[h1]:2222', ED)).to.equal('known');
    expect(checkHostKey(line('[*]:2222', ED), '[h1]:2222', ED)).to.equal('known');
  });

  it('may be among comments, empty and broken lines', () => {
    const text = `# h1\n\n h1\nh1 ssh-ed25519\n#${line('h1', OTHER_ED)}\r\n${line('h1', ED).trimEnd()}\r\n`;
    expect(checkHostKey(text, 'h1', ED)).to.equal('known');
  });

  it('is asked for a key of a known type', () => {
    expect(knownKeyTypes(line('h1', RSA) + line('h1', ED) + line('h1', OTHER_ED) + line('h2', ED), 'h1')).to.deep.equal(
      ['ssh-rsa', 'ssh-ed25519'],
    );
  });

  describe('as written by ssh-keygen', () => {
    let directory: string;

    before(function () {
      needsTool(this, 'ssh-keygen');
      directory = mkdtempSync(join(tmpdir(), 'rdpipe-unit-'));
      execaSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(directory, 'key')]);
    });
    after(() => directory && rmSync(directory, { recursive: true }));

    it('may be hashed', () => {
      const [type = '', blob = ''] = readFileSync(join(directory, 'key.pub'), 'utf8').split(' ');
      const file = join(directory, 'known_hosts');
      writeFileSync(file, `h1 ${type} ${blob}\n[h2]:2222 ${type} ${blob}\n`);
      execaSync('ssh-keygen', ['-q', '-H', '-f', file]);
      const text = readFileSync(file, 'utf8');
      expect(text).to.match(/^\|1\|\S+ \S+ \S+\s+\|1\|\S+ \S+ \S+\s*$/);
      const key = Buffer.from(blob, 'base64');
      const verdicts = ['h1', '[h2]:2222', 'h2'].map((name) => checkHostKey(text, name, key));
      expect(verdicts).to.deep.equal(['known', 'known', 'unknown']);
    });

    it('has the same fingerprint as in ssh', () => {
      const [, blob = ''] = readFileSync(join(directory, 'key.pub'), 'utf8').split(' ');
      const { stdout } = execaSync('ssh-keygen', ['-l', '-f', join(directory, 'key.pub')]);
      expect(stdout).to.include(` ${fingerprint(Buffer.from(blob, 'base64'))} `);
    });
  });
});
