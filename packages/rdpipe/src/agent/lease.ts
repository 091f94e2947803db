/** The lease between rdpipe and an agent: pings, and the longest silence. */
import type { AgentRequest } from '../model/protocol.ts';

/** Keepalive in both directions: a ping four times a lease, and at least one message within each lease. */
export interface Lease {
  readonly ms: number;
  /** A message arrived. */
  received(): void;
  /** A request is sent: `prepare` starts the lease, `suspend` pauses it, `resume` restarts it. */
  sent(request: AgentRequest): void;
  expired(): boolean;
  stop(): void;
}

interface LeaseActions {
  ping(): void;
  expire(): void;
}

export function watchLease(ms: number, { ping, expire }: LeaseActions): Lease {
  let expired = false;
  let silence: NodeJS.Timeout | undefined;
  const pings = setInterval(ping, ms / 4).unref();
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
