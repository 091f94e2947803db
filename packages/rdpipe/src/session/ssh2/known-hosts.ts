/** Reads known_hosts as sshd(8) describes it. Pure: text in, verdict out. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { matchesPatterns } from './host-pattern.ts';

/** `changed`: the host has a different key of this type. `unknown`: no key of this type is known. */
export type Verdict = 'known' | 'unknown' | 'changed' | 'revoked';

/** Checks the key that a host presents. `name` is from `hostKeyName`. */
export function checkHostKey(knownHosts: string, name: string, key: Buffer): Verdict {
  const entries = entriesFor(knownHosts, name);
  const type = keyType(key);
  if (entries.some((entry) => entry.marker === '@revoked' && entry.key.equals(key))) return 'revoked';
  const plain = entries.filter((entry) => entry.marker === undefined && entry.type === type);
  if (plain.some((entry) => entry.key.equals(key))) return 'known';
  return plain.length > 0 ? 'changed' : 'unknown';
}

/** Returns the types of the host's known keys: it should be asked for one of these. */
export function knownKeyTypes(knownHosts: string, name: string): string[] {
  const types = entriesFor(knownHosts, name)
    .filter((entry) => entry.marker === undefined)
    .map((entry) => entry.type);
  return [...new Set(types)];
}

/** Returns a host's name in known_hosts: with its port if that is not 22. */
export function hostKeyName(hostname: string, port: number): string {
  const host = hostname.toLowerCase();
  return port === 22 ? host : `[${host}]:${port}`;
}

/** Returns `SHA256:…`, as ssh prints it. */
export function fingerprint(key: Buffer): string {
  return `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;
}

/** Returns the line for known_hosts that makes a key known. */
export function knownHostsLine(name: string, key: Buffer): string {
  return `${name} ${keyType(key)} ${key.toString('base64')}`;
}

interface Entry {
  readonly marker: string | undefined;
  readonly type: string;
  readonly key: Buffer;
}

function entriesFor(knownHosts: string, name: string): Entry[] {
  return knownHosts.split('\n').flatMap((line) => {
    if (line.trimStart().startsWith('#')) return [];
    const words = line.trim().split(/\s+/);
    const marker = words[0]?.startsWith('@') ? words.shift() : undefined;
    const [hosts, type, key] = words;
    if (hosts === undefined || type === undefined || key === undefined) return [];
    return matchesHosts(hosts, name) ? [{ marker, type, key: Buffer.from(key, 'base64') }] : [];
  });
}

function matchesHosts(hosts: string, name: string): boolean {
  return hosts.startsWith('|') ? matchesHash(hosts, name) : matchesPatterns(name, hosts.split(','));
}

/** `|1|SALT|HASH`: HMAC-SHA1 of the name. */
function matchesHash(hosts: string, name: string): boolean {
  const [, version, salt = '', hash = ''] = hosts.split('|');
  if (version !== '1') return false;
  const wanted = Buffer.from(hash, 'base64');
  const found = createHmac('sha1', Buffer.from(salt, 'base64')).update(name).digest();
  return wanted.length === found.length && timingSafeEqual(wanted, found);
}

/** Returns the type with which a key begins, as a counted string. */
function keyType(key: Buffer): string {
  if (key.length < 4) return '';
  const length = key.readUInt32BE(0);
  return key.subarray(4, 4 + length).toString('latin1');
}
