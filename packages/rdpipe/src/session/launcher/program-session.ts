/** A session whose channels are programs: podman exec, kubectl exec, or a template of the user. */
import { randomBytes } from 'node:crypto';
import { SessionError } from '../../model/errors.ts';
import { launcherName } from '../../model/launcher.ts';
import type { HostRef } from '../../model/pipeline.ts';
import { wordForSh } from '../../model/shell-quote.ts';
import { settlesWithin, unlessAborted } from '../abort.ts';
import { type ChildChannel, startChild } from '../child-channel.ts';
import { findProgram } from '../find-program.ts';
import type { Channel, HostSession } from '../host-session.ts';
import type { SessionSettings } from '../settings.ts';
import { keepTail } from '../text-tail.ts';
import { lastReason } from './reason.ts';
import { type ProgramLauncher, shellWords } from './words.ts';

type Limits = Pick<SessionSettings, 'connectTimeoutMs' | 'dieAfterParent' | 'signal'>;

/**
 * Starts a first shell and waits for its answer; this shell becomes the first channel.
 * @throws SessionError with the launcher's reason and a command to compare; the signal's reason.
 */
export async function connectByProgram(
  launcher: ProgramLauncher,
  host: HostRef,
  { connectTimeoutMs, dieAfterParent, signal }: Limits,
): Promise<HostSession> {
  signal.throwIfAborted();
  const words = shellWords(launcher, host);
  const name = launcherName(launcher);
  const began = performance.now();
  checkInstalled(words, host);
  const start = () => startChild([...dieAfterParent(END_LIMIT_MS), ...words]);
  const first = start();
  const late = AbortSignal.timeout(connectTimeoutMs);
  try {
    await unlessAborted(firstAnswer(first, words, host), AbortSignal.any([signal, late]));
  } catch (error) {
    first.kill();
    signal.throwIfAborted();
    if (!late.aborted) throw error;
    throw cannotReach(host, words, `${name} did not start a shell within ${connectTimeoutMs / 1000} s`);
  }
  return sessionOf(host, name, words, first, start, performance.now() - began);
}

function sessionOf(
  host: HostRef,
  launcher: string,
  words: readonly string[],
  first: Channel,
  start: () => Channel,
  tookMs: number,
): HostSession {
  const channels = new Set<Channel>();
  const keep = (channel: Channel) => {
    channels.add(channel);
    void channel.closed.then(() => channels.delete(channel));
    return channel;
  };
  let unused: Channel | undefined = keep(first);
  return {
    kind: 'launcher',
    launcher,
    label: host.label,
    took: { connectMs: tookMs, loginMs: 0 },
    checkCommand: commandText(words),
    ended: new Promise(() => {}), // there is no connection, only channels
    async openShell(signal) {
      signal.throwIfAborted();
      const channel = unused ?? keep(start());
      unused = undefined;
      return channel;
    },
    failure: () => undefined,
    async close() {
      unused?.stdin.write('exit\n'); // some launchers do not pass on the end of the input
      for (const channel of channels) channel.stdin.end();
      const all = Promise.all([...channels].map(({ closed }) => closed));
      if (!(await settlesWithin(all, CLOSE_LIMIT_MS))) for (const channel of channels) channel.kill();
      await all;
    },
  };
}

/** A program that is not installed is not a failure of the host. */
function checkInstalled([program = '']: readonly string[], { label }: HostRef): void {
  if (findProgram(program) !== undefined) return;
  const next = 'install it, add it to PATH, or use another --launcher';
  throw new SessionError('unreachable', label, `cannot reach ${label}: ${program}: command not found (${next})`);
}

/** Longest time in which the agents end with their input, if rdpipe is killed. */
const END_LIMIT_MS = 10_000;
/** A shell ends with its input; a shell that does not is killed. */
const CLOSE_LIMIT_MS = 1000;

/**
 * Resolves when the shell has answered; ignores earlier output, such as that of startup files. Only a shell removes the
 * quotes: a program that repeats its input does not print the mark.
 */
async function firstAnswer(child: ChildChannel, words: readonly string[], host: HostRef): Promise<void> {
  const mark = `rdpipe-${randomBytes(12).toString('hex')}`;
  const stderr = keepTail(child.stderr);
  child.stdin.write(`echo ${mark.replace('-', "'-'")}\n`);
  const stderrOver = new Promise((resolve) => child.stderr.once('close', resolve));
  const answered = await new Promise<boolean>((resolve) => {
    let text = '';
    // Not 'data': removing its listener leaves the stream paused, and the next reader would wait forever.
    const onReadable = () => {
      for (let data = child.stdout.read(); data !== null; data = child.stdout.read()) text += data.toString('latin1');
      text = text.slice(-LONGEST_NOISE);
      if (text.includes(`${mark}\n`)) done(true);
    };
    const done = (isShell: boolean) => {
      child.stdout.off('readable', onReadable).off('close', onClose);
      resolve(isShell);
    };
    const onClose = () => done(false);
    child.stdout.on('readable', onReadable).once('close', onClose);
    void child.closed.then(() => setImmediate(onReadable));
  });
  if (answered) return;
  const { code, signal } = await child.closed;
  await settlesWithin(stderrOver, STDERR_END_MS);
  const program = words[0] ?? '';
  const status = `${program} ${code === null ? `was killed by ${signal}` : `exited with status ${code}`}`;
  throw cannotReach(host, words, lastReason(child.startError()?.message ?? stderr()) ?? status);
}

const LONGEST_NOISE = 64 * 1024;
const STDERR_END_MS = 1000;

function cannotReach(host: HostRef, words: readonly string[], reason: string): SessionError {
  const message = `cannot reach ${host.label}: ${reason} (try: echo uptime | ${commandText(words)})`;
  return new SessionError('unreachable', host.label, message);
}

function commandText(words: readonly string[]): string {
  return words.map(wordForSh).join(' ');
}
