/** The pool of sessions: one session a host, its jump hosts first. */
import type { HostSession } from './host-session.ts';
import type { Route } from './resolve.ts';

/** Connects each route once, its jump hosts first, and shares the session with all callers. */
export interface SessionPool {
  connect(route: Route): Promise<HostSession>;
  /** Ends every session, also those that are still being made. */
  close(): Promise<void>;
}

export function createSessionPool<Session extends HostSession>(
  connectVia: (route: Route, via: Session | undefined) => Promise<Session>,
): SessionPool {
  const sessions = new Map<string, Promise<Session>>();

  const connectOnce = (route: Route): Promise<Session> => {
    const known = sessions.get(route.identity);
    if (known) return known;
    const session = connectThrough(route);
    sessions.set(route.identity, session);
    return session;
  };
  const connectThrough = async (route: Route): Promise<Session> => {
    const via = route.via && (await connectOnce(route.via));
    return connectVia(route, via);
  };

  return {
    connect: connectOnce,
    async close() {
      const settled = await Promise.allSettled(sessions.values());
      await Promise.all(settled.map((result) => (result.status === 'fulfilled' ? result.value.close() : undefined)));
    },
  };
}
