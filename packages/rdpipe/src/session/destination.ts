/** A destination of ssh, before it is resolved, and ssh's arguments for it. */
import type { HostRef } from '../model/pipeline.ts';
import { wordForSh } from '../model/shell-quote.ts';

export interface Destination {
  /** For messages. */
  readonly label: string;
  readonly name: string;
  readonly user: string | undefined;
  readonly port: string | undefined;
  readonly configFile: string | undefined;
  /** Values of -o. */
  readonly options: readonly string[];
  /** The one port of the user's -p, which is for data and may have been meant for ssh. */
  readonly dataPort?: number | undefined;
}

type SshChoice = Pick<Destination, 'configFile' | 'options' | 'dataPort'>;

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
 * A jump host as ProxyJump writes it: `[user@]host[:port]` or `ssh://…`. Like ssh itself it gets the user's -F but not
 * their -o; `before` are the jumps that lead to it.
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

/** Arguments that name the destination: everything but what is to be done there. */
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

/** The command by which a user can check the connection. */
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
