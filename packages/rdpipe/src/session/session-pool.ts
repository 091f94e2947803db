/** The pool of sessions: one session per host, its jump hosts first. */
import type { HostSession } from './host-session.ts';
import type { Target } from './resolve.ts';

/** Connects each target once, its jump hosts first, and shares the session with all callers. */
export interface SessionPool {
  connect(target: Target): Promise<HostSession>;
  /** Closes every session, including those that are being opened. */
  close(): Promise<void>;
}

/** `connectVia` opens one session, through that of the jump host if there is one. */
export function createSessionPool<Session extends HostSession>(
  connectVia: (target: Target, via: Session | undefined) => Promise<Session>,
): SessionPool {
  const sessions = new Map<string, Promise<Session>>();

  const connectOnce = (target: Target): Promise<Session> => {
    const known = sessions.get(target.identity);
    if (known) return known;
    const session = connectThrough(target);
    sessions.set(target.identity, session);
    return session;
  };
  const connectThrough = async (target: Target): Promise<Session> => {
    const via = target.via && (await connectOnce(target.via));
    return connectVia(target, via);
  };

  return {
    connect: connectOnce,
    async close() {
      const settled = await Promise.allSettled(sessions.values());
      await Promise.all(settled.map((result) => (result.status === 'fulfilled' ? result.value.close() : undefined)));
    },
  };
}
