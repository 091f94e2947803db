/** The master: one ssh connection that channels, forwards and jumps share. */
import type { ConcurrencyLimit } from '../concurrency-limit.ts';
import type { OpeningTimes } from '../host-session.ts';
import type { PrivateDir } from '../private-dir.ts';
import type { Prompter } from '../prompts/prompter.ts';
import type { SessionSettings } from '../settings.ts';
import type { SshProgram } from './program.ts';

export interface Master {
  readonly controlPath: string;
  /** A new path in the run's private directory. */
  newPath(kind: string): string;
  /** Undefined for a connection of the user's. */
  readonly took: OpeningTimes | undefined;
  /** The log of its ssh so far. */
  log(): string;
  /** Resolves when its ssh has ended; never for a connection of the user's. */
  readonly ended: Promise<unknown>;
  /** Whether it ended without being closed here. */
  lost(): boolean;
  close(): Promise<void>;
}

export interface MasterContext {
  readonly settings: SessionSettings;
  readonly ssh: SshProgram;
  /** Private to the run. */
  readonly dir: PrivateDir;
  readonly prompter: Prompter;
  /** How many connect at a time. */
  readonly limit: ConcurrencyLimit;
}
