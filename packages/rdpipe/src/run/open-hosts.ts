/** Opens a session to every host of a pipeline and starts an agent on each. */

import type { Agent } from '../agent/agent.ts';
import { loadBundles } from '../agent/bundle.ts';
import { startAgent } from '../agent/start-agent.ts';
import type { Emit } from '../model/events.ts';
import { type HostRef, type Pipeline, THIS_MACHINE } from '../model/pipeline.ts';
import type { SessionId } from '../model/plan.ts';
import { forHost, type Settings } from '../model/settings.ts';
import { LOCAL } from '../plan/facts.ts';
import { relayHost } from '../plan/relay-stages.ts';
import { sandboxLacks } from '../plan/sandbox-lacks.ts';
import { needsLocal } from '../plan/segments.ts';
import { anySignal } from '../session/abort.ts';
import type { Channel } from '../session/host-session.ts';
import { type Excuse, namesById, type OnOpen, type Opened, openSessions, type Sessions } from '../session/open.ts';
import { locateSsh } from '../session/openssh/program.ts';
import { controllingTerminal } from '../session/prompts/terminal.ts';
import type { SessionSettings } from '../session/settings.ts';
import type { Absences } from './absences.ts';

/** How the run uses the user's standard input and output. */
export interface UserStreams {
  readonly stdin: 'send' | 'null';
  readonly stdout: 'arrive' | 'drop';
  /** The descriptors of both, if they are not 0 and 1. */
  readonly descriptors?: readonly [input: number, output: number];
}

/** The process that the user started, if that is not this one: it has the terminal, the input and the output. */
export interface Front {
  /** Its agent, with its input and output. */
  readonly agent: Channel;
  stopProcess(): void;
  /** Resolves when it has taken most of the text that it shows; undefined: it has. */
  taken(): Promise<void> | undefined;
}

/** Facts about this installation that are needed to open hosts. */
export type Installation = Pick<
  SessionSettings,
  'dieWithParent' | 'dieAfterParent' | 'askpass' | 'localAgent' | 'onlyOpen'
>;

/** Decides from a host's configuration whether it may be connected. */
export type ConfigCheck = SessionSettings['checkConfig'];

export interface OpenHosts {
  readonly sessions: Sessions;
  readonly agents: ReadonlyMap<SessionId, Agent>;
}

/**
 * Opens a session and starts an agent on every host, all at the same time: an agent starts while other hosts still log
 * in.
 * @throws SessionError of the first host that failed and is not excused; everything that was opened is closed before.
 */
export async function openHosts(
  { pipeline, excuse }: Absences,
  streams: UserStreams,
  settings: Settings,
  installation: Installation & { readonly checkConfig?: ConfigCheck },
  emit: Emit,
  signal: AbortSignal,
): Promise<OpenHosts> {
  const hosts = hostsOf(pipeline, streams, settings);
  emit({ kind: 'connecting', hosts: [...new Set(hosts.map((host) => host.label))] });
  loadBundles().catch(() => {}); // while ssh resolves and logs in; a failure is reported when the bundles are used
  const wanted = { ...sessionSettings(settings), ...installation, emit, signal };
  const agents = new Map<SessionId, Agent>();
  const start: OnOpen = async (opened, giveUp) => {
    const agent = await startHostAgent(opened, settings, emit, giveUp, streams.descriptors);
    agents.set(opened.id, agent);
    emit({ kind: 'host_connected', host: agent.label, lacks: sandboxLacks(agent.hello) });
  };
  try {
    const sessions = await openSessions(hosts, wanted, controllingTerminal(), start, excuse);
    const { used, unused } = inOrderOf(sessions, agents);
    for (const agent of unused) void agent.close();
    return { sessions, agents: used };
  } catch (error) {
    await Promise.all([...agents.values()].map((agent) => agent.close()));
    throw error;
  }
}

/** Returns the hosts on which the run needs an agent. */
export function hostsOf(pipeline: Pipeline, streams: UserStreams, settings: Settings): readonly HostRef[] {
  const written = pipeline.stages.map((stage) => stage.host);
  const relay = relayHost(pipeline, settings.relay);
  const relays = relay === undefined ? [] : [relay];
  return [...written, ...relays, ...(needsLocal(pipeline, streams) ? [THIS_MACHINE] : [])];
}

/** `unused`: agents whose sessions were lost in the meantime. */
function inOrderOf(
  { all }: Sessions,
  agents: ReadonlyMap<SessionId, Agent>,
): { readonly used: ReadonlyMap<SessionId, Agent>; readonly unused: readonly Agent[] } {
  const entries = [...all.keys()].flatMap((id) => {
    const agent = agents.get(id);
    return agent === undefined ? [] : [[id, agent] as const];
  });
  return { used: new Map(entries), unused: [...agents].flatMap(([id, agent]) => (all.has(id) ? [] : [agent])) };
}

/** Returns the user's settings of the control connections. */
export function sessionSettings(settings: Settings): Omit<SessionSettings, keyof Installation | 'emit' | 'signal'> {
  return {
    client: settings.ssh,
    launcher: (host) => forHost(settings.launcher, host),
    ssh: locateSsh(settings.sshProgram),
    persistS: settings.persistS,
    connects: settings.connects,
    configFile: settings.sshConfigFile,
    options: settings.sshOptions,
    keyFile: settings.keyFile,
    dataPort: onePort(settings.ports),
    connectTimeoutMs: settings.connectTimeoutMs,
    // The lease decides when a silent connection is lost, even if TCP resumes the connection at the last moment.
    silenceMs: 2 * settings.leaseMs,
  };
}

function onePort([first, last]: Settings['ports']): number | undefined {
  return first > 0 && first === last ? first : undefined;
}

/**
 * Starts an agent on each of the hosts, except those that are excused. Their sessions must be open.
 * @throws SessionError of the first host that failed, after the other agents were closed; the signal's reason.
 */
export async function startAgents(
  hosts: readonly HostRef[],
  sessions: Sessions,
  settings: Settings,
  emit: Emit,
  runSignal: AbortSignal,
  excuse: Excuse = (_, error) => error,
): Promise<ReadonlyMap<SessionId, Agent>> {
  const failed = new AbortController();
  const signal = anySignal(runSignal, failed.signal);
  const start = async (id: SessionId, names: readonly [HostRef, ...HostRef[]]) => {
    const session = sessions.all.get(id);
    if (session === undefined) throw new Error(`session ${id} is not open`);
    try {
      const agent = await startHostAgent({ id, host: names[0], session }, settings, emit, signal);
      emit({ kind: 'host_connected', host: agent.label, lacks: sandboxLacks(agent.hello) });
      return [[id, agent] as const];
    } catch (error) {
      const failure = signal.aborted ? error : excuse(names, error);
      if (failure !== undefined) throw failure;
      return [];
    }
  };
  const starts = [...namesById(hosts, sessions.idOf)].map(([id, names]) => start(id, names));
  try {
    return new Map((await Promise.all(starts)).flat());
  } catch (error) {
    failed.abort(error);
    await closeStarted(starts);
    throw error;
  }
}

/**
 * Starts an agent in an open session. The local one gets `descriptors` of this process as the user's input and output.
 * @throws SessionError as startAgent does.
 */
export function startHostAgent(
  { id, host, session }: Opened,
  settings: Settings,
  emit: Emit,
  signal: AbortSignal,
  descriptors: readonly [input: number, output: number] = [0, 1],
): Promise<Agent> {
  return startAgent(session, {
    agentPath: id === LOCAL ? undefined : forHost(settings.agent, host), // --agent is not for this machine
    sudo: forHost(settings.sudo, host),
    leaseMs: settings.leaseMs,
    ports: settings.ports,
    startTimeoutMs: settings.connectTimeoutMs,
    userDescriptors: id === LOCAL ? descriptors : undefined,
    emit,
    signal,
  });
}

async function closeStarted(starts: readonly Promise<readonly (readonly [SessionId, Agent])[]>[]): Promise<void> {
  const ended = await Promise.allSettled(starts);
  const started = ended.flatMap((start) => (start.status === 'fulfilled' ? start.value : []));
  await Promise.all(started.map(([, agent]) => agent.close()));
}
