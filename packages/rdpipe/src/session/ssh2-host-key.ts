/** Compares the key that a host shows to ssh2 with known_hosts. Nothing is ever taken on trust, nor added. */
import { readFile } from 'node:fs/promises';
import type { ServerHostKeyAlgorithm } from 'ssh2';
import { SessionError } from '../model/errors.ts';
import { checkHostKey, fingerprint, hostKeyName, knownHostsLine, knownKeyTypes, type Verdict } from './known-hosts.ts';
import type { Route } from './resolve.ts';
import { configuredPaths } from './ssh2-config.ts';

export interface HostKeyCheck {
  /** To be asked for first. */
  readonly algorithms: readonly ServerHostKeyAlgorithm[];
  verify(key: Buffer): boolean;
  /** Why `verify` said no. */
  refusal(): SessionError | undefined;
}

export async function createHostKeyCheck(route: Route): Promise<HostKeyCheck> {
  const knownHosts = await readKnownHosts(route);
  const name = route.config.get('hostkeyalias')?.[0] ?? hostKeyName(route.hostname, route.port);
  let refusal: SessionError | undefined;
  return {
    algorithms: preferredAlgorithms(knownHosts, name),
    verify(key) {
      const verdict = checkHostKey(knownHosts, name, key);
      if (verdict !== 'known') refusal = hostKeyError(route, verdict, name, key);
      return verdict === 'known';
    },
    refusal: () => refusal,
  };
}

async function readKnownHosts(route: Route): Promise<string> {
  const paths = ['userknownhostsfile', 'globalknownhostsfile'].flatMap((keyword) => configuredPaths(route, keyword));
  const texts = paths.map((path) => readFile(path, 'utf8').catch(() => ''));
  return (await Promise.all(texts)).join('\n');
}

/** A server has several keys: it should show one that can be checked. An RSA key is used with newer digests than its name says. */
function preferredAlgorithms(knownHosts: string, name: string): ServerHostKeyAlgorithm[] {
  const algorithms = knownKeyTypes(knownHosts, name).flatMap((type) =>
    type === 'ssh-rsa' ? ['rsa-sha2-512', 'rsa-sha2-256'] : [type],
  );
  return algorithms.filter((algorithm): algorithm is ServerHostKeyAlgorithm => SUPPORTED.has(algorithm));
}

const SUPPORTED: ReadonlySet<string> = new Set([
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'rsa-sha2-512',
  'rsa-sha2-256',
]);

function hostKeyError(route: Route, verdict: Exclude<Verdict, 'known'>, name: string, key: Buffer): SessionError {
  const words = {
    unknown: `its host key ${fingerprint(key)} is not known: if it is the right one, add to ~/.ssh/known_hosts: ${knownHostsLine(name, key)}`,
    changed: 'its host key is not the one in known_hosts: somebody may be listening in, or the host was set up anew',
    revoked: `its host key ${fingerprint(key)} is revoked in known_hosts`,
  }[verdict];
  const { label } = route.destination;
  return new SessionError('host_key', label, `cannot reach ${label}: ${words}`);
}
