/** The lease between rdpipe and an agent: pings, and the longest permitted silence. */
import type { AgentRequest } from '../model/protocol.ts';

/** Keepalive in both directions: four pings per lease, and at least one message from the agent within each lease. */
export interface Lease {
  readonly ms: number;
  /** A message arrived. */
  received(): void;
  /** A request was sent: `prepare` starts the lease, `suspend` pauses it, `resume` restarts it. */
  sent(request: AgentRequest): void;
  expired(): boolean;
  stop(): void;
}

interface LeaseActions {
  ping(): void;
  expire(): void;
}

/** A server allows leases of at most an hour. */
const PING_MAX_MS = 600_000;

/** Starts the pings. Calls `expire` after `ms` without a message, once `prepare` was sent. */
export function watchLease(ms: number, { ping, expire }: LeaseActions): Lease {
  let expired = false;
  let silence: NodeJS.Timeout | undefined;
  const pings = setInterval(ping, Math.min(ms / 4, PING_MAX_MS)).unref();
  const watchSilence = () => {
    clearTimeout(silence);
    silence = setTimeout(() => {
      expired = true;
      expire();
    }, ms).unref();
  };
  const stopWatching = () => {
    clearTimeout(silence);
    silence = undefined;
  };
  return {
    ms,
    received: () => void silence?.refresh(),
    sent({ op }) {
      if (op === 'prepare' || op === 'resume') watchSilence();
      if (op === 'suspend') stopWatching();
    },
    expired: () => expired,
    stop() {
      clearInterval(pings);
      stopWatching();
    },
  };
}
