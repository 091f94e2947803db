/** The errors of connections: reduces ssh's log to one line and a code. */
import { SessionError, type SessionErrorCode } from '../model/errors.ts';
import { printable, shorten } from '../model/text.ts';
import { checkCommand, type Destination } from './destination.ts';

/** Returns why a connection failed, from the log of an ssh that has ended. */
export function connectError(destination: Destination, log: string): SessionError {
  const found = CONNECT_PATTERNS.map((pattern) => ({ pattern, match: pattern.expression.exec(log) })).find(
    ({ match }) => match !== null,
  );
  if (found?.match) return sessionError(destination, found.pattern.code, found.pattern.reason(found.match));
  return sessionError(destination, 'unreachable', lastLine(log) ?? 'ssh exited without a message');
}

/** Returns the error of an open connection that was lost. */
export function lostError(label: string, log: string): SessionError {
  const reason = lastLine(log);
  return new SessionError('session_lost', label, `lost the connection to ${label}${reason ? `: ${reason}` : ''}`);
}

/** Returns the error if the server refused a channel of an open connection. */
export function refusedError(label: string, log: string): SessionError {
  const reason = `the server refused it: ${lastLine(log) ?? 'without a reason'} (it may limit them: MaxSessions)`;
  return new SessionError('no_shell', label, `cannot open a channel to ${label}: ${reason}`);
}

/** Returns the error if there was no connection or no key exchange within the limit. */
export function connectTimeoutError(destination: Destination, port: number, limitMs: number): SessionError {
  return sessionError(destination, 'unreachable', `no ssh connection on port ${port} within ${limitMs / 1000} s`);
}

/** Returns the error if the login did not finish within the limit. */
export function loginTimeoutError(destination: Destination, limitMs: number): SessionError {
  const { label } = destination;
  const next = `see where it hangs: ${checkCommand(destination).replace(/^ssh/, 'ssh -v')}`;
  const reason = `connected, but authentication did not finish within ${limitMs / 1000} s (${next})`;
  return new SessionError('login_timeout', label, `cannot log in to ${label}: ${reason}`);
}

/** Returns the error if a server drops every connection before its login. */
export function droppedError(destination: Destination): SessionError {
  return sessionError(destination, 'unreachable', DROPPED_REASON);
}

const DROPPED_REASON =
  'the server closed the connection before login; it may be limiting simultaneous logins (MaxStartups)';

/** Returns an error such as `cannot reach h2: connection refused on port 22 (try: ssh h2 true)`. */
export function sessionError(destination: Destination, code: SessionErrorCode, reason: string): SessionError {
  const { label } = destination;
  const why = reason + portHint(destination, reason);
  return new SessionError(code, label, `cannot reach ${label}: ${why} (try: ${checkCommand(destination)})`);
}

/** Explains -p, which for ssh is the port to connect to. */
function portHint({ dataPort }: Destination, reason: string): string {
  const refused = /^connection refused on port (\d+)$/.exec(reason)?.[1];
  if (dataPort === undefined || refused === undefined || refused === `${dataPort}`) return '';
  return `; -p sets the data port, use -o Port=${dataPort} for ssh`;
}

/**
 * True if the server dropped the connection before the key exchange, as busy servers do: the only failure that is worth
 * a retry. A jump host that cannot reach its target causes the same messages, hence NOT_DROPPED.
 */
export function isDroppedBeforeLogin(log: string): boolean {
  return !NOT_DROPPED.test(log) && DROPPED.some((expression) => expression.test(log));
}

const NOT_DROPPED = /open failed|forwarding (request )?failed|permission denied|too many authentication/i;

const DROPPED = [
  /connect to host \S+ port \d+: connection reset/i,
  /kex_exchange_identification: ((read|write): )?(connection (closed|reset)|broken pipe)/i,
  // From a connection that was reset before ssh looked up its peer: `by UNKNOWN port -1`.
  /^connection (closed|reset) by .* port (\d+|-1)/im,
];

interface Pattern {
  readonly expression: RegExp;
  readonly code: SessionErrorCode;
  readonly reason: (match: RegExpExecArray) => string;
}

/** In this order, because ssh may print a vaguer line after its first line about a failure. */
const CONNECT_PATTERNS: readonly Pattern[] = [
  {
    expression: /could not resolve hostname (\S+): (.*)/i,
    code: 'unknown_host',
    reason: ([, host = '']) => `unknown host ${printable(host)}`,
  },
  {
    expression: /revoked host key|host key .*revoked/i,
    code: 'host_key',
    reason: () => 'its host key is revoked, or the RevokedHostKeys file cannot be read',
  },
  {
    expression: /remote host identification has changed/i,
    code: 'host_key',
    reason: () =>
      'its host key is not the one in known_hosts: someone may intercept the connection, or the host was reinstalled',
  },
  {
    expression: /host key verification failed|no \S+ host key is known/i,
    code: 'host_key',
    reason: () => 'its host key is not known; connect once by hand and accept it',
  },
  {
    expression: /too many authentication failures/i,
    code: 'authentication',
    reason: () => 'too many keys were refused; choose the right one with IdentityFile and IdentitiesOnly',
  },
  {
    expression: /permission denied \(([\w,@.-]+)\)/i,
    code: 'authentication',
    reason: ([, methods = '']) => `permission denied (${methods})`,
  },
  {
    expression: /connect to host \S+ port (\d+): (.*)/i,
    code: 'unreachable',
    reason: ([, port = '', reason = '']) => `${printable(reason.trim()).toLowerCase()} on port ${port}`,
  },
  {
    expression: /open failed: ([^\n]*?)(?:: ([^:\n]*))?$/im,
    code: 'unreachable',
    reason: ([, kind = '', reason = '']) =>
      `its jump host reports: ${printable((reason || kind).trim()).toLowerCase()}`,
  },
  {
    expression: /stdio forwarding (request )?failed/i,
    code: 'unreachable',
    reason: () => 'its jump host cannot connect to it',
  },
  {
    expression: /kex_exchange_identification|^connection (closed|reset) by/im,
    code: 'unreachable',
    reason: () => DROPPED_REASON,
  },
];

const LINE_MAX_CHARACTERS = 1000;

function lastLine(log: string): string | undefined {
  const line = log
    .split(/\r?\n/)
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .at(-1);
  return line === undefined ? undefined : printable(shorten(line, LINE_MAX_CHARACTERS));
}
