import { RdpipeError } from './errors.ts';

/** What this machine lacked, by the system's code. */
const SHORTAGES: Readonly<Record<string, string>> = {
  EMFILE: 'too many open files (ulimit -n raises the limit)',
  ENFILE: 'too many open files on the whole machine (fs.file-max is the limit)',
  EAGAIN: 'too many processes (ulimit -u is the limit)',
  ENOMEM: 'out of memory',
  ENOSPC: 'no space left on device',
  EDQUOT: 'disk quota exceeded',
  EROFS: 'read-only file system',
};

/** The error in words, where it came of a limit of this machine and is no defect of ours. */
export function shortageOf(error: unknown): RdpipeError | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  const words = SHORTAGES[String(error.code)];
  if (words === undefined) return undefined;
  const message = `this machine: ${words}: ${error.message}`;
  return new RdpipeError('shortage', 125, 'rdpipe', message, { cause: error });
}
