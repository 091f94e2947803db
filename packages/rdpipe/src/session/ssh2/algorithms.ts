/** The algorithms that ssh2 may use: those that it supports of the configured ones, in their order. */
import type { Algorithms, ServerHostKeyAlgorithm } from 'ssh2';
import { sessionError } from '../errors.ts';
import type { Target } from '../resolve.ts';
import { matchesPatterns } from './host-pattern.ts';

/**
 * Returns the algorithms that ssh2 offers. `knownKeys` are the host key types that can be checked: of its several keys,
 * the server should present one of these.
 * @throws SessionError naming the keyword if ssh2 supports nothing in its list.
 */
export function offeredAlgorithms(target: Target, knownKeys: readonly string[]): Algorithms {
  const keys = listed(target, 'HostKeyAlgorithms', KEYS) as ServerHostKeyAlgorithm[];
  const isKnown = (key: string) => knownKeys.includes(key);
  return {
    kex: listed(target, 'KexAlgorithms', KEX),
    cipher: listed(target, 'Ciphers', target.via === undefined ? CIPHERS : INNER_CIPHERS),
    hmac: listed(target, 'MACs', MACS),
    serverHostKey: [...keys.filter(isKnown), ...keys.filter((key) => !isKnown(key))],
  } as Algorithms;
}

/** Returns the signature algorithms that may log in. An RSA key can use one of several. */
export function loginAlgorithms(target: Target): readonly string[] {
  const keyword = target.config.has('pubkeyacceptedkeytypes') ? 'PubkeyAcceptedKeyTypes' : 'PubkeyAcceptedAlgorithms';
  return listed(target, keyword, KEYS);
}

/**
 * OpenSSH's algorithms that ssh2 supports: those that OpenSSH uses by default, in its order, then those that must be
 * listed explicitly.
 */
interface Repertoire {
  readonly usual: readonly string[];
  readonly others: readonly string[];
}

const KEYS: Repertoire = {
  usual: [
    'ssh-ed25519',
    ...['ecdsa-sha2-nistp256', 'ecdsa-sha2-nistp384', 'ecdsa-sha2-nistp521'],
    ...['rsa-sha2-512', 'rsa-sha2-256'],
  ],
  others: ['ssh-rsa'],
};

const KEX: Repertoire = {
  usual: [
    ...['curve25519-sha256', 'curve25519-sha256@libssh.org'],
    ...['ecdh-sha2-nistp256', 'ecdh-sha2-nistp384', 'ecdh-sha2-nistp521'],
    'diffie-hellman-group-exchange-sha256',
    ...['diffie-hellman-group16-sha512', 'diffie-hellman-group18-sha512', 'diffie-hellman-group14-sha256'],
  ],
  others: ['diffie-hellman-group-exchange-sha1', 'diffie-hellman-group14-sha1', 'diffie-hellman-group1-sha1'],
};

const CIPHERS: Repertoire = {
  usual: [
    ...['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com', 'aes128-ctr', 'aes192-ctr', 'aes256-ctr'],
    'chacha20-poly1305@openssh.com',
  ],
  others: ['aes256-cbc', 'aes192-cbc', 'aes128-cbc', '3des-cbc'],
};

/** ChaCha20 of ssh2 (1.17) hangs inside another connection of ssh2: both compute in the same buffer. */
const INNER_CIPHERS: Repertoire = {
  ...CIPHERS,
  usual: CIPHERS.usual.filter((name) => !name.startsWith('chacha20')),
};

const MACS: Repertoire = {
  usual: [
    ...['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com', 'hmac-sha1-etm@openssh.com'],
    ...['hmac-sha2-256', 'hmac-sha2-512', 'hmac-sha1'],
  ],
  others: ['hmac-sha1-96', 'hmac-md5', 'hmac-md5-96'],
};

export const REPERTOIRES: Readonly<Record<'kex' | 'cipher' | 'hmac' | 'serverHostKey', Repertoire>> = {
  kex: KEX,
  cipher: CIPHERS,
  hmac: MACS,
  serverHostKey: KEYS,
};

function listed(target: Target, keyword: string, repertoire: Repertoire): string[] {
  const value = target.config.get(keyword.toLowerCase())?.[0];
  const list = value === undefined ? [...repertoire.usual] : readList(value, repertoire);
  if (list.length > 0) return list;
  const reason = `${keyword} lists nothing that ssh2 supports; it supports ${repertoire.usual.join(', ')}`;
  throw sessionError(target.destination, 'unreachable', reason);
}

/**
 * `ssh -G` prints complete lists; a file that was not read by ssh may add to the default list (+), remove from it (-),
 * or put algorithms before it (^).
 */
function readList(value: string, { usual, others }: Repertoire): string[] {
  const patterns = value.replace(/^[-+^]/, '').split(',');
  const named = patterns.flatMap((pattern) => [...usual, ...others].filter((name) => matchesPatterns(name, [pattern])));
  if (value.startsWith('-')) return usual.filter((name) => !named.includes(name));
  if (value.startsWith('+')) return [...new Set([...usual, ...named])];
  return [...new Set(value.startsWith('^') ? [...named, ...usual] : named)];
}
