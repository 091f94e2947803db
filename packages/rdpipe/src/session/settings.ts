/** The settings of sessions: the user's choices, and values that the program provides. */
import type { Emit } from '../model/events.ts';
import type { Launcher } from '../model/launcher.ts';
import type { HostRef } from '../model/pipeline.ts';
import type { Channel } from './host-session.ts';
import type { SshProgram } from './openssh/program.ts';

/** Lower-case keyword to its values, as `ssh -G` prints them. */
export type SshConfig = ReadonlyMap<string, readonly string[]>;

export interface SessionSettings {
  /** `auto`: the system's ssh if it exists, otherwise ssh2. */
  readonly client: 'auto' | 'openssh' | 'ssh2';
  /** How a host is reached; ssh if not set. */
  readonly launcher?: ((host: HostRef) => Launcher) | undefined;
  /** Undefined if this machine has none. */
  readonly ssh: SshProgram | undefined;
  /**
   * How long connections of ssh outlive the last run that used them; 0: they end with their run. Does not apply to
   * ssh2.
   */
  readonly persistS: number;
  /** How many hosts log in at the same time: an sshd drops connections if more than ten have not logged in yet. */
  readonly connects: number;
  /** The value of ssh's -F. */
  readonly configFile: string | undefined;
  /** The values of ssh's -o, in the user's order. */
  readonly options: readonly string[];
  /** The file with the key for hosts that serve copies. */
  readonly keyFile?: string | undefined;
  /** The single port of the user's -p, which may have been meant for ssh. */
  readonly dataPort?: number | undefined;
  /** Time limit for a host's connection and key exchange, and again for its login; paused while a question is open. */
  readonly connectTimeoutMs: number;
  /** Silence after which ssh gives up a connection; 0 leaves this to the user's configuration. */
  readonly silenceMs: number;
  /** Command line before a command that must end with rdpipe, even after kill -9: `rdstage --die-with-parent`. */
  readonly dieWithParent: readonly string[];
  /**
   * Returns the command line before a launcher: `rdstage --die-after-parent`. The launcher keeps its streams. If rdpipe
   * is killed, the launcher has `graceMs` to end because its input has ended; then it is ended.
   */
  readonly dieAfterParent: (graceMs: number) => readonly string[];
  /** Absolute path of the program that passes ssh's questions to rdpipe: `bin/rdpipe-askpass`. */
  readonly askpass: string;
  /** An agent that already runs on this machine, for another process's input and output. */
  readonly localAgent?: Channel | undefined;
  /** Use only connections that are already open. */
  readonly onlyOpen?: boolean | undefined;
  /** Checks a host's configuration of ssh; throws if the host must not be connected. */
  readonly checkConfig?: ((config: SshConfig) => void) | undefined;
  readonly emit: Emit;
  /** Ends sessions that are being opened. `close` ends those that are open. */
  readonly signal: AbortSignal;
}
