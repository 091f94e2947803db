/** Reads the hosts of `rdpipe doctor` and `rdpipe bench`. */
import { UsageError } from '../model/errors.ts';
import type { HostRef } from '../model/pipeline.ts';
import type { Settings } from '../model/settings.ts';
import { forMessage } from './binary-string.ts';
import { checkHosts } from './check-hosts.ts';
import { expandHostList } from './host-list.ts';
import { endOfHost, hostKey, parseHostRef } from './host-ref.ts';

type HostSettings = Pick<Settings, 'namedHosts' | 'groups' | 'launcher'>;

/**
 * Reads lists of hosts, binary strings; `:` is this machine.
 * @throws UsageError if a word is not a list of hosts, or if a flag names a host that is not among them.
 */
export function parseHosts(words: readonly string[], settings: HostSettings): readonly HostRef[] {
  if (words.length === 0) throw new UsageError('no host given (rdpipe doctor [options] HOST...)');
  const hosts = words.flatMap((word) => parseHostWord(word, settings.groups));
  checkHosts(settings, hosts, 'no host is called');
  return hosts;
}

/**
 * Reads two different hosts.
 * @throws UsageError
 */
export function parseTwoHosts(words: readonly string[], settings: HostSettings): readonly [HostRef, HostRef] {
  const hosts = words.length === 0 ? [] : parseHosts(words, settings);
  const [from, to, ...others] = hosts;
  if (from === undefined || to === undefined || others.length > 0)
    throw new UsageError(`expected two hosts, not ${hosts.length} (rdpipe bench [options] HOST HOST)`);
  if (hostKey(from) === hostKey(to)) throw new UsageError(`${from.label} is given twice (give two different hosts)`);
  return [from, to];
}

function parseHostWord(word: string, groups: Settings['groups']): readonly HostRef[] {
  if (word === '') throw new UsageError('a host name is empty (use : for this machine)');
  const colon = endOfHost(word);
  if (colon >= 0 && word !== ':') throw new UsageError(`${forMessage(word)} is a stage (give only the host)`);
  return word === ':' ? [parseHostRef('')] : expandHostList(word, groups).map(parseHostRef);
}
