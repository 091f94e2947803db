/** The arguments of every ssh that rdpipe starts. */
import { wordForSh } from '../../model/shell-quote.ts';
import { destinationArguments } from '../destination.ts';
import type { Target } from '../resolve.ts';
import type { SessionSettings } from '../settings.ts';
import { keyExchangeOption } from './log.ts';
import type { SshProgram } from './program.ts';

/** A connection without a channel of its own that others share by its control socket. */
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

/** rdpipe has its own time limits: those of ssh give other messages, and do not pause for questions. */
export function connectOptions({ silenceMs }: SessionSettings, persistS: number): string[] {
  const seconds = (ms: number) => Math.max(1, Math.ceil(ms / 1000));
  const silence = silenceMs > 0 ? [`ServerAliveInterval=${seconds(silenceMs / 4)}`, 'ServerAliveCountMax=3'] : [];
  const persist = persistS > 0 ? Math.max(persistS, LEAST_PERSIST_S) : 'no';
  return ['ConnectTimeout=none', `ControlPersist=${persist}`, ...silence];
}

/** A run has no channel open between its login and its agent's start: ssh must not end the connection then. */
const LEAST_PERSIST_S = 10;

/** A channel that runs `sh` over a connection that stands. */
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

/** A command to a connection that stands: `-O check` and the like. The user's forwardings must not get into it. */
export function controlArguments(controlPath: string, command: string, args: readonly string[] = []): string[] {
  return ['-F', 'none', '-S', controlPath, ...values(NEVER_CONNECTS), '-O', command, ...args, '--', 'host'];
}

/** Of a forward: `-O forward` and later `-O cancel` stand before them. */
export function heldForwardArguments(controlPath: string, forwarding: readonly string[]): string[] {
  return ['-F', 'none', '-S', controlPath, ...values(NEVER_CONNECTS), ...forwarding, '--', 'host'];
}

/**
 * Asks the far end of a connection that stands for a port that nothing listens on: any answer shows that it is alive.
 * No program is started there.
 */
export function probeArguments(controlPath: string): string[] {
  return ['-F', 'none', '-S', controlPath, ...values(NEVER_CONNECTS), '-W', '127.0.0.1:1', '--', 'host'];
}

/**
 * The ProxyCommand that leads to a target through the jump host of an open connection. ssh expands its percent signs,
 * then a shell takes it.
 */
export function jumpOption({ path }: SshProgram, controlPath: string): string {
  return `ProxyCommand=${wordForSh(path.replaceAll('%', '%%'))} -F none -S ${controlPath} ${values(NEVER_CONNECTS).join(' ')} -W '[%h]:%p' host`;
}

/** No configuration of the user's may run something else, ask for a terminal, or forward anything. */
const NEUTRAL = [
  'RemoteCommand=none',
  'RequestTTY=no',
  'ClearAllForwardings=yes',
  'PermitLocalCommand=no',
  'Tunnel=no',
  'EscapeChar=none',
];

/** rdpipe recognizes failures of the connection by the lines that ssh prints at this level. */
const LOG_LEVEL = 'LogLevel=INFO';

/** Should the connection be gone, a client of it must fail rather than connect by itself. */
const NEVER_CONNECTS = ['ControlMaster=no', 'ProxyCommand=false'];

function values(options: readonly string[]): string[] {
  return options.flatMap((option) => ['-o', option]);
}

/** An older ssh ends at an option it does not know; `ssh -G` lists those it knows. */
function supported(target: Target, options: readonly string[]): string[] {
  return options.filter((option) => target.config.has((option.split('=')[0] ?? '').toLowerCase()));
}
