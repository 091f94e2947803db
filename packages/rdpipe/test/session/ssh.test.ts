import { once } from 'node:events';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../../../../test/support/eventually.ts';
import { needsFile, needsTool } from '../../../../test/support/needs.ts';
import { SessionError } from '../../src/model/errors.ts';
import type { HostSession } from '../../src/session/host-session.ts';
import { openSessions, type Sessions, trySessions } from '../../src/session/open.ts';
import type { SessionSettings } from '../../src/session/settings.ts';
import { time } from '../frozen-time.ts';
import { itConforms, startScript, textOf } from './conformance.ts';
import { DIE_WITH_PARENT, hostRef, settingsFor, startTestHosts, type TestHosts } from './ssh-hosts.ts';

const NEVER = new AbortController().signal;

for (const client of ['openssh', 'ssh2'] as const) {
  describe(`a session with ${client}`, () => {
    let hosts: TestHosts;
    const opened: Sessions[] = [];

    before(async function () {
      needsFile(this, '/usr/sbin/sshd');
      needsTool(this, 'ssh', 'ssh-keygen');
      hosts = await startTestHosts([
        { name: 'h1' },
        { name: 'h2', jump: 'h1' },
        { name: 'h3', jump: 'h2' },
        { name: 'few', server: ['MaxStartups 1:100:1'] },
      ]);
    });
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((sessions) => sessions.close()));
    });
    after(() => hosts?.close());

    const open = async (names: readonly string[], changes: Partial<SessionSettings> = {}): Promise<Sessions> => {
      const sessions = await openSessions(
        names.map((name) => hostRef(name)),
        settingsFor(hosts, { client, ...changes }),
        undefined,
      );
      opened.push(sessions);
      return sessions;
    };
    const openOne = async (name: string, changes: Partial<SessionSettings> = {}): Promise<HostSession> => {
      const session = [...(await open([name], changes)).all.values()][0];
      if (session === undefined) throw new Error('no session');
      return session;
    };
    const failureOf = async (name: string, changes: Partial<SessionSettings> = {}): Promise<SessionError> => {
      const outcome = await open([name], changes).catch((error: unknown) => error);
      if (!(outcome instanceof SessionError)) throw new Error(`not a SessionError: ${outcome}`);
      return outcome;
    };

    describe('like any session', () => itConforms(() => openOne('h1')));
    if (client === 'openssh')
      describe('with an ssh for each channel', () =>
        itConforms(() => openOne('h1', { dieWithParent: ['env', 'RDPIPE_TEST_DELAYS=yes', DIE_WITH_PARENT] })));

    it('goes through jump hosts, each connected once', async () => {
      const sessions = await open(['h3', 'h2', 'h1', 'h3']);
      expect([...sessions.all.keys()]).to.deep.equal(['1', '2', '3']);
      const seen = await Promise.all([...sessions.all.values()].map((session) => run(session, 'echo $SSH_CONNECTION')));
      const addresses = seen.map((text) => text.split(' ')[2]);
      expect(addresses).to.deep.equal(['h3', 'h2', 'h1'].map((name) => hosts.hosts.get(name)?.address));
    });

    it('is shared by hosts that ssh resolves to the same target', async () => {
      const { username } = userInfo();
      const all = [hostRef('h1'), hostRef('h1', username), hostRef('h2')];
      const sessions = await openSessions(all, settingsFor(hosts, { client }), undefined);
      opened.push(sessions);
      expect(all.map((host) => sessions.idOf(host))).to.deep.equal(['1', '1', '2']);
    });

    it('opens the reachable hosts, when every host is tried', async () => {
      const all = [hostRef(''), hostRef('nowhere.invalid'), hostRef('h2'), hostRef('h1')];
      const begunMs = performance.now();
      const sessions = await trySessions(all, settingsFor(hosts, { client }), undefined);
      const allMs = performance.now() - begunMs;
      opened.push(sessions);
      const outcomes = sessions.attempts.map(({ outcome }) =>
        outcome instanceof SessionError ? outcome.code : (outcome as HostSession).kind,
      );
      expect(outcomes).to.deep.equal(['local', 'unknown_host', client, client]);
      expect(all.filter((_, index) => index !== 1).map(sessions.idOf)).to.deep.equal(['local', '1', '2']);
      const { took, checkCommand } = sessions.all.get('2') as HostSession;
      expect([took?.connectMs, took?.loginMs].every((ms) => ms !== undefined && ms >= 0 && ms < allMs)).to.equal(true);
      expect(checkCommand).to.equal(`ssh -F ${hosts.configFile} h1 true`);
      expect(sessions.all.get('local')?.took).to.equal(undefined);
      expect(await run(sessions.all.get('2') as HostSession, 'echo hi')).to.equal('hi\n');
    });

    it('goes through a ProxyCommand', async () => {
      const relay = join(hosts.directory, 'relay.mjs');
      writeFileSync(
        relay,
        `import { connect } from 'node:net';
        const socket = connect(Number(process.argv[3]), process.argv[2]);
        process.stdin.pipe(socket).pipe(process.stdout);`,
      );
      const options = [`ProxyCommand=${process.execPath} ${relay} %h %p`];
      const address = hosts.hosts.get('h1')?.address;
      expect(await run(await openOne('h1', { options }), 'echo $SSH_CONNECTION')).to.include(` ${address} `);
    });

    it('gives up on a target that its jump host cannot reach in time', async () => {
      const connectTimeoutMs = 60_000;
      // The time limit passes after the jump host has connected.
      const silent = await listen(() => void time.pass(connectTimeoutMs));
      const options = [`Port=${portOf(silent)}`, 'HostName=127.0.0.1'];
      time.freeze();
      const error = await failureOf('h2', { options, connectTimeoutMs }).finally(time.reset);
      silent.close();
      expect(error.message).to.match(/^cannot reach h2: no ssh connection on port \d+ within 60 s/);
    });

    it('runs and forwards nothing else, whatever is configured', async () => {
      const options = [
        'RemoteCommand=echo wrong',
        'RequestTTY=force',
        'LocalForward=1 localhost:1',
        'PermitLocalCommand=yes',
        'LocalCommand=false',
      ];
      expect(await run(await openOne('h1', { options }), 'echo right; test -t 0 || echo no tty')).to.equal(
        'right\nno tty\n',
      );
    });

    it('reports which port refused', async () => {
      const error = await failureOf('h1', { options: ['Port=1'] });
      expect(error.code).to.equal('unreachable');
      expect(error.message).to.equal(
        `cannot reach h1: connection refused on port 1 (try: ssh -F ${hosts.configFile} -o Port=1 h1 true)`,
      );
    });

    it('names a host that does not exist', async () => {
      const error = await failureOf('nowhere.invalid');
      expect(error.code).to.equal('unknown_host');
      expect(error.message).to.match(/^cannot reach nowhere\.invalid: unknown host nowhere\.invalid \(try: ssh /);
    });

    it('refuses a host whose key is not known', async () => {
      const error = await failureOf('h1', { options: ['UserKnownHostsFile=/dev/null'] });
      expect(error.code).to.equal('host_key');
      expect(error.message).to.match(/^cannot reach h1: its host key .*is not known/);
    });

    it('refuses a host whose key differs from the known one', async () => {
      const file = join(hosts.directory, 'changed');
      const key = readFileSync(join(hosts.directory, 'h2.host.pub'), 'utf8');
      const { address, port } = hosts.hosts.get('h1') ?? {};
      writeFileSync(file, `[${address}]:${port} ${key}`);
      const error = await failureOf('h1', { options: [`UserKnownHostsFile=${file}`] });
      expect(error.code).to.equal('host_key');
      expect(error.message).to.match(/^cannot reach h1: its host key is not the one in known_hosts/);
    });

    it('reports that a host refuses the user, and asks only once', async () => {
      const error = await failureOf('h1', { options: ['User=nobody-at-all'] });
      expect(error.code).to.equal('authentication');
      expect(error.message).to.match(/^cannot reach h1: permission denied/);
      const log = await eventually(() => {
        const lines = readFileSync(join(hosts.directory, 'h1.log'), 'utf8').split('\n');
        const ends = lines.filter((line) =>
          /^(Connection (closed|reset) by|Disconnected from) .*user nobody/.test(line),
        );
        expect(ends.length).to.be.greaterThan(0);
        return ends;
      });
      expect(log).to.have.length(1);
    });

    it("reports its jump host's message about an unreachable target", async () => {
      const error = await failureOf('h2', { options: ['Port=1'] });
      expect(error.code).to.equal('unreachable');
      expect(error.message).to.match(/^cannot reach h2: .*jump host.*connection refused/i);
    });

    it('gives up on a silent server', async () => {
      const silent = await listen(() => {});
      const error = await failureOf('h1', {
        options: [`Port=${portOf(silent)}`, 'HostName=127.0.0.1'],
        connectTimeoutMs: 300,
      });
      silent.close();
      expect(error.message).to.match(/^cannot reach h1: no ssh connection on port \d+ within 0\.3 s/);
    });

    it('tries again if the server drops connections before the login', async () => {
      let drops = 2;
      const host = hosts.hosts.get('h1');
      const dropping = await listen((socket) => {
        if (drops-- > 0) return void socket.resetAndDestroy();
        const server = connect(host?.port ?? 0, host?.address);
        socket.pipe(server).pipe(socket);
        socket.on('error', () => server.destroy());
      });
      const port = portOf(dropping);
      const knownHosts = join(hosts.directory, 'dropping');
      writeFileSync(knownHosts, `[127.0.0.1]:${port} ${readFileSync(join(hosts.directory, 'h1.host.pub'), 'utf8')}`);
      const options = [`Port=${port}`, 'HostName=127.0.0.1', `UserKnownHostsFile=${knownHosts}`];
      expect(await run(await openOne('h1', { options }), 'echo in')).to.equal('in\n');
      dropping.close();
    });

    it('ends connections that are being opened when the run is given up', async () => {
      const silent = await listen(() => controller.abort(reason));
      const controller = new AbortController();
      const reason = new Error('given up');
      const options = [`Port=${portOf(silent)}`, 'HostName=127.0.0.1'];
      const outcome = await open(['h1'], { options, signal: controller.signal }).catch((error: unknown) => error);
      silent.close();
      expect(outcome).to.equal(reason);
    });

    it('fails with the first host that fails', async () => {
      const silent = await listen(() => {});
      appendFileSync(hosts.configFile, `\nHost silent\nHostName 127.0.0.1\nPort ${portOf(silent)}\n`);
      const outcome = await open(['h1', 'silent', 'nowhere.invalid']).catch((error: unknown) => error);
      silent.close();
      expect(outcome).to.be.instanceOf(SessionError).with.property('host', 'nowhere.invalid');
    });

    it('notices a lost connection', async () => {
      const session = await openOne('h1');
      const channel = await session.openShell(NEVER);
      await startScript(channel, 'read go; kill -9 $PPID');
      channel.stdin.write('go\n');
      channel.stdout.resume();
      await channel.closed;
      expect(session.failure(channel)).to.be.instanceOf(SessionError).with.property('code', 'session_lost');
    });

    it("refuses a channel above the server's limit, and the others stay open", async () => {
      const session = await openOne('h1');
      const channels = await Promise.all(Array.from({ length: 10 }, () => session.openShell(NEVER)));
      await Promise.all(channels.map((channel) => startScript(channel, 'cat')));
      const failure = await session.openShell(NEVER).then(
        async (channel) => {
          await channel.closed;
          expect(session.failure(), 'of the connection').to.equal(undefined);
          return session.failure(channel);
        },
        (error: unknown) => error,
      );
      expect(failure).to.be.instanceOf(SessionError);
      const [first] = channels;
      first?.stdin.end('still here');
      expect(first && (await textOf(first.stdout))).to.equal('still here');
    });
  });
}

async function run(session: HostSession, script: string): Promise<string> {
  const channel = await session.openShell(NEVER);
  channel.stdin.end(`${script}\n`);
  return textOf(channel.stdout);
}

async function listen(onConnection: (socket: Socket) => void): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    onConnection(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
