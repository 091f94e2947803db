import { SessionError } from '../model/errors.ts';
import type { Emit } from '../model/events.ts';
import { forHost, type Settings } from '../model/settings.ts';
import type { Agent } from '../native/agent.ts';
import { startHostAgent } from '../run/open-hosts.ts';
import type { HostSession } from '../session/host-session.ts';
import type { Attempt, Sessions } from '../session/open.ts';
import { type HostFacts, known, type Trouble } from './facts.ts';
import { askSystem } from './system-script.ts';

export interface GatherContext {
  readonly sessions: Sessions;
  readonly settings: Settings;
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

/**
 * What a host that was tried tells of itself, by an agent and by a script.
 * @throws the signal's reason, nothing else
 */
export async function gatherFacts(attempt: Attempt, context: GatherContext): Promise<HostFacts> {
  const { host, seconds, outcome } = attempt;
  if (outcome instanceof Error) {
    return { label: host.label, ssh: troubleOf(outcome), session: undefined, hello: undefined, system: undefined };
  }
  const opened = { id: context.sessions.idOf(host), host, session: outcome };
  const agent = await startHostAgent(opened, context.settings, context.emit, context.signal).catch((error: unknown) =>
    troubleOf(error),
  );
  const hello = 'hello' in agent ? agent.hello : agent;
  try {
    context.signal.throwIfAborted();
    const system = await lookAround(outcome, host, known(hello)?.pid, context);
    const ssh = { client: outcome.kind, seconds };
    return { label: host.label, ssh, session: context.sessions.idOf(host), hello, system };
  } finally {
    await closeAgent(agent);
  }
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

async function closeAgent(agent: Agent | Trouble): Promise<void> {
  if ('close' in agent) await agent.close();
}

function troubleOf(error: unknown): Trouble {
  const code = error instanceof SessionError ? (error.code as Trouble['code']) : undefined;
  return { code, message: error instanceof Error ? error.message : String(error) };
}
