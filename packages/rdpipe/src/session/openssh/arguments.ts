/** The arguments of every ssh that rdpipe starts. */
import { wordForSh } from '../../model/shell-quote.ts';
import { destinationArguments } from '../destination.ts';
import type { Target } from '../resolve.ts';
import type { SessionSettings } from '../settings.ts';
import { keyExchangeOption } from './log.ts';
import type { SshProgram } from './program.ts';

/** Returns the arguments of a master: a connection without its own channel, shared through its control socket. */
export function masterArguments(
  target: Target,
  controlPath: string,
  logPath: string,
  options: readonly string[],
): string[] {
  return [
    '-M',
    '-N',
    ...['-S', controlPath],
    ...['-E', logPath],
    '-x',
    ...values([keyExchangeOption(target.config), LOG_LEVEL, ...NEUTRAL]),
    ...values([...supported(target, ['ForkAfterAuthentication=no', 'StdinNull=no']), ...options]),
    ...destinationArguments(target.destination),
  ];
}

/**
 * Returns the options of a master. ssh's own time limits are off: they give other messages, and do not pause for
 * questions.
 */
export function connectOptions({ silenceMs }: SessionSettings, persistS: number): string[] {
  const seconds = (ms: number) => Math.max(1, Math.ceil(ms / 1000));
  const silence = silenceMs > 0 ? [`ServerAliveInterval=${seconds(silenceMs / 4)}`, 'ServerAliveCountMax=3'] : [];
  const persist = persistS > 0 ? Math.max(persistS, PERSIST_S_MIN) : 'no';
  return ['ConnectTimeout=none', `ControlPersist=${persist}`, ...silence];
}

/** A run has no channel open between the login and the start of its agent: ssh must not end the connection then. */
const PERSIST_S_MIN = 10;

/** Returns the arguments of a channel that runs `sh` over an open connection. */
export function shellArguments(target: Target, controlPath: string, logPath: string): string[] {
  const options = supported(target, ['ForkAfterAuthentication=no', 'StdinNull=no', 'SessionType=default']);
  return [
    ...['-S', controlPath],
    ...['-E', logPath],
    ...['-x', '-T'],
    ...values([LOG_LEVEL, ...NEUTRAL, 'ControlPersist=no', ...NEVER_CONNECTS, ...options]),
    ...destinationArguments(target.destination),
    'sh',
  ];
}

/**
 * Returns the arguments of a command to an open connection, such as `-O exit`. The user's configuration, and so their
 * forwardings, must not apply.
 */
export function controlArguments(controlPath: string, command: string, args: readonly string[] = []): string[] {
  return ['-F', 'none', '-S', controlPath, ...values(NEVER_CONNECTS), '-O', command, ...args, '--', 'host'];
}

/** Returns the arguments of a forward, which follow `-O forward` and later `-O cancel`. */
export function heldForwardArguments(controlPath: string, forwarding: readonly string[]): string[] {
  return ['-F', 'none', '-S', controlPath, ...values(NEVER_CONNECTS), ...forwarding, '--', 'host'];
}

/**
 * Returns arguments that ask the far end of an open connection for a port on which nothing listens: any answer shows
 * that the far end is alive. No program is started there.
 */
export function probeArguments(controlPath: string): string[] {
  return ['-F', 'none', '-S', controlPath, ...values(NEVER_CONNECTS), '-W', '127.0.0.1:1', '--', 'host'];
}

/**
 * Returns the ProxyCommand that leads to a target through the jump host of an open connection. ssh expands its percent
 * signs, then a shell parses it.
 */
export function jumpOption({ path }: SshProgram, controlPath: string): string {
  return `ProxyCommand=${wordForSh(path.replaceAll('%', '%%'))} -F none -S ${controlPath} ${values(NEVER_CONNECTS).join(' ')} -W '[%h]:%p' host`;
}

/** The user's configuration must not run another command, request a terminal, or forward anything. */
const NEUTRAL = [
  'RemoteCommand=none',
  'RequestTTY=no',
  'ClearAllForwardings=yes',
  'PermitLocalCommand=no',
  'Tunnel=no',
  'EscapeChar=none',
];

/** rdpipe recognizes connection failures by the lines that ssh prints at this level. */
const LOG_LEVEL = 'LogLevel=INFO';

/** If the connection is gone, a client must fail instead of connecting on its own. */
const NEVER_CONNECTS = ['ControlMaster=no', 'ProxyCommand=false'];

function values(options: readonly string[]): string[] {
  return options.flatMap((option) => ['-o', option]);
}

/** An older ssh exits at an option that it does not know; `ssh -G` lists those that it knows. */
function supported(target: Target, options: readonly string[]): string[] {
  return options.filter((option) => target.config.has((option.split('=')[0] ?? '').toLowerCase()));
}
