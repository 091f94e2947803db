/** The paths that connected the hops of a run: later hops between the same hosts begin with them. */
import type { Candidate, HopLink, SessionId } from '../model/plan.ts';
import type { HopConnection } from './hop-connection.ts';
import { winner } from './hop-messages.ts';

export interface KnownPaths {
  /** Returns the candidates of a hop in the order in which they are to be tried. */
  order(hop: HopLink): readonly Candidate[];
  keep(connection: HopConnection): void;
}

interface Path {
  readonly dialer: SessionId;
  readonly candidate: Candidate;
}

export function createKnownPaths(): KnownPaths {
  const known = new Map<string, Path>();
  return {
    order(hop) {
      const path = known.get(pairOf(hop));
      const isKnown = (candidate: Candidate) => path !== undefined && isSame(path, hop, candidate);
      const { candidates } = hop;
      return [...candidates.filter(isKnown), ...candidates.filter((candidate) => !isKnown(candidate))];
    },
    keep({ hop, ...connection }) {
      const candidate = winner({ hop, ...connection })?.candidate;
      if (candidate !== undefined) known.set(pairOf(hop), { dialer: dialerOf(hop, candidate), candidate });
    },
  };
}

/** The same for both directions: a firewall refuses the packets of a host, whichever data they carry. */
function pairOf({ from, to }: HopLink): string {
  return JSON.stringify([from, to].sort());
}

function isSame({ dialer, candidate: { way, transport, host } }: Path, hop: HopLink, candidate: Candidate): boolean {
  const isSameWay = candidate.way === way && candidate.transport === transport && dialerOf(hop, candidate) === dialer;
  return isSameWay && (way !== 'address' || candidate.host === host);
}

function dialerOf({ from, to }: HopLink, { dialer }: Candidate): SessionId {
  return dialer === 'sender' ? from : to;
}
