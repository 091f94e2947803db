/** The directory of native programs that are known to run on this machine. Loads no library. */
let directory: string | undefined;

/** A program there has started rdpipe, and so has shown that they run here. */
export function keepLocalDirectory(known: string | undefined): void {
  directory = known;
}

/** Undefined: it has to be found out. */
export function localDirectory(): string | undefined {
  return directory;
}
