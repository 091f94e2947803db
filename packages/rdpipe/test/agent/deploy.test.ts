import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { machine, tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { canConnect } from '../../../../test/support/can-connect.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import { needsFile, needsRoot, needsTool } from '../../../../test/support/needs.ts';
import { EVENT_MS } from '../../../../test/support/patience.ts';
import type { Agent } from '../../src/agent/agent.ts';
import { type Bundle, loadBundles, readBundles } from '../../src/agent/bundle.ts';
import { createCopies } from '../../src/agent/copies.ts';
import { deploy } from '../../src/agent/deploy.ts';
import { createLineChannel } from '../../src/agent/line-channel.ts';
import { installationRoot, PROGRAMS, THIS_PLATFORM } from '../../src/agent/locate.ts';
import { openOffer, reachableAddress } from '../../src/agent/open-offer.ts';
import { createProgramSources } from '../../src/agent/program-sources.ts';
import { type AgentOptions, startAgent } from '../../src/agent/start-agent.ts';
import { SessionError } from '../../src/model/errors.ts';
import type { RunEvent } from '../../src/model/events.ts';
import type { HostSession } from '../../src/session/host-session.ts';
import { openSessions, type Sessions } from '../../src/session/open.ts';
import { hostRef, settingsFor, startTestHosts, type TestHosts } from '../session/ssh-hosts.ts';

/** The files of rdpipe on a host after an agent was started there: the time of `used` is the time of the start. */
const KEPT = ['dynamic', 'rdhop', 'rdstage', 'rdtree', 'used'];

const STATIC_DIRECTORY = join(installationRoot(), 'build/rdpipe/native', THIS_PLATFORM, 'static');
/** The last directory that is tried, independent of variables. Other suites would find an agent left there. */
const LAST_PLACE = `/var/tmp/rdpipe-${userInfo().uid}`;

describe('an agent that is not on its host yet', () => {
  let hosts: TestHosts;
  let sessions: Sessions | undefined;
  let directory: string;
  const agents: Agent[] = [];
  const told: RunEvent[] = [];

  const hadLastPlace = existsSync(LAST_PLACE);

  before(async function () {
    needsFile(this, '/usr/sbin/sshd');
    needsFile(this, join(STATIC_DIRECTORY, 'rdstage'));
    needsTool(this, 'ssh', 'ssh-keygen');
  });
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'rdpipe-unit-'));
    told.length = 0;
  });
  afterEach(async () => {
    await Promise.all(agents.splice(0).map((agent) => agent.close()));
    await sessions?.close();
    await hosts?.close();
    rmSync(directory, { recursive: true });
    if (!hadLastPlace) rmSync(LAST_PLACE, { recursive: true, force: true });
  });

  /** One host whose sessions have this environment. */
  const connect = async (environment: Readonly<Record<string, string>>): Promise<HostSession> => {
    hosts = await startTestHosts([{ name: 'h1' }], environment);
    sessions = await openSessions([hostRef('h1')], settingsFor(hosts), undefined);
    const session = sessions.all.get('1');
    if (session === undefined) throw new Error('no session');
    return session;
  };
  const start = async (session: HostSession, changes: Partial<AgentOptions> = {}): Promise<Agent> => {
    const agent = await startAgent(session, {
      agentPath: undefined,
      sudo: false,
      leaseMs: 60_000,
      startTimeoutMs: EVENT_MS,
      ports: [0, 0],
      userDescriptors: undefined,
      emit: (event) => told.push(event),
      signal: new AbortController().signal,
      ...changes,
    });
    agents.push(agent);
    return agent;
  };
  const copy = async (session: HostSession, bundle: Bundle): Promise<void> => {
    const { signal } = new AbortController();
    const shell = createLineChannel(session, await session.openShell(signal));
    await deploy(shell, bundle, { copies: createCopies(), sources: createProgramSources(), emit: () => {}, signal });
  };
  const copies = () => told.filter((event) => event.kind === 'deploying' && event.copied === 0).length;
  const homePlace = () => join(directory, '.cache/rdpipe');
  const runPlace = () => join(directory, 'run/rdpipe');
  const environment = () => ({ HOME: directory, XDG_RUNTIME_DIR: join(directory, 'run') });
  const digest = async () => (await loadBundles()).get(THIS_PLATFORM)?.digest ?? '';

  it('is copied once, completely, readable only by this user', async () => {
    const session = await connect(environment());
    expect((await start(session)).hello.ssh_connection).to.match(/^127\.0\.0\.1 /);
    await start(session);
    expect(copies()).to.equal(1);
    expect(readdirSync(homePlace())).to.deep.equal([await digest()]);
    const version = join(homePlace(), await digest());
    expect(readdirSync(version).sort()).to.deep.equal(KEPT);
    expect(readdirSync(join(version, 'dynamic')).sort()).to.deep.equal(['rdhop', 'rdstage', 'rdtree']);
    for (const path of [homePlace(), version, join(version, 'rdstage')])
      expect(statSync(path).mode & 0o777).to.equal(0o700);
  });

  it("is copied without programs that do not fit the host's libraries", async () => {
    const dynamicDir = join(directory, 'built');
    mkdirSync(dynamicDir);
    for (const name of PROGRAMS) writeFileSync(join(dynamicDir, name), '#!/no/such/loader\n');
    const build = { staticDir: STATIC_DIRECTORY, dynamicDir };
    const bundle = (await readBundles(new Map([[THIS_PLATFORM, build]]))).get(THIS_PLATFORM);
    if (bundle === undefined) throw new Error('no bundle');
    await copy(await connect(environment()), bundle);
    expect(readdirSync(join(homePlace(), bundle.digest)).sort()).to.deep.equal(KEPT.slice(1));
  });

  it('is copied once for several sessions at once', async () => {
    await connect(environment());
    const more = await Promise.all(
      [1, 2, 3, 4].map(() => openSessions([hostRef('h1')], settingsFor(hosts), undefined)),
    );
    try {
      await Promise.all(more.flatMap(({ all }) => [...all.values()].map((session) => start(session))));
      expect(copies()).to.equal(1);
      expect(readdirSync(homePlace())).to.deep.equal([await digest()]);
      expect(existsSync(runPlace())).to.equal(false);
      expect(readdirSync(join(homePlace(), await digest())).sort()).to.deep.equal(KEPT);
    } finally {
      await Promise.all(agents.splice(0).map((agent) => agent.close()));
      await Promise.all(more.map((opened) => opened.close()));
    }
  });

  it('is given to other hosts by a host that has it', async function () {
    needsTool(this, 'bash', 'timeout');
    hosts = await startTestHosts([{ name: 'h1' }, { name: 'h2' }]);
    sessions = await openSessions([hostRef('h1'), hostRef('h2')], settingsFor(hosts), undefined);
    const [first, second] = [...sessions.all.values()];
    const bundle = (await loadBundles()).get(THIS_PLATFORM);
    if (first === undefined || second === undefined || bundle === undefined) throw new Error('no session');
    const { hello } = await start(first);
    const { signal } = new AbortController();
    const address = reachableAddress(hello);
    expect(address).to.equal(hosts.hosts.get('h1')?.address);
    const offer = await openOffer(first, bundle, address ?? '', [0, 0], signal);
    const sources = { take: async () => ({ offer, end: () => offer.close() }), add: () => {} };
    const shell = createLineChannel(second, await second.openShell(signal));
    const emit = (event: RunEvent) => void told.push(event);
    const turn = await deploy(shell, bundle, { copies: createCopies(), sources, emit, signal });
    shell.channel.kill();
    expect(copies()).to.equal(1);
    await start(second);
    expect(copies()).to.equal(1);
    turn?.end('worked');
    await eventually(async () => expect(await canConnect(offer.port, offer.address)).to.equal(false));
  });

  it('is not given to others by a host that lacks it', async () => {
    const session = await connect(environment());
    const bundle = (await loadBundles()).get(THIS_PLATFORM);
    if (bundle === undefined) throw new Error('no bundle');
    const opening = openOffer(session, bundle, '127.0.0.1', [0, 0], new AbortController().signal);
    expect(await opening.catch((error: unknown) => error)).to.be.instanceOf(SessionError);
  });

  it('is copied if another run creates the directory at the same moment', async () => {
    const programs = join(directory, 'bin');
    mkdirSync(programs);
    const first = 'case "$*" in */.cache/rdpipe) PATH=/usr/bin:/bin mkdir "$@" ;; esac';
    writeFileSync(join(programs, 'mkdir'), `#!/bin/sh\n${first}\nPATH=/usr/bin:/bin exec mkdir "$@"\n`, {
      mode: 0o755,
    });
    await start(await connect({ ...environment(), PATH: `${programs}:/usr/bin:/bin` }));
    expect(readdirSync(homePlace())).to.deep.equal([await digest()]);
  });

  it('is found after the output of a .bashrc', async function () {
    needsTool(this, 'bash');
    writeFileSync(join(directory, '.bashrc'), 'echo Welcome; printf "no newline"\n');
    await start(await connect(environment()));
    expect(existsSync(join(homePlace(), await digest(), 'rdstage'))).to.equal(true);
  });

  it('goes to another directory if the first cannot be written', async () => {
    mkdirSync(join(directory, 'run'));
    await start(await connect({ ...environment(), HOME: '/dev/null' }));
    expect(readdirSync(runPlace())).to.deep.equal([await digest()]);
    expect(
      told.some((event) => event.kind === 'log' && /^h1: \/dev\/null\/\.cache\/rdpipe: /.test(event.message)),
    ).to.equal(true);
  });

  for (const [what, agent, why] of [
    ['reports a failure', () => "#!/bin/sh\necho no >&2; echo 'cannot read /proc' >&2; exit 1\n", 'cannot read /proc'],
    ['is for another CPU', otherCpu, ''],
  ] as const) {
    it(`is not kept if it ${what}, which is reported`, async () => {
      const staticDir = join(directory, 'built');
      mkdirSync(staticDir);
      for (const name of PROGRAMS) writeFileSync(join(staticDir, name), agent());
      const bundle = (await readBundles(new Map([[THIS_PLATFORM, { staticDir, dynamicDir: undefined }]]))).get(
        THIS_PLATFORM,
      );
      if (bundle === undefined) throw new Error('no bundle');
      const error = await copy(await connect(environment()), bundle).catch(String);
      expect(error).to.include(`${homePlace()}: the agent for ${machine()} does not run there`).and.include(why);
      expect(readdirSync(homePlace())).to.deep.equal([]);
    });
  }

  it('goes to another directory if programs may not run in the first', async function () {
    needsRoot(this);
    mkdirSync(join(directory, 'run'));
    mkdirSync(join(directory, '.cache'));
    execaSync('mount', ['-t', 'tmpfs', '-o', 'noexec', 'rdpipe-test', join(directory, '.cache')]);
    try {
      const session = await connect(environment());
      await start(session);
      await start(session);
      expect(copies()).to.equal(1);
      expect(readdirSync(homePlace())).to.deep.equal([]);
    } finally {
      execaSync('umount', [join(directory, '.cache')]);
    }
    expect(readdirSync(runPlace())).to.deep.equal([await digest()]);
    expect(told).to.deep.include({
      kind: 'log',
      message: `h1: ${homePlace()}: programs cannot run there (mounted noexec?)`,
    });
  });

  for (const [what, prepare] of [
    ['a link', (place: string, other: string) => symlinkSync(other, place)],
    ['open to other users', (place: string) => mkdirSync(place, { mode: 0o755 })],
    ['a file', (place: string) => writeFileSync(place, '')],
  ] as const) {
    it(`trusts no directory that is ${what}`, async () => {
      mkdirSync(join(directory, 'run'));
      mkdirSync(join(directory, '.cache'));
      mkdirSync(join(directory, 'other'), { mode: 0o700 });
      prepare(homePlace(), join(directory, 'other'));
      await start(await connect(environment()));
      expect(readdirSync(runPlace())).to.deep.equal([await digest()]);
      expect(readdirSync(join(directory, 'other'))).to.deep.equal([]);
    });
  }

  it('trusts no directory of another user', async function () {
    needsRoot(this);
    mkdirSync(join(directory, 'run'));
    mkdirSync(homePlace(), { recursive: true, mode: 0o700 });
    chownSync(homePlace(), 65534, 65534);
    await start(await connect(environment()));
    expect(readdirSync(runPlace())).to.deep.equal([await digest()]);
    expect(readdirSync(homePlace())).to.deep.equal([]);
  });

  for (const [what, prepare] of [
    ['may be changed by its group', (path: string) => chmodSync(path, 0o770)],
    ['may be changed by any user', (path: string) => chmodSync(path, 0o707)],
    ['belongs to another user', (path: string) => chownSync(path, 65534, 65534)],
  ] as const) {
    it(`trusts nothing below a directory that ${what}`, async function () {
      needsRoot(this);
      const session = await connect(environment());
      await start(session);
      mkdirSync(join(directory, 'run'));
      prepare(join(directory, '.cache'));
      await start(session);
      expect(readdirSync(runPlace())).to.deep.equal([await digest()]);
      const message = `h1: ${homePlace()}: other users may replace it`;
      expect(told).to.deep.include({ kind: 'log', message });
    });
  }

  for (const name of ['dynamic/rdstage', 'dynamic/rdhop', 'dynamic/rdtree']) {
    it(`is not run next to a changed ${name}, and is copied again`, async () => {
      const session = await connect(environment());
      await start(session);
      const program = join(homePlace(), await digest(), name);
      const [before, size] = [readFileSync(program), statSync(program).size];
      const trap = `#!/bin/sh\n: >${directory}/trap\n`;
      rmSync(program); // it may be running
      writeFileSync(program, trap.padEnd(size, '\n'), { mode: 0o700 });
      await start(session);
      expect(copies()).to.equal(2);
      expect(readFileSync(program).equals(before)).to.equal(true);
      expect(existsSync(join(directory, 'trap'))).to.equal(false);
      const message =
        "rdpipe's programs on h1 were changed after they were copied; copying them again without running them";
      expect(told).to.deep.include({ kind: 'warning', message });
      expect(readdirSync(homePlace())).to.deep.equal([await digest()]);
    });
  }

  it('trusts no version of another user', async () => {
    const session = await connect(environment());
    const version = join(homePlace(), await digest());
    mkdirSync(homePlace(), { recursive: true, mode: 0o700 });
    mkdirSync(version, { mode: 0o777 });
    chmodSync(version, 0o777);
    writeFileSync(join(version, 'rdstage'), `#!/bin/sh\n: >${directory}/trap\n`, { mode: 0o755 });
    await start(session);
    expect(existsSync(join(directory, 'trap'))).to.equal(false);
    expect(statSync(version).mode & 0o777).to.equal(0o700);
  });

  it('removes versions that were not used for 30 days, and no others', async () => {
    const session = await connect(environment());
    const age = (name: string, days: number) => {
      const path = join(homePlace(), name);
      mkdirSync(path, { recursive: true, mode: 0o700 });
      writeFileSync(join(path, 'rdstage'), '');
      const time = Date.now() / 1000 - days * 86400;
      utimesSync(path, time, time);
    };
    mkdirSync(homePlace(), { recursive: true, mode: 0o700 });
    age('old', 40);
    age('recent', 20);
    age('old but used', 40);
    writeFileSync(join(homePlace(), 'old but used', 'used'), '');
    utimesSync(join(homePlace(), 'old but used'), 0, 0);
    await start(session);
    expect(readdirSync(homePlace()).sort()).to.deep.equal([await digest(), 'old but used', 'recent'].sort());
  });

  it('counts as used whenever it is started', async () => {
    const session = await connect(environment());
    await start(session);
    const version = join(homePlace(), await digest());
    utimesSync(join(version, 'used'), 1, 1);
    await start(session);
    expect(statSync(join(version, 'used')).mtimeMs).to.be.greaterThan(Date.now() - 3_600_000);
  });

  it('is not copied if there is no build for the CPU', async () => {
    fakeProgram('uname', 'echo Linux riscv64');
    const session = await connect({ ...environment(), PATH: `${directory}:${process.env.PATH}` });
    const error = await start(session).catch((failure: unknown) => failure);
    expect(error).to.be.instanceOf(SessionError).with.property('code', 'no_agent');
    expect(error)
      .to.have.property('message')
      .that.matches(/^h1 runs Linux on riscv64, for which this rdpipe has no agent \(it has: /);
    expect(existsSync(homePlace())).to.equal(false);
  });

  it('reports for every directory why it cannot be used', async () => {
    fakeProgram('mkdir', 'echo "mkdir: cannot create directory: Read-only file system" >&2; exit 1');
    fakeProgram('ls', 'exit 1'); // in case the directory below /var/tmp already exists
    const session = await connect({ ...environment(), PATH: `${directory}:${process.env.PATH}` });
    const error = await start(session).catch((failure: unknown) => failure);
    expect(error).to.have.property('code', 'no_agent');
    expect(error)
      .to.have.property('message')
      .that.matches(
        /^cannot copy the agent to h1: \S+\/\.cache\/rdpipe: .*Read-only file system; \S+\/run\/rdpipe: .*Read-only.*; \/var\/tmp\/rdpipe-\d+: .*(Read-only|not a directory of this user).* \(if it is installed there, use --agent PATH\)/,
      );
  });

  it('is run with sudo if requested', async () => {
    fakeProgram('sudo', `echo "$*" >${join(directory, 'sudo-arguments')}; shift 2; exec "$@"`);
    await start(await connect({ ...environment(), PATH: `${directory}:${process.env.PATH}` }), { sudo: true });
    expect(readFileSync(join(directory, 'sudo-arguments'), 'utf8')).to.match(
      /^-n -- \S+\/rdstage --agent --nonce [0-9a-f]{32} --sums \S+\n$/,
    );
  });

  it('fails with the message of sudo', async () => {
    fakeProgram('sudo', 'echo "sudo: a password is required" >&2; exit 1');
    const session = await connect({ ...environment(), PATH: `${directory}:${process.env.PATH}` });
    const error = await start(session, { sudo: true }).catch((failure: unknown) => failure);
    expect(error).to.have.property('message', 'cannot start the agent on h1: sudo: a password is required');
  });

  it('is not copied if --agent names one', async () => {
    const session = await connect(environment());
    await start(session, { agentPath: join(STATIC_DIRECTORY, 'rdstage') });
    symlinkSync(join(STATIC_DIRECTORY, 'rdstage'), join(directory, "it's mine"));
    await start(session, { agentPath: "~/it's mine" });
    expect(copies()).to.equal(0);
    const error = await start(session, { agentPath: '/nowhere/rdstage' }).catch((failure: unknown) => failure);
    expect(error).to.have.property('message', 'cannot start the agent on h1: program not found: /nowhere/rdstage');
  });

  function fakeProgram(name: string, script: string): void {
    writeFileSync(join(directory, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
});

/** This machine's agent with the number of another CPU. */
function otherCpu(): Buffer {
  const program = readFileSync(join(STATIC_DIRECTORY, 'rdstage'));
  program.writeUInt16LE(0xf3, 18);
  return program;
}
