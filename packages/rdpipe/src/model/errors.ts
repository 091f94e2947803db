/** Every failure rdpipe itself can end with. A code for machines, an exit status, one line for people. */

export type Cause = 'usage' | 'signal' | 'timeout' | 'rdpipe' | 'stage';

export class RdpipeError extends Error {
  readonly code: string;
  readonly status: number;
  readonly causeKind: Cause;

  constructor(code: string, status: number, causeKind: Cause, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
    this.status = status;
    this.causeKind = causeKind;
  }
}

/** The user's words do not fit. Nothing was started. */
export class UsageError extends RdpipeError {
  /** The command line with a line of carets under the place, or nothing. */
  readonly detail: string | undefined;

  constructor(message: string, detail?: string) {
    super('usage', 2, 'usage', message);
    this.detail = detail;
  }
}

/** A host that could not be reached, or whose session broke. `message` names the host and the next step. */
export class SessionError extends RdpipeError {
  readonly host: string;

  constructor(code: SessionErrorCode, host: string, message: string, options?: ErrorOptions) {
    super(code, 125, 'rdpipe', message, options);
    this.host = host;
  }
}

export type SessionErrorCode =
  | 'unknown_host'
  | 'unreachable'
  | 'host_key'
  | 'authentication'
  | 'login_timeout'
  | 'session_lost'
  /** Logged in, but the login shell runs nothing of ours: not in time, or not at all. */
  | 'slow_shell'
  | 'no_shell'
  | 'no_agent'
  | 'agent_protocol';

/** A hop that could not be made or broke, a native program that failed. */
export class HopError extends RdpipeError {
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(code, 125, 'rdpipe', message, options);
  }
}

/** A time limit of the user's. */
export class TimeoutError extends RdpipeError {
  constructor(message: string) {
    super('timeout', 124, 'timeout', message);
  }
}

/** The user's own signal: SIGINT, SIGTERM, SIGHUP. */
export class SignalError extends RdpipeError {
  constructor(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP') {
    const number = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 }[signal];
    super('signal', 128 + number, 'signal', `ended by ${signal}`);
  }
}

/** The exit status for whatever was thrown: what is none of ours is rdpipe's own failure. */
export function statusOf(error: unknown): number {
  return error instanceof RdpipeError ? error.status : 125;
}
