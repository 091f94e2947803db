/** Every failure of rdpipe: a code for machines, an exit status, one line for people. */

/** `copy`: only some paths of a copy failed. */
export type Cause = 'usage' | 'signal' | 'timeout' | 'rdpipe' | 'stage' | 'copy';

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

/** The command line or the config file is wrong. Nothing was started. */
export class UsageError extends RdpipeError {
  /** The command line with carets under the error; undefined: none. */
  readonly detail: string | undefined;

  constructor(message: string, detail?: string) {
    super('usage', 2, 'usage', message);
    this.detail = detail;
  }
}

/** A host could not be reached, or its session broke. `message` names the host and the next step. */
export class SessionError extends RdpipeError {
  declare readonly code: SessionErrorCode;
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
  /** The host slows down a chain, and may be dropped. */
  | 'host_slow'
  /** Logged in, but the login shell does not run rdpipe's command: not in time, or not at all. */
  | 'slow_shell'
  | 'no_shell'
  | 'no_agent'
  | 'agent_protocol';

/** A hop could not be connected or broke, or a native program failed. */
export class HopError extends RdpipeError {
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(code, 125, 'rdpipe', message, options);
  }
}

/** The user's time limit, --timeout, expired. */
export class TimeoutError extends RdpipeError {
  constructor(message: string) {
    super('timeout', 124, 'timeout', message);
  }
}

/** A signal ended rdpipe: SIGINT, SIGTERM or SIGHUP. */
export class SignalError extends RdpipeError {
  constructor(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP') {
    const number = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 }[signal];
    super('signal', 128 + number, 'signal', `ended by ${signal}`);
  }
}

/** The exit status for a thrown value: an error of another class is rdpipe's own failure. */
export function statusOf(error: unknown): number {
  return error instanceof RdpipeError ? error.status : 125;
}

/** The failure if this machine ran out of a resource; undefined if `error` is a defect of rdpipe. */
export function shortageOf(error: unknown): RdpipeError | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  const reason = SHORTAGES[String(error.code)];
  if (reason === undefined) return undefined;
  const message = `this machine: ${reason}: ${error.message}`;
  return new RdpipeError('shortage', 125, 'rdpipe', message, { cause: error });
}

/** The reason of a failed system call: `permission denied`; otherwise the message, without node's call and path. */
export function reasonOf({ code = '', message }: NodeJS.ErrnoException): string {
  return REASONS[code] ?? SHORTAGES[code] ?? message.replace(/, \w+(?: '.*)?$/, '');
}

/** The words of the native programs. */
const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EFBIG: 'file too large',
  EISDIR: 'it is a directory',
  ELOOP: 'too many levels of symbolic links',
  ENAMETOOLONG: 'file name too long',
  ENOENT: 'no such file or directory',
  ENOTDIR: 'not a directory',
};

/** Reasons by name of the errno. */
const SHORTAGES: Readonly<Record<string, string>> = {
  EMFILE: 'too many open files (ulimit -n raises the limit)',
  ENFILE: 'too many open files on the whole machine (fs.file-max is the limit)',
  EAGAIN: 'too many processes (ulimit -u is the limit)',
  ENOMEM: 'out of memory',
  ENOSPC: 'no space left on device',
  EDQUOT: 'disk quota exceeded',
  EROFS: 'read-only file system',
};
