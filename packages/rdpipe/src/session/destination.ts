/** A destination of ssh before it is resolved, and ssh's arguments for it. */
import type { HostRef } from '../model/pipeline.ts';
import { wordForSh } from '../model/shell-quote.ts';

export interface Destination {
  /** The host's name in messages. */
  readonly label: string;
  readonly name: string;
  readonly user: string | undefined;
  readonly port: string | undefined;
  readonly configFile: string | undefined;
  /** Values of -o. */
  readonly options: readonly string[];
  /** The single port of the user's -p. -p is for data, but the user may have meant ssh's port. */
  readonly dataPort?: number | undefined;
}

type SshChoice = Pick<Destination, 'configFile' | 'options' | 'dataPort'>;

/** Returns the destination of a host with the user's -F, -o and -p. */
export function destinationOf(host: HostRef, choice: SshChoice): Destination {
  return {
    label: host.label,
    name: host.name,
    user: host.user,
    port: undefined,
    configFile: choice.configFile,
    options: choice.options,
    dataPort: choice.dataPort,
  };
}

/**
 * Returns the destination of a jump host, from an element of ProxyJump: `[user@]host[:port]` or `ssh://…`. As in ssh,
 * the user's -F applies to it, but not their -o. `before` are the jumps that lead to it.
 */
export function jumpDestination(word: string, before: readonly string[], configFile: string | undefined): Destination {
  const plain = word.replace(/^ssh:\/\//, '').replace(/\/$/, '');
  const at = plain.lastIndexOf('@');
  const { name, port } = splitPort(plain.slice(at + 1));
  return {
    label: word,
    name,
    user: at < 0 ? undefined : plain.slice(0, at),
    port,
    configFile,
    options: before.length > 0 ? [`ProxyJump=${before.join(',')}`] : [],
  };
}

/** Returns the arguments that name the destination, without an action. */
export function destinationArguments(destination: Destination): string[] {
  const { configFile, options, user, port, name } = destination;
  return [
    ...(configFile === undefined ? [] : ['-F', configFile]),
    ...options.flatMap((option) => ['-o', option]),
    ...(user === undefined ? [] : ['-l', user]),
    ...(port === undefined ? [] : ['-p', port]),
    '--',
    name,
  ];
}

/** Returns the command with which a user can check the connection. */
export function checkCommand({ configFile, options, user, port, name }: Destination): string {
  const words = [
    'ssh',
    ...(configFile === undefined ? [] : ['-F', configFile]),
    ...options.flatMap((option) => ['-o', option]),
    ...(port === undefined ? [] : ['-p', port]),
    user === undefined ? name : `${user}@${name}`,
    'true',
  ];
  return words.map(wordForSh).join(' ');
}

function splitPort(text: string): { readonly name: string; readonly port: string | undefined } {
  const bracketed = /^\[(.*)\](?::(\d+))?$/.exec(text);
  if (bracketed?.[1] !== undefined) return { name: bracketed[1], port: bracketed[2] };
  const [name = '', port, ...rest] = text.split(':');
  return rest.length > 0 ? { name: text, port: undefined } : { name, port };
}
