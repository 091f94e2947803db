/** Gathers the facts about a host from an agent and from a script. */
import { SessionError } from '../model/errors.ts';
import type { Emit } from '../model/events.ts';
import { launcherName } from '../model/launcher.ts';
import { forHost, type Settings } from '../model/settings.ts';
import { startHostAgent } from '../run/open-hosts.ts';
import type { HostSession } from '../session/host-session.ts';
import type { Attempt, Sessions } from '../session/open.ts';
import { type HostFacts, isTrouble, known, type Trouble } from './facts.ts';
import { askSystem } from './system-script.ts';

export interface GatherContext {
  readonly sessions: Sessions;
  readonly settings: Settings;
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

/**
 * Gathers the facts about a host after the attempt to connect. Starts an agent and a script on it, and ends both.
 * @throws only the signal's reason
 */
export async function gatherFacts(attempt: Attempt, context: GatherContext): Promise<HostFacts> {
  const { host, outcome } = attempt;
  const { label } = host;
  const launcher = launcherNameOf(host, context);
  if (outcome instanceof Error) return { ...UNREACHED, host, label, launcher, ssh: troubleOf(outcome) };
  const opened = { id: context.sessions.idOf(host), host, session: outcome };
  const agent = await startHostAgent(opened, context.settings, context.emit, context.signal).catch((error: unknown) =>
    troubleOf(error),
  );
  const hello = 'hello' in agent ? agent.hello : agent;
  try {
    context.signal.throwIfAborted();
    const system = isWithoutShell(hello) ? undefined : await lookAround(outcome, host, known(hello)?.pid, context);
    const ssh = { client: outcome.kind, took: outcome.took };
    const agentStartMs = 'startMs' in agent ? agent.startMs : undefined;
    return { host, label, launcher, ssh, session: context.sessions.idOf(host), hello, agentStartMs, system };
  } finally {
    if ('close' in agent) await agent.close();
  }
}

function launcherNameOf(host: Attempt['host'], { settings }: GatherContext): string | undefined {
  const launcher = forHost(settings.launcher, host);
  return host.name === '' || launcher.kind === 'ssh' ? undefined : launcherName(launcher);
}

const UNREACHED = { session: undefined, hello: undefined, agentStartMs: undefined, system: undefined };

/** Such a shell would also fail for every other command. */
function isWithoutShell(hello: HostFacts['hello']): boolean {
  return isTrouble(hello) && (hello.code === 'slow_shell' || hello.code === 'no_shell');
}

async function lookAround(
  session: HostSession,
  host: Attempt['host'],
  agentPid: number | undefined,
  { settings, signal }: GatherContext,
): Promise<HostFacts['system']> {
  try {
    const questions = { agentPid, sudo: forHost(settings.sudo, host) };
    return await askSystem(session, questions, { timeoutMs: settings.connectTimeoutMs, signal });
  } catch (error) {
    signal.throwIfAborted();
    return troubleOf(error);
  }
}

function troubleOf(error: unknown): Trouble {
  const code = error instanceof SessionError ? error.code : undefined;
  return { code, message: error instanceof Error ? error.message : String(error) };
}
