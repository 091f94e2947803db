/** What people type who know ssh and scp, and what means the same here. */

/** The advice for an option that there is none of; undefined where it is not one of ssh's or scp's that we know. */
export function adviceFor(option: string): string | undefined {
  return ADVICE.get(option.slice(0, 2));
}

/** ssh takes values in the same word: `-lann`. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  ['-l', 'write user@host:command'],
  ['-i', 'write -o IdentityFile=FILE'],
  ['-J', 'write -o ProxyJump=HOST'],
  ['-4', 'write -o AddressFamily=inet'],
  ['-6', 'write -o AddressFamily=inet6'],
  ['-A', 'write -o ForwardAgent=yes'],
  ['-P', "ssh's port is -o Port=PORT"],
  ['-C', 'write --compress zstd'],
  ['-r', "write h1:'tar c FOLDER' h2:'tar x'"],
  ['-t', 'commands of a pipeline have no terminal'],
]);
