/** Checks a host's key against known_hosts and revoked keys; never adds keys. */

import { promises } from 'node:fs';
import { SessionError } from '../../model/errors.ts';
import { configuredPaths } from '../config-values.ts';
import type { Target } from '../resolve.ts';
import { checkHostKey, fingerprint, hostKeyName, knownHostsLine, knownKeyTypes, type Verdict } from './known-hosts.ts';
import { isRevoked } from './revoked-keys.ts';
import { isTooShort, smallestRsaBits } from './user-keys.ts';

export interface HostKeyCheck {
  /** Algorithms to request first. */
  readonly algorithms: readonly string[];
  verify(key: Buffer): boolean;
  /** Returns why `verify` returned false. */
  refusal(): SessionError | undefined;
}

/** @throws SessionError if a file of revoked keys cannot be read: then no key can be trusted. */
export async function createHostKeyCheck(target: Target): Promise<HostKeyCheck> {
  const [knownHosts, revoked] = await Promise.all([readKnownHosts(target), readRevoked(target)]);
  const name = target.config.get('hostkeyalias')?.[0] ?? hostKeyName(target.hostname, target.port);
  let refusal: SessionError | undefined;
  return {
    algorithms: preferredAlgorithms(knownHosts, name),
    verify(key) {
      const verdict = checkHostKey(knownHosts, name, key);
      refusal = verdict === 'known' ? keyRefusal(target, revoked, key) : hostKeyError(target, verdict, name, key);
      return refusal === undefined;
    },
    refusal: () => refusal,
  };
}

async function readKnownHosts(target: Target): Promise<string> {
  const paths = ['userknownhostsfile', 'globalknownhostsfile'].flatMap((keyword) => configuredPaths(target, keyword));
  const texts = paths.map((path) => promises.readFile(path, 'utf8').catch(() => ''));
  return (await Promise.all(texts)).join('\n');
}

interface KeyFile {
  readonly path: string;
  readonly content: Buffer;
}

async function readRevoked(target: Target): Promise<KeyFile | undefined> {
  const [path] = configuredPaths(target, 'revokedhostkeys');
  if (path === undefined) return undefined;
  try {
    return { path, content: await promises.readFile(path) };
  } catch (error) {
    throw revokedFileError(target, path, (error as Error).message);
  }
}

/** Returns why a known key must not be used; undefined if it may be used. */
function keyRefusal(target: Target, revoked: KeyFile | undefined, key: Buffer): SessionError | undefined {
  if (isTooShort(target, key)) {
    return refuse(target, `its RSA host key has fewer bits than RequiredRSASize requires (${smallestRsaBits(target)})`);
  }
  if (revoked === undefined) return undefined;
  try {
    if (!isRevoked(revoked.content, key)) return undefined;
  } catch (error) {
    return revokedFileError(target, revoked.path, (error as Error).message);
  }
  return refuse(target, `its host key ${fingerprint(key)} is revoked by RevokedHostKeys ${revoked.path}`);
}

function revokedFileError(target: Target, path: string, reason: string): SessionError {
  return refuse(target, `RevokedHostKeys ${path} cannot be read, so no host key can be trusted: ${reason}`);
}

/**
 * Returns the algorithms of known keys, so that a server with several keys presents one that can be checked. An RSA key
 * is used with newer digests than its type name implies.
 */
function preferredAlgorithms(knownHosts: string, name: string): string[] {
  return knownKeyTypes(knownHosts, name).flatMap((type) =>
    type === 'ssh-rsa' ? ['rsa-sha2-512', 'rsa-sha2-256'] : [type],
  );
}

function hostKeyError(target: Target, verdict: Exclude<Verdict, 'known'>, name: string, key: Buffer): SessionError {
  const words = {
    unknown: `its host key ${fingerprint(key)} is not known (if it is the right one, add to ~/.ssh/known_hosts: ${knownHostsLine(name, key)})`,
    changed:
      'its host key is not the one in known_hosts: someone may intercept the connection, or the host was reinstalled',
    revoked: `its host key ${fingerprint(key)} is revoked in known_hosts`,
  }[verdict];
  return refuse(target, words);
}

function refuse({ destination: { label } }: Target, reason: string): SessionError {
  return new SessionError('host_key', label, `cannot reach ${label}: ${reason}`);
}
