/** The sessions to all hosts of a run that are not reached by ssh. */
import type { Launcher } from '../../model/launcher.ts';
import type { HostRef } from '../../model/pipeline.ts';
import type { ConcurrencyLimit } from '../concurrency-limit.ts';
import type { HostSession } from '../host-session.ts';
import type { SessionSettings } from '../settings.ts';
import { connectByProgram } from './program-session.ts';
import { createSlurmStep } from './slurm/step.ts';

export interface LauncherSessions {
  /** One a host, shared by all callers. */
  connect(host: HostRef): Promise<HostSession>;
  /** Ends every session, also those that are still being made. */
  close(): Promise<void>;
}

/** The launcher of a host; of this machine and of hosts that serve copies it is none. */
export function launcherOf(host: HostRef, { launcher }: Pick<SessionSettings, 'launcher'>): Launcher {
  return host.name === '' || host.served !== undefined ? SSH : (launcher?.(host) ?? SSH);
}

const SSH: Launcher = { kind: 'ssh' };

/** `hosts` are all of the run: those of Slurm share one step. `limit`: of shells that are waited for at a time. */
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
    if (launcher.kind === 'ssh') throw new Error(`${host.label} is reached by ssh`);
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
