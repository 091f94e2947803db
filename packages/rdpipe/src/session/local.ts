/** The session of this machine, which needs no connection. */
import { startChild } from './child-channel.ts';
import type { Channel, HostSession } from './host-session.ts';

/** Returns a session whose channels are child processes. */
export function createLocalSession(): HostSession {
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
    failure: () => undefined,
    async close() {
      for (const channel of channels) channel.kill();
      await Promise.all([...channels].map((channel) => channel.closed));
    },
  };
}
