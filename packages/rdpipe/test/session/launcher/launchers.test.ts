import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { AGENT } from '../../../../../test/support/agent-driver.ts';
import { placeStandIns } from '../../../../../test/support/exec-stand-in.ts';
import { needsFile, needsRoot, needsTool } from '../../../../../test/support/needs.ts';
import { EVENT_MS } from '../../../../../test/support/patience.ts';
import { type Container, PODMAN_TOOLS, startContainer } from '../../../../../test/support/podman.ts';
import { type Allocation, SLURM_TOOLS, type Slurm, startSlurm } from '../../../../../test/support/slurm.ts';
import { SessionError } from '../../../src/model/errors.ts';
import type { Launcher } from '../../../src/model/launcher.ts';
import type { HostSession } from '../../../src/session/host-session.ts';
import { openSessions, type Sessions } from '../../../src/session/open.ts';
import type { SessionSettings } from '../../../src/session/settings.ts';
import { itConforms, itConformsAsLauncher, textOf } from '../conformance.ts';
import { hostRef } from '../ssh-hosts.ts';

const opened: Sessions[] = [];

async function open(launcher: Launcher, names: readonly string[], connectTimeoutMs = EVENT_MS): Promise<Sessions> {
  const settings: SessionSettings = {
    client: 'auto',
    launcher: () => launcher,
    ssh: undefined,
    configFile: undefined,
    persistS: 0,
    connects: 8,
    options: [],
    connectTimeoutMs,
    silenceMs: 60_000,
    dieWithParent: [],
    dieAfterParent: (graceMs) => [AGENT, '--die-after-parent', `${process.pid},${graceMs}`],
    askpass: '/bin/false',
    emit: () => {},
    signal: new AbortController().signal,
  };
  const hosts = names.map((name) => hostRef(...(name.split('@').reverse() as [string, string?])));
  const sessions = await openSessions(hosts, settings, undefined);
  opened.push(sessions);
  return sessions;
}

async function openOne(launcher: Launcher, name: string): Promise<HostSession> {
  const session = [...(await open(launcher, [name])).all.values()][0];
  if (session === undefined) throw new Error('no session');
  return session;
}

async function failureOf(launcher: Launcher, names: readonly string[], limitMs?: number): Promise<string> {
  const outcome = await open(launcher, names, limitMs).catch((error: unknown) => error);
  if (!(outcome instanceof SessionError)) throw new Error(`not a SessionError: ${outcome}`);
  return outcome.message;
}

before(function () {
  needsFile(this, AGENT);
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((sessions) => sessions.close()));
});

describe('a session through a template', () => {
  const command = (...words: readonly string[]): Launcher => ({ kind: 'command', words });

  describe('like any session', () => itConformsAsLauncher(() => openOne(command('sh'), 'h1')));

  it('ignores output before the shell', async () => {
    const session = await openOne(command('sh', '-c', 'echo Welcome; printf "no newline"; exec sh'), 'h1');
    const channel = await session.openShell(new AbortController().signal);
    channel.stdin.end('echo $((6 * 7))\n');
    expect(await textOf(channel.stdout)).to.equal('42\n');
  });

  it('has the host and its user in its words', async () => {
    const session = await openOne(command('sh', '-c', 'export place=$0; exec sh', '%u at %h'), 'ann@h1');
    const channel = await session.openShell(new AbortController().signal);
    channel.stdin.end('echo "$place"\n');
    expect(await textOf(channel.stdout)).to.equal('ann at h1\n');
  });

  it('is named in every failure, with the next step', async () => {
    expect(await failureOf(command('no-such-program', '%h'), ['h1'])).to.equal(
      'cannot reach h1: no-such-program: command not found (install it, add it to PATH, or use another --launcher)',
    );
    expect(await failureOf(command('sh', '-c', 'echo Error: no host $0 >&2; exit 1', '%h'), ['h1'])).to.equal(
      "cannot reach h1: no host h1 (try: echo uptime | sh -c 'echo Error: no host $0 >&2; exit 1' h1)",
    );
    expect(await failureOf(command('true'), ['h1'])).to.equal(
      'cannot reach h1: true exited with status 0 (try: echo uptime | true)',
    );
    expect(await failureOf(command('sleep', '60'), ['h1'], 200)).to.equal(
      'cannot reach h1: sleep did not start a shell within 0.2 s (try: echo uptime | sleep 60)',
    );
    expect(await failureOf(command('cat'), ['h1'], 200)).to.equal(
      'cannot reach h1: cat did not start a shell within 0.2 s (try: echo uptime | cat)',
    );
    expect(await failureOf(command('sh'), ['ann@h1'])).to.equal(
      'cannot reach ann@h1: sh cannot choose the user (write h1, or --sudo h1 for root)',
    );
  });
});

/** Puts a directory first in PATH for the tests of the current describe(). */
function usePath(directory: () => string): void {
  const before_ = process.env.PATH;
  beforeEach(() => {
    process.env.PATH = `${directory()}:${before_}`;
  });
  afterEach(() => {
    process.env.PATH = before_;
  });
}

describe('a session through podman', () => {
  let container: Container | undefined;
  const directory = mkdtempSync(join(tmpdir(), 'rdpipe-podman-'));

  before(async function () {
    needsTool(this, ...PODMAN_TOOLS);
    needsRoot(this);
    container = await startContainer(directory, 'c1');
  });
  after(async () => {
    await container?.close();
    rmSync(directory, { recursive: true, force: true });
  });
  usePath(() => container?.bin ?? '');

  // Each takes podman about 0.3 s of processor time.
  itConformsAsLauncher(() => openOne({ kind: 'podman' }, 'c1'), 8, 3);

  it('names a container that does not exist', async () => {
    expect(await failureOf({ kind: 'podman' }, ['c9'])).to.match(
      /^cannot reach c9: no container with name or ID "c9" found: .* \(try: echo uptime \| podman exec -i c9 sh\)$/,
    );
  });
});

describe('a session through a program like kubectl', () => {
  const directory = mkdtempSync(join(tmpdir(), 'rdpipe-exec-'));
  const bin = placeStandIns(directory);
  after(() => rmSync(directory, { recursive: true, force: true }));
  usePath(() => bin);

  describe('like any session, through kubectl', () =>
    itConformsAsLauncher(() => openOne({ kind: 'kubectl' }, 'prod/db-0/main')));
  describe('like any session, through lxc', () => itConforms(() => openOne({ kind: 'lxc' }, 'c1')));
  describe('like any session, through docker', () => itConforms(() => openOne({ kind: 'docker' }, 'ann@c1')));

  it('ends its output if the channel is cut, with the status 0 of the program', async () => {
    const cut = join(directory, 'cut');
    process.env.EXEC_CUT = cut;
    const session = await openOne({ kind: 'kubectl' }, 'db-0').finally(() => delete process.env.EXEC_CUT);
    const channel = await session.openShell(new AbortController().signal);
    channel.stdin.write('echo begun; exec cat\n');
    channel.stdout.once('data', () => writeFileSync(cut, ''));
    expect(await channel.closed).to.deep.equal({ code: 0, signal: null });
  });
});

/** Any one of them breaks a step that gets it. */
const OPTIONS_OF_SRUN = {
  SLURM_LABELIO: '1',
  SLURM_PROLOG: '/bin/cat',
  SLURM_SRUN_MULTI: '1',
  SLURM_EXPORT_ENV: 'NONE',
  SLURM_EXCLUSIVE: '1',
  SLURM_NO_KILL: '1',
  SLURM_NTASKS_PER_GPU: '1',
};

describe('a session through Slurm', () => {
  const SLURM: Launcher = { kind: 'slurm' };
  let slurm: Slurm | undefined;
  let job: Allocation;
  const before_ = { ...process.env };

  before(async function () {
    needsTool(this, ...SLURM_TOOLS);
    needsRoot(this);
    slurm = await startSlurm(mkdtempSync(join(tmpdir(), 'rdpipe-slurm-')), 3);
    job = await slurm.allocate();
  });
  beforeEach(() => Object.assign(process.env, job.environment));
  afterEach(() => {
    for (const name of Object.keys(job.environment)) delete process.env[name];
    Object.assign(process.env, before_);
  });
  after(() => slurm?.close());

  // A task has descriptors 3 to 9.
  describe('like any session', () => itConformsAsLauncher(() => openOne(SLURM, 'n2'), 7));

  it('has one step for all nodes, and keeps their channels separate', async () => {
    const { all } = await open(SLURM, ['n1', 'n2', 'n3', 'n2']);
    expect([...all.keys()]).to.deep.equal(['1', '2', '3']);
    const answers = [...all.values()].map(async (session) => {
      const channel = await session.openShell(new AbortController().signal);
      channel.stdin.end('i=0; while [ $i -lt 500 ]; do echo $SLURM_STEP_ID $SLURMD_NODENAME $i; i=$((i + 1)); done\n');
      return textOf(channel.stdout);
    });
    const texts = await Promise.all(answers);
    const step = texts[0]?.split(' ')[0];
    const expected = (node: string) => Array.from({ length: 500 }, (_, i) => `${step} ${node} ${i}\n`).join('');
    expect(texts).to.deep.equal(['n1', 'n2', 'n3'].map(expected));
  });

  it('does not depend on options of srun in the environment', async () => {
    Object.assign(process.env, OPTIONS_OF_SRUN);
    const session = await openOne(SLURM, 'n2').finally(() => {
      for (const name of Object.keys(OPTIONS_OF_SRUN)) delete process.env[name];
    });
    const channel = await session.openShell(new AbortController().signal);
    channel.stdin.end('echo out; echo err >&2; exit 3\n');
    const [out, err] = await Promise.all([textOf(channel.stdout), textOf(channel.stderr)]);
    expect({ out, err, ...(await channel.closed) }).to.include({ out: 'out\n', err: 'err\n', code: 3 });
  });

  it('is refused outside of the allocation, for all, and with a user', async () => {
    expect(await failureOf(SLURM, ['n1', 'n9'])).to.equal(
      `cannot reach n9: it is not a node of Slurm job ${job.job} (its nodes: n[1-3])`,
    );
    expect(await failureOf(SLURM, ['all'])).to.equal(
      'cannot reach all: all is not a node (write a list of nodes: n[1-3])',
    );
    expect(await failureOf(SLURM, ['ann@n1'])).to.equal(
      'cannot reach ann@n1: slurm cannot choose the user (write n1, or --sudo n1 for root)',
    );
    delete process.env.SLURM_JOB_ID;
    expect(await failureOf(SLURM, ['n1'])).to.equal(
      'cannot reach n1: there is no Slurm allocation here (first run salloc -N 2, or use sbatch)',
    );
  });

  it('is lost with its step, with Slurm’s reason', async () => {
    const session = await openOne(SLURM, 'n1');
    const channel = await session.openShell(new AbortController().signal);
    channel.stdin.write('echo $SLURM_STEP_ID\n');
    const step = await new Promise<string>((resolve) =>
      channel.stdout.once('data', (data) => resolve(`${data}`.trim())),
    );
    await job.scancel(`${job.job}.${step}`);
    await session.ended;
    await channel.closed;
    expect(session.failure()?.message).to.match(
      new RegExp(`^lost n1: its Slurm step ended: STEP ${job.job}\\.${step} (ON n1 CANCELLED AT |CANCELLED$)`),
    );
  });
});
