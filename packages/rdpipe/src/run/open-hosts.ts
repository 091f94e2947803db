/** Opens a session to every host of a pipeline and starts an agent there. */
import type { Emit } from '../model/events.ts';
import { type HostRef, type Pipeline, THIS_MACHINE } from '../model/pipeline.ts';
import type { SessionId } from '../model/plan.ts';
import { forHost, type Settings } from '../model/settings.ts';
import type { Agent } from '../native/agent.ts';
import { startAgent } from '../native/start-agent.ts';
import { LOCAL } from '../plan/facts.ts';
import { needsLocal } from '../plan/segments.ts';
import { type OnOpen, type Opened, openSessions, type Sessions } from '../session/open.ts';
import { locateSsh } from '../session/openssh/program.ts';
import { controllingTerminal } from '../session/prompts/terminal.ts';
import type { SessionSettings } from '../session/settings.ts';

/** How the user's own standard input and output are used. */
export interface UserStreams {
  readonly stdin: 'send' | 'null';
  readonly stdout: 'arrive' | 'drop';
}

/** Facts of this installation that opening hosts needs. */
export type Installation = Pick<SessionSettings, 'dieWithParent' | 'askpass'>;

export interface OpenHosts {
  readonly sessions: Sessions;
  readonly agents: ReadonlyMap<SessionId, Agent>;
}

/**
 * Opens a session and starts an agent on every host, all at once: an agent starts while other hosts still log in.
 * @throws SessionError of the first host that failed, after everything that was opened is closed again.
 */
export async function openHosts(
  pipeline: Pipeline,
  streams: UserStreams,
  settings: Settings,
  installation: Installation,
  emit: Emit,
  signal: AbortSignal,
): Promise<OpenHosts> {
  const written = pipeline.stages.map((stage) => stage.host);
  const hosts = needsLocal(pipeline, streams) ? [...written, THIS_MACHINE] : written;
  emit({ kind: 'connecting', hosts: [...new Set(hosts.map((host) => host.label))] });
  const wanted = { ...sessionSettings(settings), ...installation, emit, signal };
  const agents = new Map<SessionId, Agent>();
  const start: OnOpen = async (opened, giveUp) => {
    const agent = await startHostAgent(opened, settings, emit, giveUp);
    agents.set(opened.id, agent);
    emit({ kind: 'host_connected', host: agent.label });
  };
  try {
    const sessions = await openSessions(hosts, wanted, controllingTerminal(), start);
    return { sessions, agents: inOrderOf(sessions, agents) };
  } catch (error) {
    await Promise.all([...agents.values()].map((agent) => agent.close()));
    throw error;
  }
}

function inOrderOf({ all }: Sessions, agents: ReadonlyMap<SessionId, Agent>): ReadonlyMap<SessionId, Agent> {
  return new Map(
    [...all.keys()].flatMap((id) => {
      const agent = agents.get(id);
      return agent === undefined ? [] : [[id, agent] as const];
    }),
  );
}

/** The user's settings of the control connections. */
export function sessionSettings(settings: Settings): Omit<SessionSettings, keyof Installation | 'emit' | 'signal'> {
  return {
    client: settings.ssh,
    ssh: locateSsh(settings.sshProgram),
    persistS: settings.persistS,
    configFile: settings.sshConfigFile,
    options: settings.sshOptions,
    keyFile: settings.keyFile,
    dataPort: onePort(settings.ports),
    connectTimeoutMs: settings.connectTimeoutMs,
    // The lease is the judge of a silent connection, also of one that TCP takes up again at the last moment.
    silenceMs: 2 * settings.leaseMs,
  };
}

function onePort([first, last]: Settings['ports']): number | undefined {
  return first > 0 && first === last ? first : undefined;
}

/** Starts an agent on every one of the hosts, whose sessions are open. */
export async function startAgents(
  hosts: readonly HostRef[],
  sessions: Sessions,
  settings: Settings,
  emit: Emit,
  runSignal: AbortSignal,
): Promise<ReadonlyMap<SessionId, Agent>> {
  const failed = new AbortController();
  const signal = AbortSignal.any([runSignal, failed.signal]);
  // The first of several names for one host counts.
  const byId = new Map([...hosts].reverse().map((host) => [sessions.idOf(host), host]));
  const starts = [...byId].map(async ([id, host]) => {
    const session = sessions.all.get(id);
    if (session === undefined) throw new Error(`session ${id} is not open`);
    const agent = await startHostAgent({ id, host, session }, settings, emit, signal);
    emit({ kind: 'host_connected', host: agent.label });
    return [id, agent] as const;
  });
  try {
    return new Map(await Promise.all(starts));
  } catch (error) {
    failed.abort(error);
    await closeStarted(starts);
    throw error;
  }
}

/** @throws SessionError as startAgent does. */
export function startHostAgent(
  { id, host, session }: Opened,
  settings: Settings,
  emit: Emit,
  signal: AbortSignal,
): Promise<Agent> {
  return startAgent(session, {
    agentPath: id === LOCAL ? undefined : forHost(settings.agent, host), // this machine has its own
    sudo: forHost(settings.sudo, host),
    leaseMs: settings.leaseMs,
    startTimeoutMs: settings.connectTimeoutMs,
    userDescriptors: id === LOCAL,
    emit,
    signal,
  });
}

async function closeStarted(starts: readonly Promise<readonly [SessionId, Agent]>[]): Promise<void> {
  const ended = await Promise.allSettled(starts);
  await Promise.all(ended.map((start) => (start.status === 'fulfilled' ? start.value[1].close() : undefined)));
}
