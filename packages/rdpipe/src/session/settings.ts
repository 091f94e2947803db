/** The settings of sessions: the user's choices and what the program provides. */
import type { Emit } from '../model/events.ts';
import type { Launcher } from '../model/launcher.ts';
import type { HostRef } from '../model/pipeline.ts';
import type { SshProgram } from './openssh/program.ts';

/** Lower-case keyword to its values, as `ssh -G` prints them. */
export type SshConfig = ReadonlyMap<string, readonly string[]>;

export interface SessionSettings {
  /** `auto`: the system's ssh where there is one, else ssh2. */
  readonly client: 'auto' | 'openssh' | 'ssh2';
  /** The way to a host; without it, ssh. */
  readonly launcher?: ((host: HostRef) => Launcher) | undefined;
  /** Undefined: there is none on this machine. */
  readonly ssh: SshProgram | undefined;
  /** How long ssh's connections outlive the last run that used them; 0: they end with theirs. Not those of ssh2. */
  readonly persistS: number;
  /** How many hosts log in at a time: one sshd drops connections beyond ten that have not logged in yet. */
  readonly connects: number;
  /** ssh's -F. */
  readonly configFile: string | undefined;
  /** ssh's -o, in the user's order. */
  readonly options: readonly string[];
  /** The file with the key for hosts that serve copies. */
  readonly keyFile?: string | undefined;
  /** The one port of the user's -p, which may have been meant for ssh. */
  readonly dataPort?: number | undefined;
  /** For a host's connection and key exchange, and again for its login; stands still while a question is open. */
  readonly connectTimeoutMs: number;
  /** Silence after which ssh gives a connection up; 0 leaves it to the user's configuration. */
  readonly silenceMs: number;
  /** Words before a command that is to die with rdpipe, even by kill -9: `rdstage --die-with-parent`. */
  readonly dieWithParent: readonly string[];
  /** Absolute path of the program that carries ssh's questions to us: `bin/rdpipe-askpass`. */
  readonly askpass: string;
  /** Looks at a host's configuration of ssh, and throws where the host is not to be connected. */
  readonly checkConfig?: ((config: SshConfig) => void) | undefined;
  readonly emit: Emit;
  /** Ends sessions that are being opened. `close` ends those that are open. */
  readonly signal: AbortSignal;
}
