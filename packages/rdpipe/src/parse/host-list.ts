/** Reads lists of hosts in the syntax of pdsh and Slurm: `h2,h3`, `n[01-16,40]`, `n[1-8]!n3`. */
import { isIPv6 } from 'node:net';
import { UsageError } from '../model/errors.ts';
import { printable } from '../model/text.ts';

/** More than a cluster has; a mistyped range must not exhaust the memory. */
export const HOSTS_MAX = 10_000;

type Groups = ReadonlyMap<string, string>;

/**
 * The hosts of a list, each `[user@]host`, in the order in which they are written, without repetitions. Each item has
 * its own user. An IPv6 address in brackets is a host, not a range; `@name` is a list of the config file. As in
 * ClusterShell, `!` removes the hosts of the next item from those before it; one without a user removes every user's.
 * @throws UsageError with the reason, but without the stage.
 */
export function expandHostList(
  text: string,
  groups: Groups = new Map(),
  within: readonly string[] = [],
): readonly string[] {
  const hosts = new Set<string>();
  for (const { operator, item } of splitItems(text)) {
    if (item === '' && text !== '') throw new UsageError(`the list of hosts ${printable(text)} has an empty item`);
    const expanded = item.startsWith('@') ? expandGroup(item.slice(1), groups, within) : expandItem(item);
    if (operator === '!') exclude(hosts, new Set(expanded));
    else for (const host of expanded) hosts.add(host);
    if (hosts.size > HOSTS_MAX) throw tooMany(text);
  }
  if (hosts.size === 0) throw new UsageError(`the list of hosts ${printable(text)} leaves no host`);
  return [...hosts];
}

function exclude(hosts: Set<string>, excluded: ReadonlySet<string>): void {
  for (const host of hosts) {
    const withoutUser = host.slice(host.lastIndexOf('@') + 1);
    if (excluded.has(host) || excluded.has(withoutUser)) hosts.delete(host);
  }
}

/** A group may name other groups, but not itself. */
function expandGroup(name: string, groups: Groups, within: readonly string[]): readonly string[] {
  const list = groups.get(Buffer.from(name, 'latin1').toString());
  if (list === undefined) {
    const message = `there is no group ${printable(name)} in [groups] of the config file`;
    throw new UsageError(message, `write it there: ${printable(name)} = "n[1-4]"`);
  }
  if (within.includes(name)) throw new UsageError(`the group ${printable(name)} of the config file names itself`);
  return expandHostList(Buffer.from(list).toString('latin1'), groups, [...within, name]);
}

/** Commas in brackets belong to ranges. */
function splitItems(text: string): readonly { readonly operator: string; readonly item: string }[] {
  const items = `,${text}`.matchAll(/([,!])((?:[^,![]|\[[^\]]*\]?)*)/g);
  return [...items].map(([, operator = '', item = '']) => ({ operator, item }));
}

function expandItem(item: string): readonly string[] {
  const at = item.lastIndexOf('@') + 1;
  const [user, host] = [item.slice(0, at), item.slice(at)];
  const address = /^\[([^\]]*)\]$/.exec(host)?.[1];
  if (address !== undefined && (isIPv6(address) || address.includes(':'))) return [item];
  return expandRanges(host, item).map((name) => `${user}${name}`);
}

/** Expands every `[…]`; the first varies slowest. */
function expandRanges(host: string, item: string): readonly string[] {
  const parts = /^([^[\]]*)(?:\[([^\]]*)\](.*))?$/s.exec(host);
  if (parts === null) throw new UsageError(`the list of hosts ${printable(item)} has an unmatched bracket`);
  const [, before = '', ranges, after = ''] = parts;
  if (ranges === undefined) return [before];
  const behind = expandRanges(after, item);
  const numbers = ranges.split(',').flatMap((range) => expandRange(range, item));
  if (numbers.length * behind.length > HOSTS_MAX) throw tooMany(item);
  return numbers.flatMap((number) => behind.map((rest) => `${before}${number}${rest}`));
}

/** `7`, `1-16`, `01-16` (two digits each), `0-30/10` (every tenth). */
function expandRange(range: string, item: string): readonly string[] {
  const [, first, last, step = '1'] = /^(\d{1,9})(?:-(\d{1,9})(?:\/(\d{1,9}))?)?$/.exec(range) ?? [];
  if (first === undefined || Number(step) === 0) {
    throw new UsageError(`${printable(item)}: '${printable(range)}' is not a number or a range such as 1-16`);
  }
  if (last === undefined) return [first];
  const [from, to] = [Number(first), Number(last)];
  if (to < from) throw new UsageError(`${printable(item)}: the range ${range} runs backwards`);
  const count = Math.floor((to - from) / Number(step)) + 1;
  if (count > HOSTS_MAX) throw tooMany(item);
  const digits = first.startsWith('0') ? first.length : 0;
  return Array.from({ length: count }, (_, index) => String(from + index * Number(step)).padStart(digits, '0'));
}

function tooMany(text: string): UsageError {
  return new UsageError(`the list of hosts ${printable(text)} has more than ${HOSTS_MAX} hosts`);
}
