/** Opens the session of every host of a pipeline. */
import type { HostRef } from '../model/pipeline.ts';
import type { SessionId } from '../model/plan.ts';
import type { HostSession } from './host-session.ts';
import type { SessionSettings } from './settings.ts';

export interface Sessions {
  /** By id, in the order in which the hosts were first met: `1`, `2`, …, and `local`. */
  readonly all: ReadonlyMap<SessionId, HostSession>;
  /** Hosts that ssh resolves to the same user, address, port and way share one. */
  idOf(host: HostRef): SessionId;
  /** Ends every session and removes what they kept on this machine. Bounded, idempotent. */
  close(): Promise<void>;
}

/**
 * Opens what the hosts need, in parallel, each jump host once and first. The first failure ends the others.
 * @throws SessionError of the first host that failed; the signal's reason when it was aborted.
 */
export async function openSessions(hosts: readonly HostRef[], settings: SessionSettings): Promise<Sessions> {
  throw new Error(`${hosts.length} ${settings.client}`);
}
