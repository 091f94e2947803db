/** The process as `main` receives it: its environment, and the signals that it ignored at its start. */

/** Standard input and output are left out because they carry payload. */
export interface Io {
  readonly environment: NodeJS.ProcessEnv;
  /** Signals that were ignored when the process started: SigIgn of /proc, hexadecimal. */
  readonly ignoredSignals: string | undefined;
}
