/** The folder of native programs that are known to run on this machine. Loads no library. */
let folder: string | undefined;

/** A program there has started rdpipe, and so has shown that they run here. */
export function keepLocalFolder(known: string | undefined): void {
  folder = known;
}

/** Undefined: it has to be found out. */
export function localFolder(): string | undefined {
  return folder;
}
