/** The interface of a session: the control connection to one host. It carries no payload. */
import type { Readable, Writable } from 'node:stream';

/**
 * One exec channel: a plain `sh` on the host that reads its script from `stdin`. Without a pty: the three streams are
 * separate and binary-safe.
 */
export interface Channel {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /**
   * Resolves when the channel has closed; never rejects. The status of ssh is not reliable: use it only in messages.
   */
  readonly closed: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** Closes the channel's local side at once. Idempotent. */
  kill(): void;
}

/** A socket on this machine that leads to an address seen from the host. */
export interface Forward {
  readonly socketPath: string;
  close(): Promise<void>;
}

/** The time that opening a session took, without the time of questions to the user. */
export interface OpeningTimes {
  /** Until the end of the key exchange. */
  readonly connectMs: number;
  readonly loginMs: number;
}

/** A port of the host's loopback address that leads to a socket on this machine. */
export interface RemoteForward {
  readonly port: number;
  close(): Promise<void>;
}

export interface HostSession {
  readonly kind: 'openssh' | 'ssh2' | 'local' | 'served' | 'launcher';
  /** The program that starts shells on the host; undefined for ssh. */
  readonly launcher?: string;
  /** The host as the user wrote it. */
  readonly label: string;
  /** Undefined if nothing had to be opened. */
  readonly took: OpeningTimes | undefined;
  /** The command with which a user can log in; undefined if there is no login. */
  readonly checkCommand: string | undefined;
  /** Resolves when the connection has ended, at either side; never rejects. */
  readonly ended: Promise<unknown>;
  /**
   * Opens a channel that runs `sh` on the host. If the host refuses, either throws a SessionError, or returns a channel
   * that closes at once with the reason in `failure`, because ssh reports the refusal too late.
   * @throws SessionError if the connection is lost; the signal's reason.
   */
  openShell(signal: AbortSignal): Promise<Channel>;
  /** Returns the only channel of a host that serves copies. An agent already runs at its far end. */
  openAgent?(signal: AbortSignal): Promise<Channel>;
  /**
   * Opens a local Unix socket that leads to host:port as seen from the host; undefined if its server refuses. `forward`
   * and `forwardBack` are absent if the forwarded data would pass through this process.
   */
  forward?(host: string, port: number, signal: AbortSignal): Promise<Forward | undefined>;
  /**
   * Opens a free port of the host's loopback address that leads to a local Unix socket; undefined if its server
   * refuses.
   */
  forwardBack?(socketPath: string, signal: AbortSignal): Promise<RemoteForward | undefined>;
  /**
   * Returns the failure of the connection, or the reason why this channel was not opened, from their logs so far;
   * undefined if none is known.
   */
  failure(of?: Channel): Error | undefined;
  /** Closes every channel and the connection. Takes a bounded time. Idempotent. */
  close(): Promise<void>;
}
