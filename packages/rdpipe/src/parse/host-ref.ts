/** Reads the host of a stage: `[user@]host`, IPv6 addresses in brackets. */
import { isIPv6 } from 'node:net';
import { UsageError } from '../model/errors.ts';
import { type HostRef, type Relay, THIS_MACHINE } from '../model/pipeline.ts';
import { printable } from '../model/text.ts';
import { decode, forMessage } from './binary-string.ts';

/** The index of the `:` that ends the host, the first one outside brackets; -1 if there is none. */
export function endOfHost(word: string): number {
  const host = /^(?:[^:[]|\[[^\]]*\])*/.exec(word)?.[0] ?? '';
  return word[host.length] === ':' ? host.length : -1;
}

/**
 * Reads `[user@]host`, a binary string without the `:`.
 * @throws UsageError with the reason, but without the stage: `host -x begins with '-'`.
 */
export function parseHostRef(text: string): HostRef {
  if (text === '') return THIS_MACHINE;
  const decoded = decode(text);
  if (decoded === undefined) throw new UsageError(`host ${forMessage(text)} is not valid UTF-8`);
  return readHostRef(decoded);
}

function readHostRef(decoded: string): HostRef {
  checkCharacters(decoded);
  const at = decoded.lastIndexOf('@');
  const user = at < 0 ? undefined : decoded.slice(0, at);
  const host = decoded.slice(at + 1);
  if (user === '') throw new UsageError(`host ${decoded} has no user before @`);
  if (host === '') throw new UsageError(`user ${decoded} has no host after @`);
  const name = host.startsWith('[') ? addressIn(host) : host;
  if (name.startsWith('-')) throw new UsageError(`host ${name} begins with '-'`);
  checkForShells('host', name, NOT_IN_HOSTS);
  checkForShells('user', user ?? '', NOT_IN_USERS);
  return { name, user, label: user === undefined ? host : `${user}@${host}` };
}

/** The host as a key of settings: `h1`, `ann@h1`, `2001:db8::1`; '' is this machine. */
export function hostKey(host: HostRef): string {
  return host.user === undefined ? host.name : `${host.user}@${host.name}`;
}

/** The key for a host in decoded text. @throws UsageError if it is empty or not a host. */
export function hostKeyOf(text: string): string {
  if (text === '') throw new UsageError('the host is empty');
  return hostKey(readHostRef(text));
}

/** Reads `auto`, `never` or the host that relays; `text` is decoded and not empty. @throws UsageError */
export function readRelay(text: string): Relay {
  if (text === 'auto' || text === 'never') return text;
  if (endOfHost(text) >= 0) throw new UsageError(`'${printable(text)}' is not one of: auto, never, [USER@]HOST`);
  return readHostRef(text);
}

function checkCharacters(host: string): void {
  if (host.startsWith('-')) throw new UsageError(`host ${printable(host)} begins with '-'`);
  if (/[\s\p{Z}]/u.test(host)) throw new UsageError(`host '${printable(host)}' contains white space`);
  if (printable(host) !== host) throw new UsageError(`host '${printable(host)}' contains a control character`);
}

/**
 * The user's ssh configuration may insert hosts and users into commands for a shell (ProxyCommand, Match exec): ssh
 * refuses names with a meaning to a shell, but ssh2 does not.
 */
const NOT_IN_HOSTS = /['"`$\\;&<>|(){}]/;
/** A user of a Windows domain may contain `\\` or `$`. */
const NOT_IN_USERS = /['"`;&<>|(){}]|\\$/;

function checkForShells(what: string, name: string, forbidden: RegExp): void {
  const found = forbidden.exec(name)?.[0];
  if (found !== undefined) throw new UsageError(`${what} ${name}: a ${what} name cannot contain '${found}'`);
}

function addressIn(host: string): string {
  const address = host.endsWith(']') ? host.slice(1, -1) : '';
  if (!isIPv6(address)) throw new UsageError(`${host} is not an IPv6 address in brackets`);
  return address;
}
