/** The contract of every kind of session: one suite that runs with each kind. */
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { expect } from 'chai';
import { eventually } from '../../../../test/support/eventually.ts';
import { isRunning } from '../../../../test/support/processes.ts';
import type { Channel, HostSession } from '../../src/session/host-session.ts';

const NEVER = new AbortController().signal;

/**
 * `open` returns a new session on this machine for each test; the suite closes it. A session has at most `most`
 * channels at the same time: the next one waits.
 */
export function itConforms(open: () => Promise<HostSession>, most = 8): void {
  let session: HostSession;

  beforeEach(async () => {
    session = await open();
  });
  afterEach(() => session.close());

  it('carries every byte in both directions', async () => {
    const data = Buffer.concat([Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)), randomBytes(4 << 20)]);
    const channel = await session.openShell(NEVER);
    await startScript(channel, 'exec cat');
    const received = digestOf(channel.stdout);
    channel.stdin.end(data);
    expect(await received).to.equal(createHash('sha256').update(data).digest('hex'));
  });

  it('keeps standard error separate', async () => {
    const channel = await session.openShell(NEVER);
    channel.stdin.end('echo out; echo err >&2\n');
    const [out, err] = await Promise.all([textOf(channel.stdout), textOf(channel.stderr)]);
    expect({ out, err }).to.deep.equal({ out: 'out\n', err: 'err\n' });
  });

  it('has no terminal on any of the three', async () => {
    const channel = await session.openShell(NEVER);
    channel.stdin.end('for fd in 0 1 2; do test -t $fd && echo $fd is one; done; echo done\n');
    expect(await textOf(channel.stdout)).to.equal('done\n');
  });

  it('reports when a channel has closed, and how', async () => {
    const channel = await session.openShell(NEVER);
    channel.stdout.resume();
    channel.stdin.end('exit 7\n');
    expect(await channel.closed).to.deep.equal({ code: 7, signal: null });
    expect(session.failure()).to.equal(undefined);
  });

  it('carries many channels at once', async () => {
    const numbers = Array.from({ length: most }, (_, index) => index + 1);
    const channels = await Promise.all(numbers.map(() => session.openShell(NEVER)));
    const answers = channels.map((channel) => textOf(channel.stdout));
    for (const [index, channel] of channels.entries()) channel.stdin.end(`echo ${index + 1}\n`);
    expect(await Promise.all(answers)).to.deep.equal(numbers.map((number) => `${number}\n`));
  });

  it('kills one channel, and a process there that watches its input ends', async () => {
    const other = await session.openShell(NEVER);
    const channel = await session.openShell(NEVER);
    const pid = await startScript(channel, 'cat');
    channel.kill();
    await channel.closed;
    await eventually(() => expect(isRunning(pid)).to.equal(false));
    other.stdin.end('echo alive\n');
    expect(await textOf(other.stdout)).to.equal('alive\n');
  });

  it('kills a channel whose far end is stopped, and ends its output', async () => {
    const channel = await session.openShell(NEVER);
    const shell = await stopped(await startScript(channel, 'cat'));
    const outputEnded = new Promise((resolve) => channel.stdout.once('close', resolve));
    channel.kill();
    await Promise.all([channel.closed, outputEnded]);
    if (isRunning(shell)) process.kill(shell, 'SIGCONT');
    await eventually(() => expect(isRunning(shell)).to.equal(false));
  });

  it('may be killed twice, and after its end', async () => {
    const channel = await session.openShell(NEVER);
    channel.kill();
    channel.kill();
    await channel.closed;
    channel.kill();
  });

  it('ends every channel when it closes', async () => {
    const channels = await Promise.all([session.openShell(NEVER), session.openShell(NEVER)]);
    const pids = await Promise.all(channels.map((channel) => startScript(channel, 'cat')));
    await session.close();
    await Promise.all(channels.map((channel) => channel.closed));
    await eventually(() => expect(pids.filter(isRunning)).to.deep.equal([]));
    await session.close();
  });

  it('opens no channel after the run was given up', async () => {
    const reason = new Error('given up');
    const outcome = await session.openShell(AbortSignal.abort(reason)).catch((error: unknown) => error);
    expect(outcome).to.equal(reason);
  });

  it('closes a channel whose output is not read', async () => {
    const channel = await session.openShell(NEVER);
    channel.stdin.end('while echo y; do :; done\n');
    channel.kill();
    await channel.closed;
  });
}

/** The same for a launcher, with `count` sessions at the same time. */
export function itConformsAsLauncher(open: () => Promise<HostSession>, most?: number, count = 10): void {
  itConforms(open, most);

  it('carries lines of 64 KiB in both directions', async () => {
    const session = await open();
    const channel = await session.openShell(NEVER);
    await startScript(channel, `while IFS= read -r line; do printf '%s\\n' "$line"; done`);
    const lines = ['a', 'b', 'c'].map((letter) => `${letter.repeat(64 * 1024 - 1)}\n`).join('');
    channel.stdin.end(lines);
    expect((await textOf(channel.stdout)) === lines).to.equal(true);
    await session.close();
  });

  it(`has ${count} sessions at once`, async () => {
    const sessions = await Promise.all(Array.from({ length: count }, open));
    const answers = sessions.map(async (session, index) => {
      const channel = await session.openShell(NEVER);
      channel.stdin.end(`echo ${index}\n`);
      return textOf(channel.stdout);
    });
    expect(await Promise.all(answers)).to.deep.equal(sessions.map((_, index) => `${index}\n`));
    await Promise.all(sessions.map((session) => session.close()));
  });
}

/**
 * Runs a script and waits until the far end runs it: before that, a shell could consume later input. Resolves with the
 * PID of the far end's shell.
 */
export async function startScript(channel: Channel, script: string): Promise<number> {
  const [line] = await Promise.all([
    new Promise<Buffer>((resolve) => channel.stdout.once('data', resolve)),
    channel.stdin.write(`{ echo $$; ${script}; }\n`),
  ]);
  return Number(line.toString());
}

/** Stops the shell of the far end, and resolves when it is stopped. */
async function stopped(shell: number): Promise<number> {
  process.kill(shell, 'SIGSTOP');
  await eventually(() => expect(readFileSync(`/proc/${shell}/stat`, 'utf8')).to.match(/^\d+ \(.*\) T /));
  return shell;
}

export async function textOf(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function digestOf(stream: Readable): Promise<string> {
  const hash = createHash('sha256');
  return new Promise((resolve, reject) => {
    stream.on('data', (chunk: Buffer) => hash.update(chunk));
    stream.on('end', () => resolve(hash.digest('hex')));
    stream.on('error', reject);
  });
}
