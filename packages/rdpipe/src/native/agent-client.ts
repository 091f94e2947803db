/** Starts an agent on a host, or here. */
import { existsSync } from 'node:fs';
import { SessionError } from '../model/errors.ts';
import type { Emit } from '../model/events.ts';
import { printable } from '../model/text.ts';
import { anySignal, unlessAborted } from '../session/abort.ts';
import { startChild } from '../session/child-channel.ts';
import type { HostSession } from '../session/host-session.ts';
import type { Agent } from './agent.ts';
import { bootstrapScript } from './bootstrap.ts';
import { type Bundle, type Bundles, loadBundles } from './bundle.ts';
import { callersLimits } from './callers-limits.ts';
import { type Conversation, converse, newNonce } from './conversation.ts';
import { deploy } from './deploy.ts';
import { type Greeting, greet } from './greeting.ts';
import { locateLocalAgent } from './locate.ts';
import { createAgent } from './running-agent.ts';

export interface AgentOptions {
  /** --agent PATH: an agent that is on the host already; nothing is deployed. */
  readonly agentPath: string | undefined;
  /** Run it by `sudo -n`. */
  readonly sudo: boolean;
  readonly leaseMs: number;
  /** Longest wait for the agent's first line, deployment apart. */
  readonly startTimeoutMs: number;
  /** The local agent gets our own descriptors 0 and 1 for links of kind `stdin` and `stdout`. */
  readonly userDescriptors: boolean;
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

/**
 * Starts the agent on a session's host; deploys it first where it is missing.
 * @throws SessionError `no_agent` or `agent_protocol`, or what broke the session.
 */
export async function startAgent(session: HostSession, options: AgentOptions): Promise<Agent> {
  const { conversation, greeting, startMs } =
    session.kind === 'local'
      ? await hear(session, () => startLocally(session, options), options)
      : await find(session, options);
  if (greeting.kind === 'missing') throw missingError(session.label, options, greeting);
  return createAgent(conversation, greeting.hello, startMs, options.leaseMs);
}

interface Heard {
  readonly conversation: Conversation;
  readonly greeting: Greeting;
  readonly startMs: number;
}

/** The channel has to open and to greet within the time. One that does not become an agent is closed. */
async function hear(
  session: HostSession,
  open: () => Conversation | Promise<Conversation>,
  { startTimeoutMs, emit, signal }: AgentOptions,
): Promise<Heard> {
  const began = performance.now();
  const late = AbortSignal.timeout(startTimeoutMs);
  const giveUp = AbortSignal.any([signal, late]);
  const opening = Promise.resolve().then(open);
  let greeting: Greeting | undefined;
  try {
    const conversation = await unlessAborted(opening, giveUp);
    greeting = await greet(conversation, { emit, signal: giveUp });
    return { conversation, greeting, startMs: performance.now() - began };
  } catch (error) {
    signal.throwIfAborted();
    throw late.aborted ? slowStartError(session, startTimeoutMs) : error;
  } finally {
    if (greeting?.kind !== 'hello') opening.then(({ channel }) => channel.kill()).catch(() => {});
  }
}

function slowStartError({ label, checkCommand }: HostSession, limitMs: number): SessionError {
  const what = `cannot start the agent on ${label}`;
  if (checkCommand === undefined) {
    return new SessionError('no_agent', label, `${what}: no answer within ${limitMs / 1000} s`);
  }
  const reason = `connected and logged in, but its login shell did not start it within ${limitMs / 1000} s`;
  return new SessionError(
    'slow_shell',
    label,
    `${what}: ${reason} (look at ~/.bashrc there; ${checkCommand} to compare)`,
  );
}

/** No shell and no deployment: the programs are beside this one. */
function startLocally(session: HostSession, { agentPath, sudo, userDescriptors }: AgentOptions): Conversation {
  const agent = agentPath ?? locateLocalAgent();
  if (agent === undefined) {
    throw new SessionError(
      'no_agent',
      session.label,
      'this copy of rdpipe holds no programs for the CPU of this machine',
    );
  }
  if (!existsSync(agent)) throw notThereError(session.label, agent);
  const nonce = newNonce();
  const command = [...(sudo ? ['sudo', '-n', '--'] : []), agent, '--agent', '--nonce', nonce, ...callersLimits()];
  const channel = userDescriptors
    ? startChild([...command, '--user-stdin', '3', '--user-stdout', '4'], {}, [0, 1])
    : startChild(command);
  return converse(session, channel, nonce);
}

/** The agent that is on the host, copied there first where it is missing or another. */
async function find(session: HostSession, options: AgentOptions): Promise<Heard> {
  const bundles = await loadBundles();
  const first = await runBootstrap(session, bundles, options);
  const { greeting } = first;
  if (greeting.kind === 'hello' || options.agentPath !== undefined) return first;
  if (greeting.isDamaged) options.emit({ kind: 'warning', message: damagedWords(session.label) });
  const signal = anySignal(options.signal);
  await deploy(session, bundleFor(session.label, bundles, greeting), { ...options, signal });
  return runBootstrap(session, bundles, options);
}

/** Nothing but the script is sent before the agent's first line: a shell may read ahead, and would swallow it. */
async function runBootstrap(session: HostSession, bundles: Bundles, options: AgentOptions): Promise<Heard> {
  const { agentPath, sudo, signal } = options;
  const open = async () => {
    const conversation = converse(session, await session.openShell(signal));
    conversation.channel.stdin.write(bootstrapScript({ nonce: conversation.nonce, bundles, agentPath, sudo }));
    return conversation;
  };
  return hear(session, open, options);
}

function damagedWords(label: string): string {
  return `the agent's programs on ${label} are not as they were copied there: they were not run, and are copied anew`;
}

type Missing = Extract<Greeting, { kind: 'missing' }>;

function bundleFor(label: string, bundles: Bundles, { os, cpu }: Missing): Bundle {
  const bundle = bundles.get(`${os.toLowerCase()}-${cpu}`);
  if (bundle) return bundle;
  const known = [...bundles.keys()].join(', ') || 'none';
  const platform = printable(`${os} on ${cpu}`);
  throw new SessionError(
    'no_agent',
    label,
    `there is no build of the agent for ${label}, which is ${platform} (builds: ${known})`,
  );
}

function missingError(label: string, { agentPath }: AgentOptions, { os, cpu }: Missing): SessionError {
  if (agentPath !== undefined) return notThereError(label, agentPath);
  const reason = `its copy is not found again (${printable(`${os} on ${cpu}`)})`;
  return new SessionError('no_agent', label, `cannot start the agent on ${label}: ${reason}`);
}

function notThereError(label: string, path: string): SessionError {
  return new SessionError(
    'no_agent',
    label,
    `cannot start the agent on ${label}: no program ${printable(path)} is there`,
  );
}
