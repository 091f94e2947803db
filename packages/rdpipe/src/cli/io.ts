/** The process as `main` gets it: its environment, and the signals it was started to ignore. */

/** Standard input and output are not here: they carry payload. */
export interface Io {
  readonly environment: NodeJS.ProcessEnv;
  /** Signals that were ignored when the process began: SigIgn of /proc. */
  readonly ignoredSignals: string | undefined;
}
