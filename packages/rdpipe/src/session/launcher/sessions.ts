/** The sessions to all hosts of a run that are not reached over ssh. */
import type { Launcher } from '../../model/launcher.ts';
import type { HostRef } from '../../model/pipeline.ts';
import type { ConcurrencyLimit } from '../concurrency-limit.ts';
import type { HostSession } from '../host-session.ts';
import type { SessionSettings } from '../settings.ts';
import { connectByProgram } from './program-session.ts';
import { createSlurmStep } from './slurm/step.ts';

export interface LauncherSessions {
  /** Returns the session of a host, shared by all callers. */
  connect(host: HostRef): Promise<HostSession>;
  /** Closes every session, including those that are being opened. */
  close(): Promise<void>;
}

/** Returns the launcher of a host; `ssh` for this machine and for hosts that serve copies. */
export function launcherOf(host: HostRef, { launcher }: Pick<SessionSettings, 'launcher'>): Launcher {
  return host.name === '' || host.served !== undefined ? SSH : (launcher?.(host) ?? SSH);
}

const SSH: Launcher = { kind: 'ssh' };

/** `hosts` are all hosts of the run: those of Slurm share one step. `limit` is for shells that are being started. */
export function createLauncherSessions(
  hosts: readonly HostRef[],
  settings: SessionSettings,
  limit: ConcurrencyLimit,
): LauncherSessions {
  const nodes = hosts.filter((host) => launcherOf(host, settings).kind === 'slurm');
  const step = createSlurmStep(nodes, settings);
  const sessions = new Map<string, Promise<HostSession>>();
  const connect = async (host: HostRef): Promise<HostSession> => {
    const launcher = launcherOf(host, settings);
    if (launcher.kind === 'ssh') throw new Error(`${host.label} is reached over ssh`);
    if (launcher.kind === 'slurm') return step.connect(host);
    return limit(settings.signal, () => connectByProgram(launcher, host, settings));
  };
  return {
    connect(host) {
      const session = sessions.get(host.label) ?? connect(host);
      sessions.set(host.label, session);
      return session;
    },
    async close() {
      const settled = await Promise.allSettled(sessions.values());
      await Promise.all(settled.map((result) => (result.status === 'fulfilled' ? result.value.close() : undefined)));
      await step.close();
    },
  };
}
