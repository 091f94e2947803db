/** The interface of a session: the control connection to one host. Payload never goes through it. */
import type { Readable, Writable } from 'node:stream';

/**
 * One exec channel: a plain `sh` on the host that reads its script from `stdin`. No pty: three separate, binary-safe
 * streams.
 */
export interface Channel {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the channel has closed; never rejects. Statuses of ssh prove nothing: they are for messages only. */
  readonly closed: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** Ends the channel's local side at once. Idempotent. */
  kill(): void;
}

/** A socket of this machine that leads to an address of the host. */
export interface Forward {
  readonly socketPath: string;
  close(): Promise<void>;
}

/** The time that opening a session took, without questions to the user. */
export interface OpeningTimes {
  /** To the end of the key exchange. */
  readonly connectMs: number;
  readonly loginMs: number;
}

/** A port of the host's loopback address that leads to a socket of this machine. */
export interface RemoteForward {
  readonly port: number;
  close(): Promise<void>;
}

export interface HostSession {
  readonly kind: 'openssh' | 'ssh2' | 'local' | 'served' | 'launcher';
  /** The program that gives shells there; ssh has none. */
  readonly launcher?: string;
  /** The host as the user wrote it. */
  readonly label: string;
  /** Undefined: nothing had to be opened. */
  readonly took: OpeningTimes | undefined;
  /** The command that logs in by hand; undefined where there is no login. */
  readonly checkCommand: string | undefined;
  /** Resolves when its connection has ended, at either side; never rejects. */
  readonly ended: Promise<unknown>;
  /**
   * Opens a channel that runs `sh` there. One that the host refuses is a SessionError, or a channel that closes at once
   * and leaves its reason in `failure`: ssh reports it too late.
   * @throws SessionError when the connection is lost; the signal's reason.
   */
  openShell(signal: AbortSignal): Promise<Channel>;
  /** The only channel of a host that serves copies: an agent runs at its far end, and nothing else can. */
  openAgent?(signal: AbortSignal): Promise<Channel>;
  /**
   * Leads a local unix socket to host:port as seen from the host; undefined where its server refuses. Absent, as is the
   * next one, where this session has no forwards past this process.
   */
  forward?(host: string, port: number, signal: AbortSignal): Promise<Forward | undefined>;
  /** Leads a free port of the host's loopback address to a local unix socket; undefined where its server refuses. */
  forwardBack?(socketPath: string, signal: AbortSignal): Promise<RemoteForward | undefined>;
  /** The failure of the connection, from its log so far; undefined when none is known. */
  failure(): Error | undefined;
  /** Ends every channel and the connection. Bounded, idempotent. */
  close(): Promise<void>;
}
