import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { canConnect } from '../../../../../test/support/can-connect.ts';
import { eventually } from '../../../../../test/support/eventually.ts';
import { needsFile, needsTool } from '../../../../../test/support/needs.ts';
import { type Started, startProgram } from '../../../../../test/support/start-program.ts';
import { locateLocalAgents } from '../../../src/agent/locate.ts';
import { openSessions, type Sessions } from '../../../src/session/open.ts';
import type { SessionSettings } from '../../../src/session/settings.ts';
import { startScript, textOf } from '../conformance.ts';
import { hostRef, settingsFor, startTestHosts, type TestHosts } from '../ssh-hosts.ts';

const NEVER = new AbortController().signal;

describe('the connection of the system’s ssh', () => {
  let hosts: TestHosts;
  let sessions: Sessions | undefined;
  let directory: string;

  before(async function () {
    needsFile(this, '/usr/sbin/sshd');
    needsTool(this, 'ssh', 'ssh-keygen');
    const environment = { RDPIPE_TEST_SERVER: 'yes' };
    hosts = await startTestHosts(
      [
        { name: 'h1', server: ['AcceptEnv RDPIPE_TEST_*'] },
        { name: 'h2', jump: 'h1' },
      ],
      environment,
    );
  });
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'rdpipe-unit-'));
  });
  afterEach(async () => {
    await sessions?.close();
    sessions = undefined;
    rmSync(directory, { recursive: true });
  });
  after(() => hosts?.close());

  const open = async (name: string, changes: Partial<SessionSettings> = {}) => {
    sessions = await openSessions([hostRef(name)], settingsFor(hosts, changes), undefined);
    const session = sessions.all.get('1');
    if (session === undefined) throw new Error('no session');
    return session;
  };
  const run = async (name: string, script: string, changes: Partial<SessionSettings> = {}) => {
    const channel = await (await open(name, changes)).openShell(NEVER);
    channel.stdin.end(`${script}\n`);
    return textOf(channel.stdout);
  };

  it('forwards a local socket to an address of the host', async () => {
    const session = await open('h2');
    const { address = '', port = 0 } = hosts.hosts.get('h1') ?? {};
    const forward = await session.forward?.(address, port, NEVER);
    const socket = connect(forward?.socketPath ?? '');
    const [greeting] = await once(socket, 'data');
    expect(String(greeting)).to.match(/^SSH-2\.0-/);
    socket.destroy();
    await forward?.close();
    const [error] = await once(connect(forward?.socketPath ?? ''), 'error');
    expect(error).to.have.property('code').that.is.oneOf(['ECONNREFUSED', 'ENOENT']);
  });

  it('is the user’s own if one is open, and is left open', async () => {
    await withUsersMaster(async (args, options) => {
      const before = logins('h1');
      expect(await run('h1', 'echo $SSH_CONNECTION', { options })).to.match(/^127/);
      await sessions?.close();
      expect(logins('h1')).to.equal(before);
      execaSync('ssh', [...args, '-O', 'check', 'h1']);
    });
  });

  it('forwards ports of the host to sockets here, each until it is closed, while the connection stays open', async () => {
    await withUsersMaster(async (_, options) => {
      const session = await open('h1', { options });
      const [first, second] = [
        await session.forwardBack?.(join(directory, 'one'), NEVER),
        await session.forwardBack?.(join(directory, 'two'), NEVER),
      ];
      await first?.close();
      await eventually(async () => expect(await canConnect(first?.port ?? 0)).to.equal(false));
      expect(await canConnect(second?.port ?? 0)).to.equal(true);
      await second?.close();
      await eventually(async () => expect(await canConnect(second?.port ?? 0)).to.equal(false));
    });
  });

  it('forwards nothing from a closed port, even if the connection was slow to close it', async () => {
    await withUsersMaster(async (_, options, master) => {
      const forward = await (await open('h1', { options })).forwardBack?.(join(directory, 'one'), NEVER);
      master.kill('SIGSTOP');
      await forward?.close();
      master.kill('SIGCONT');
      await eventually(async () => expect(await canConnect(forward?.port ?? 0)).to.equal(false));
    });
  });

  it('forwards no port of the host when rdpipe was killed, even if the connection stays open', async () => {
    await withUsersMaster(async () => {
      const program = fileURLToPath(new URL('../hold-session.ts', import.meta.url));
      const words = ['--import', 'tsx', program, hosts.configFile, 'h1', '', join(directory, 'master')];
      const holder = startProgram([process.execPath, ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
      await once(holder.child.stdout ?? expect.fail(), 'data');
      const port = Number(holder.stdout());
      expect(await canConnect(port)).to.equal(true);
      holder.child.kill('SIGKILL');
      await eventually(async () => expect(await canConnect(port)).to.equal(false));
    });
  });

  it('is a new one if the user’s has gone', async () => {
    const controlPath = join(directory, 'master');
    writeFileSync(controlPath, '');
    expect(await run('h1', 'echo in', { options: [`ControlPath=${controlPath}`] })).to.equal('in\n');
    expect(readFileSync(controlPath, 'utf8')).to.equal('');
  });

  it('carries the environment that the user’s configuration sends', async () => {
    const options = ['SetEnv=RDPIPE_TEST_SET=set'];
    expect(await run('h1', 'echo $RDPIPE_TEST_SERVER $RDPIPE_TEST_SET', { options })).to.equal('yes set\n');
  });

  it('carries the user’s agent if the configuration forwards it', async () => {
    const script = 'test -S "$SSH_AUTH_SOCK" && echo forwarded || echo none';
    expect(await run('h1', script, { options: ['ForwardAgent=yes'] })).to.equal('forwarded\n');
    await sessions?.close();
    expect(await run('h1', script)).to.equal('none\n');
  });

  it('is not interrupted by Ctrl-C', async () => {
    const session = await open('h1');
    const channel = await session.openShell(NEVER);
    await startScript(channel, 'cat');
    const ours = sessionOf(process.pid);
    const masters = childrenOf(process.pid).filter((pid) => /die-with-parent \S*\bssh /.test(commandOf(pid)));
    expect(masters).to.have.length(1);
    for (const pid of masters) expect(sessionOf(pid)).not.to.equal(ours);
  });

  it('leaves nothing on this machine', async () => {
    const runtimeDir = join(directory, 'run');
    const previous = process.env.XDG_RUNTIME_DIR;
    mkdirSync(runtimeDir, { mode: 0o700 });
    process.env.XDG_RUNTIME_DIR = runtimeDir;
    try {
      await open('h2');
      expect(readdirSync(runtimeDir)).to.have.length(1);
      await sessions?.close();
      expect(readdirSync(runtimeDir)).to.deep.equal([]);
    } finally {
      if (previous === undefined) delete process.env.XDG_RUNTIME_DIR;
      else process.env.XDG_RUNTIME_DIR = previous;
    }
    expect(childrenOf(process.pid).filter((pid) => /^\S*ssh |die-with-parent/.test(commandOf(pid)))).to.deep.equal([]);
  });

  it('ends with rdpipe, even after kill -9, and so do the processes there', async function () {
    const agent = locateLocalAgents().at(-1);
    needsFile(this, agent ?? 'build/rdpipe/native');
    const program = fileURLToPath(new URL('../hold-session.ts', import.meta.url));
    const holder = startProgram([process.execPath, '--import', 'tsx', program, hosts.configFile, 'h2', `${agent}`], {
      env: { XDG_RUNTIME_DIR: directory },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(holder.child.stdout ?? expect.fail(), 'data');
    const pid = Number(holder.stdout());
    const masters = childrenOf(holder.pid);
    expect(masters.length).to.be.greaterThan(1);
    holder.child.kill('SIGKILL');
    await eventually(() => expect([...masters, pid].filter((each) => existsSync(`/proc/${each}`))).to.deep.equal([]));
  });

  /**
   * Starts a master, and passes `action` the arguments of an ssh that uses it, the options of a session that does, and
   * the master.
   */
  async function withUsersMaster(
    action: (args: readonly string[], options: readonly string[], master: Started['child']) => Promise<void>,
  ) {
    const controlPath = join(directory, 'master');
    const args = ['-F', hosts.configFile, '-S', controlPath];
    const master = startProgram(['ssh', ...args, '-M', '-N', 'h1'], { stdio: 'ignore' });
    try {
      await eventually(() => expect(existsSync(controlPath)).to.equal(true));
      await action(args, [`ControlPath=${controlPath}`], master.child);
    } finally {
      master.child.kill();
      await master.ended;
    }
  }

  function logins(name: string): number {
    return readFileSync(join(dirname(hosts.configFile), `${name}.log`), 'utf8').split('Accepted publickey').length - 1;
  }
});

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}

function commandOf(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
}

function sessionOf(pid: number): number {
  const [, , , session] = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return Number(session);
}
