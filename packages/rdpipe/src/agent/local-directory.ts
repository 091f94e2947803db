/** The directory of native programs that are known to run on this machine. Imports no library. */
let directory: string | undefined;

/** Keeps the directory of the program that started rdpipe, whose programs are thus known to run here. */
export function keepLocalDirectory(known: string | undefined): void {
  directory = known;
}

/** Returns undefined if the directory is not known and has to be searched for. */
export function localDirectory(): string | undefined {
  return directory;
}
