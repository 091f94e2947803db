/** Reads the hosts of `rdpipe doctor` and `rdpipe bench`. */
import { UsageError } from '../model/errors.ts';
import type { HostRef } from '../model/pipeline.ts';
import type { NamedHost } from '../model/settings.ts';
import { forMessage } from './binary-string.ts';
import { checkNamedHosts, endOfHost, hostKey, parseHostRef } from './host-ref.ts';

/**
 * Reads `[user@]host` words, binary strings; `:` is this machine.
 * @throws UsageError if a word is not a host, or if a flag names a host that is not among them.
 */
export function parseHosts(words: readonly string[], namedHosts: readonly NamedHost[]): readonly HostRef[] {
  if (words.length === 0) throw new UsageError('no host given (rdpipe doctor [options] HOST...)');
  const hosts = words.map(parseHost);
  checkNamedHosts(namedHosts, hosts, 'no host is called');
  return hosts;
}

/**
 * Reads two different hosts.
 * @throws UsageError
 */
export function parseTwoHosts(words: readonly string[], namedHosts: readonly NamedHost[]): readonly [HostRef, HostRef] {
  const [from, to, ...others] = words.length === 0 ? [] : parseHosts(words, namedHosts);
  if (from === undefined || to === undefined || others.length > 0)
    throw new UsageError(`expected two hosts, not ${words.length} (rdpipe bench [options] HOST HOST)`);
  if (hostKey(from) === hostKey(to)) throw new UsageError(`${from.label} is given twice (give two different hosts)`);
  return [from, to];
}

function parseHost(word: string): HostRef {
  if (word === '') throw new UsageError('a host name is empty (use : for this machine)');
  const colon = endOfHost(word);
  if (colon >= 0 && word !== ':') throw new UsageError(`${forMessage(word)} is a stage (give only the host)`);
  return parseHostRef(word === ':' ? '' : word);
}
