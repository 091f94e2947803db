/** Starts an agent on a host, or on this machine. */
import { existsSync } from 'node:fs';
import { SessionError } from '../model/errors.ts';
import type { Emit } from '../model/events.ts';
import { printable } from '../model/text.ts';
import { anySignal, unlessAborted } from '../session/abort.ts';
import { startChild } from '../session/child-channel.ts';
import type { HostSession } from '../session/host-session.ts';
import { SERVED_NONCE } from '../session/served.ts';
import type { Agent } from './agent.ts';
import { createAgent } from './agent-client.ts';
import { bootstrapScript } from './bootstrap.ts';
import { type Bundles, loadBundles } from './bundle.ts';
import { callersLimits } from './caller-limits.ts';
import { createCopies } from './copies.ts';
import { deploy } from './deploy.ts';
import { awaitHello, type Handshake, notStarted } from './handshake.ts';
import { createLineChannel, type LineChannel, newNonce } from './line-channel.ts';
import { chooseLocalAgent } from './local-agent.ts';
import type { Platform } from './locate.ts';
import { openOffer, reachableAddress } from './open-offer.ts';
import { createProgramSources, type Turn } from './program-sources.ts';
import { endShell } from './remote-script.ts';

export interface AgentOptions {
  /** The PATH of --agent: an agent that is already on the host; nothing is copied. */
  readonly agentPath: string | undefined;
  /** Run the agent with `sudo -n`. */
  readonly sudo: boolean;
  readonly leaseMs: number;
  /** Longest wait for the agent's first line, not including the time to copy it. */
  readonly startTimeoutMs: number;
  /** The ports on which a host may listen to give the programs to others; 0: any. */
  readonly ports: readonly [number, number];
  /** Pass these descriptors of this process to the local agent, for links of kind `stdin` and `stdout`. */
  readonly userDescriptors: readonly [input: number, output: number] | undefined;
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

/**
 * Starts the agent on a session's host; first copies it there if it is missing.
 * @throws SessionError `no_agent` or `agent_protocol`, or the failure of the session.
 */
export async function startAgent(session: HostSession, options: AgentOptions): Promise<Agent> {
  const { lineChannel, handshake, startMs } =
    session.openAgent !== undefined
      ? await openServed(session, options)
      : session.kind === 'local'
        ? await openAgent(session, () => startLocally(session, options), options)
        : await startRemotely(session, options);
  if (handshake.kind === 'missing') {
    await endShell(lineChannel);
    throw missingError(session.label, options, handshake);
  }
  if (handshake.isDamaged) options.emit({ kind: 'warning', message: unusedMessage(session.label) });
  return createAgent(lineChannel, handshake.hello, startMs, options.leaseMs);
}

interface OpenedAgent {
  readonly lineChannel: LineChannel;
  readonly handshake: Handshake;
  readonly startMs: number;
}

/**
 * Opens a channel and waits for the hello, both within the time limit. Closes the channel on failure, but not if the
 * agent is missing: its shell reads another script.
 */
async function openAgent(
  session: HostSession,
  open: () => LineChannel | Promise<LineChannel>,
  { startTimeoutMs, emit, signal }: AgentOptions,
): Promise<OpenedAgent> {
  const began = performance.now();
  const late = AbortSignal.timeout(startTimeoutMs);
  const giveUp = AbortSignal.any([signal, late]);
  const opening = Promise.resolve().then(open);
  try {
    const lineChannel = await unlessAborted(opening, giveUp);
    const handshake = await awaitHello(lineChannel, { emit, signal: giveUp });
    return { lineChannel, handshake, startMs: performance.now() - began };
  } catch (error) {
    opening.then(({ channel }) => channel.kill()).catch(() => {});
    signal.throwIfAborted();
    throw late.aborted ? slowStartError(session, startTimeoutMs) : error;
  }
}

function slowStartError({ label, checkCommand }: HostSession, limitMs: number): SessionError {
  const what = notStarted(label);
  if (checkCommand === undefined) {
    return new SessionError('no_agent', label, `${what}: no answer within ${limitMs / 1000} s`);
  }
  const reason = `logged in, but the login shell did not start it within ${limitMs / 1000} s`;
  return new SessionError(
    'slow_shell',
    label,
    `${what}: ${reason} (check ~/.bashrc there; compare with: ${checkCommand})`,
  );
}

/** Starts the agent from this installation, without a shell and without copying. */
async function startLocally(
  session: HostSession,
  { agentPath, sudo, userDescriptors }: AgentOptions,
): Promise<LineChannel> {
  const agent = agentPath ?? (await chooseLocalAgent());
  if (agent === undefined) {
    throw new SessionError(
      'no_agent',
      session.label,
      'this copy of rdpipe has no programs for the CPU of this machine',
    );
  }
  if (!existsSync(agent)) throw missingProgramError(session.label, agent);
  const nonce = newNonce();
  const command = [...(sudo ? ['sudo', '-n', '--'] : []), agent, '--agent', '--nonce', nonce, ...callersLimits()];
  const channel = userDescriptors
    ? startChild([...command, '--user-stdin', '3', '--user-stdout', '4'], {}, userDescriptors)
    : startChild(command);
  return createLineChannel(session, channel, nonce);
}

/** Opens the channel to an agent that the server has already started. */
function openServed(session: HostSession, options: AgentOptions): Promise<OpenedAgent> {
  const open = async () => {
    const channel = await session.openAgent?.(options.signal);
    if (channel === undefined) throw new Error(`${session.label} has no agent`);
    return createLineChannel(session, channel, SERVED_NONCE);
  };
  return openAgent(session, open, options);
}

const COPIES = createCopies();
const SOURCES = createProgramSources();

/** Starts the agent that is on the host; first copies it, through the same shell, if it is missing or damaged. */
async function startRemotely(session: HostSession, options: AgentOptions): Promise<OpenedAgent> {
  const bundles = await loadBundles();
  const signal = anySignal(options.signal);
  const openShell = async () => createLineChannel(session, await session.openShell(signal));
  const first = await runBootstrap(session, openShell, bundles, options);
  const { handshake } = first;
  if (options.agentPath !== undefined) return first;
  if (handshake.kind === 'hello') return withOffer(first, session, bundles, options);
  let shell = first.lineChannel;
  const bundle = bundles.get(platformOf(handshake));
  if (bundle === undefined) {
    await endShell(shell);
    throw foreignPlatformError(session.label, bundles, handshake);
  }
  let turn: Turn | undefined;
  try {
    if (handshake.isDamaged) {
      options.emit({ kind: 'warning', message: damagedMessage(session.label) });
      // The agent itself finds damaged programs, and ends; so does its shell.
      shell.channel.kill();
      shell = await openShell();
    }
    turn = await deploy(shell, bundle, { ...options, signal, copies: COPIES, sources: SOURCES });
  } catch (error) {
    shell.channel.kill();
    throw error;
  }
  try {
    return withOffer(await runBootstrap(session, async () => shell, bundles, options), session, bundles, options);
  } finally {
    turn?.end('worked'); // now that another host may get the programs from this one
  }
}

function platformOf({ os, cpu }: { readonly os: string; readonly cpu: string }): Platform {
  return `${os.toLowerCase()}-${cpu}`;
}

/** Other hosts may get the programs from this one; not if it was reached by a launcher, which may have one channel. */
function withOffer(
  opened: OpenedAgent,
  session: HostSession,
  bundles: Bundles,
  { ports, startTimeoutMs, signal }: AgentOptions,
): OpenedAgent {
  const { handshake } = opened;
  if (handshake.kind !== 'hello' || session.kind === 'launcher' || isOnePort(ports)) return opened;
  const bundle = bundles.get(platformOf(handshake.hello));
  const address = reachableAddress(handshake.hello);
  if (bundle === undefined || address === undefined) return opened;
  SOURCES.add(bundle.digest, () =>
    openOffer(session, bundle, address, ports, AbortSignal.any([signal, AbortSignal.timeout(startTimeoutMs)])),
  );
  return opened;
}

/** Then the data of the run needs it. */
function isOnePort([low, high]: AgentOptions['ports']): boolean {
  return low > 0 && low === high;
}

/** Sends only the script before the agent's first line: a shell may read ahead and would consume anything else. */
function runBootstrap(
  session: HostSession,
  openShell: () => Promise<LineChannel>,
  bundles: Bundles,
  options: AgentOptions,
): Promise<OpenedAgent> {
  const { agentPath, sudo } = options;
  const open = async () => {
    const shell = await openShell();
    shell.channel.stdin.write(bootstrapScript({ nonce: shell.nonce, bundles, agentPath, sudo }));
    return shell;
  };
  return openAgent(session, open, options);
}

function damagedMessage(label: string): string {
  return `rdpipe's programs on ${label} were changed after they were copied; copying them again without running them`;
}

function unusedMessage(label: string): string {
  return `rdpipe's programs in a directory on ${label} were changed after they were copied; others there are used instead`;
}

type Missing = Extract<Handshake, { kind: 'missing' }>;

function foreignPlatformError(label: string, bundles: Bundles, { os, cpu }: Missing): SessionError {
  const known = [...bundles.keys()].join(', ') || 'none';
  const platform = printable(`${os} on ${cpu}`);
  return new SessionError(
    'no_agent',
    label,
    `${label} runs ${platform}, for which this rdpipe has no agent (it has: ${known})`,
  );
}

function missingError(label: string, { agentPath }: AgentOptions, { os, cpu }: Missing): SessionError {
  if (agentPath !== undefined) return missingProgramError(label, agentPath);
  const reason = `the copied agent is missing (${printable(`${os} on ${cpu}`)})`;
  return new SessionError('no_agent', label, `${notStarted(label)}: ${reason}`);
}

function missingProgramError(label: string, path: string): SessionError {
  return new SessionError('no_agent', label, `${notStarted(label)}: program not found: ${printable(path)}`);
}
