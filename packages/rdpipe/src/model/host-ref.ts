/** A host as the user names it, and the route to others through one. */

/** A host as written in a stage; `user` undefined: ssh decides. */
export interface HostRef {
  /** The host as written, without the user: `h1`, `2001:db8::1`, `fe80::1%eth0`; empty for this machine. */
  readonly name: string;
  readonly user: string | undefined;
  /** For messages: `ann@h1`, `[fe80::1%eth0]`, `this machine`. */
  readonly label: string;
  /** An `rdrecv --serve` server, reached without ssh. `user` is then the client's name on the server. */
  readonly served?: { readonly port: number };
}

/** The route between hosts without a direct path: over ssh through this machine, none, or through a host. */
export type Relay = 'auto' | 'never' | HostRef;
