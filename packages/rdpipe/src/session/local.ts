/** The session of this machine, which needs no connection. */
import { startChild } from './child-channel.ts';
import type { Channel, HostSession } from './host-session.ts';

/** Returns a session whose channels are child processes, or the one to an agent that already runs. */
export function createLocalSession(agent?: Channel): HostSession {
  const channels = new Set<Channel>();
  return {
    kind: 'local',
    label: 'this machine',
    took: undefined,
    checkCommand: undefined,
    ended: new Promise(() => {}),
    async openShell(signal) {
      signal.throwIfAborted();
      const channel = startChild(['sh']);
      channels.add(channel);
      void channel.closed.then(() => channels.delete(channel));
      return channel;
    },
    ...(agent !== undefined && { openAgent: async () => agent }),
    failure: () => undefined,
    async close() {
      agent?.kill();
      for (const channel of channels) channel.kill();
      await Promise.all([...channels].map((channel) => channel.closed));
    },
  };
}
