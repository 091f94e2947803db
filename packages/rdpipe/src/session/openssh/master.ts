/** The master: one ssh connection that channels, forwards and jumps share. */
import type { ConcurrencyLimit } from '../concurrency-limit.ts';
import type { OpeningTimes } from '../host-session.ts';
import type { PrivateDir } from '../private-dir.ts';
import type { Prompter } from '../prompts/prompter.ts';
import type { SessionSettings } from '../settings.ts';
import type { SshProgram } from './program.ts';

export interface Master {
  readonly controlPath: string;
  /**
   * True if channels may use its proxy mode: it serves only this run, and its small packets do not wait. (ssh sees to
   * that only for its own sessions.)
   */
  proxies(): boolean;
  /** Returns a new path in the run's private directory. */
  newPath(kind: string): string;
  /** Undefined for the user's own connection. */
  readonly took: OpeningTimes | undefined;
  /** Returns the log of its ssh so far. */
  log(): string;
  /** Resolves when its ssh has ended; never for a connection that outlives the run. */
  readonly ended: Promise<unknown>;
  /** True if the master ended without being closed here. */
  lost(): boolean;
  close(): Promise<void>;
}

export interface MasterContext {
  readonly settings: SessionSettings;
  readonly ssh: SshProgram;
  /** Private to the run. */
  readonly dir: PrivateDir;
  readonly prompter: Prompter;
  /** Limits how many connect at the same time. */
  readonly limit: ConcurrencyLimit;
}
