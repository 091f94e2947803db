/** The copy of a bundle through a shell, by the shells that hosts have. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../../../../test/support/eventually.ts';
import { needsTool } from '../../../../test/support/needs.ts';
import { type Bundle, type BundleFile, sha256Of } from '../../src/agent/bundle.ts';
import { createCopies } from '../../src/agent/copies.ts';
import { deploy } from '../../src/agent/deploy.ts';
import { createLineChannel, type LineChannel } from '../../src/agent/line-channel.ts';
import { createProgramSources, type Outcome, type ProgramSources } from '../../src/agent/program-sources.ts';
import type { RunEvent } from '../../src/model/events.ts';
import { startChild } from '../../src/session/child-channel.ts';
import { createLocalSession } from '../../src/session/local.ts';

const AGENT = Buffer.from('#!/bin/sh\nexit\n');
const SHELLS = [['sh'], ['dash'], ['bash', '--posix'], ['bash'], ['busybox', 'sh'], ['zsh', '--emulate', 'sh']];

describe('a copy through a shell', () => {
  let home: string;
  let copies: ReturnType<typeof createCopies>;
  const told: RunEvent[] = [];
  const shells: LineChannel[] = [];
  const session = createLocalSession();

  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "rdpipe unit's "));
    copies = createCopies();
    told.length = 0;
  });
  afterEach(() => {
    for (const { channel } of shells.splice(0)) channel.kill();
    rmSync(home, { recursive: true, force: true });
  });
  after(() => session.close());

  const open = (command: readonly string[] = ['sh'], variables: Readonly<Record<string, string>> = {}): LineChannel => {
    const environment = { HOME: home, XDG_RUNTIME_DIR: undefined, ...variables };
    const shell = createLineChannel(session, startChild(command, environment));
    shells.push(shell);
    return shell;
  };
  const copy = (shell: LineChannel, bundle: Bundle, emit = (event: RunEvent) => void told.push(event)) =>
    deploy(shell, bundle, { ...optionsOf(), emit });
  const optionsOf = () => ({
    copies,
    sources: createProgramSources(),
    emit: () => {},
    signal: new AbortController().signal,
  });
  const place = () => join(home, '.cache/rdpipe');
  const installed = (name: string) => join(place(), 'd16e57', name);
  const reported = () => told.flatMap((event) => (event.kind === 'deploying' ? [event] : []));
  /** Waits for a line, which only a shell that reads another script prints. */
  const saysNext = async ({ channel, lines }: LineChannel) => {
    channel.stdin.write('echo next\n');
    for await (const line of lines) if (line.toString() === 'next') return;
    throw new Error('the shell ended');
  };

  for (const command of SHELLS) {
    it(`by ${command.join(' ')} installs every byte, and another script may follow`, async function () {
      needsTool(this, command[0] ?? '');
      const shell = open(command);
      const content = Buffer.concat([Buffer.from('say ok\nexit\n'), randomBytes(1 << 20)]);
      await copy(shell, await bundleOf({ rdhop: content, 'dynamic/rdhop': AGENT, 'dynamic/rdstage': AGENT }));
      await saysNext(shell);
      expect(readdirSync(place())).to.deep.equal(['d16e57']);
      expect(readdirSync(installed('')).sort()).to.deep.equal(['dynamic', 'rdhop', 'rdstage', 'used']);
      expect(readFileSync(installed('rdhop')).equals(content)).to.equal(true);
      expect(readFileSync(installed('dynamic/rdstage')).equals(AGENT)).to.equal(true);
      expect(statSync(installed('rdhop')).mode & 0o777).to.equal(0o700);
    });
  }

  describe('from another host', () => {
    const TOKEN = '00112233445566778899aabbccddeeff';
    const got: string[] = [];
    let server: Server;

    beforeEach(() => {
      got.length = 0;
    });
    afterEach(() => server?.close());

    /** The other host, and how the turns of hosts that may get the files there ended. */
    const offer = async (answer: (socket: Socket) => void) => {
      server = createServer({ allowHalfOpen: true }, (socket) => {
        socket.on('error', () => {}).on('data', (token) => got.push(String(token)));
        answer(socket);
      });
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const { address, port } = server.address() as AddressInfo;
      const ends: Outcome[] = [];
      const sources: ProgramSources = {
        take: async (_, canFetch) => ({
          offer: canFetch ? { label: 'h1', address, port, token: TOKEN, close: () => {} } : undefined,
          end: (outcome) => canFetch && ends.push(outcome),
        }),
        add: () => {},
      };
      return { sources, ends };
    };
    const fetchAll = async (shell: LineChannel, bundle: Bundle, sources: ProgramSources): Promise<void> => {
      const emit = (event: RunEvent) => void told.push(event);
      const turn = await deploy(shell, bundle, { ...optionsOf(), emit, sources });
      turn?.end('worked');
    };

    for (const command of SHELLS) {
      it(`by ${command.join(' ')} gets every byte`, async function () {
        needsTool(this, command[0] ?? '', 'bash', 'timeout');
        const content = randomBytes(1 << 20);
        const { sources, ends } = await offer((socket) => {
          socket.once('data', () => socket.end(Buffer.concat([AGENT, content, AGENT])));
        });
        const shell = open(command);
        await fetchAll(shell, await bundleOf({ rdhop: content, 'dynamic/rdhop': AGENT }), sources);
        await saysNext(shell);
        expect(got).to.deep.equal([`${TOKEN}\n`]);
        expect(readFileSync(installed('rdhop')).equals(content)).to.equal(true);
        expect(reported()).to.deep.equal([]);
        expect(ends).to.deep.equal(['worked']);
      });
    }

    for (const [what, answer] of [
      ['closes the connection', (socket) => socket.destroy()],
      ['sends less', (socket) => socket.end(AGENT)],
      ['sends other bytes', (socket) => socket.end(Buffer.concat([AGENT, Buffer.from('evil')]))],
      ['does not answer', () => {}],
    ] as const satisfies readonly (readonly [string, (socket: Socket) => void])[]) {
      it(`gets them from this machine if the other host ${what}`, async function () {
        needsTool(this, 'bash', 'timeout');
        const { sources, ends } = await offer(answer);
        const shell = open();
        shell.channel.stdin.write('timeout() { shift; command timeout 1 "$@"; }\n');
        await fetchAll(shell, await bundleOf({ rdhop: Buffer.from('good') }), sources);
        expect(readFileSync(installed('rdhop'), 'utf8')).to.equal('good');
        expect(ends).to.deep.equal(['failed']);
        expect(reported().at(0)).to.include({ kind: 'deploying', copied: 0 });
      });
    }

    it('tells when a host was lost that was getting them from another one', async function () {
      needsTool(this, 'bash', 'timeout');
      const shell = open();
      const { sources, ends } = await offer(() => shell.channel.kill());
      const outcome = await fetchAll(shell, await bundleOf({ rdhop: Buffer.from('good') }), sources).catch(String);
      expect(outcome).to.match(/^\w*Error/);
      expect(ends).to.deep.equal(['lost']);
    });

    it('gets them from this machine if their digests cannot be computed any more', async function () {
      needsTool(this, 'bash', 'timeout');
      const { sources, ends } = await offer((socket) => socket.end(Buffer.concat([AGENT, Buffer.from('evil')])));
      const shell = open();
      const once = `sha256sum() { case $(cat) in '#!/bin/sh') echo any ;; *) return 127 ;; esac; }`;
      shell.channel.stdin.write(`${once}; shasum() { return 127; }; openssl() { return 127; }\n`);
      await fetchAll(shell, await bundleOf({ rdhop: Buffer.from('good') }), sources);
      expect(ends).to.deep.equal(['failed']);
      expect(readFileSync(installed('rdhop'), 'utf8')).to.equal('good');
    });

    for (const [what, without] of [
      ['no bash', 'command() { [ "$2" != bash ]; }'],
      ['no timeout', 'command() { [ "$2" != timeout ]; }'],
      ['no program for digests', 'sha256sum() { return 127; }; shasum() { return 127; }; openssl() { return 127; }'],
    ] as const) {
      it(`does not get them from another host if there is ${what}`, async () => {
        const { sources, ends } = await offer((socket) => socket.destroy());
        const shell = open();
        shell.channel.stdin.write(`${without}\n`);
        await fetchAll(shell, await bundleOf({ rdhop: Buffer.from('good') }), sources);
        expect([got, ends]).to.deep.equal([[], []]);
        expect(readFileSync(installed('rdhop'), 'utf8')).to.equal('good');
      });
    }
  });

  it('sends the files uncompressed if there is no gzip', async () => {
    const shell = open();
    shell.channel.stdin.write('command() { [ "$2" != gzip ]; }\n');
    const content = randomBytes(1 << 20);
    await copy(shell, await bundleOf({ rdhop: content }));
    expect(readFileSync(installed('rdhop')).equals(content)).to.equal(true);
    const bytes = AGENT.length + content.length;
    expect(reported().at(0)).to.deep.equal({ kind: 'deploying', host: 'this machine', bytes, copied: 0 });
    expect(reported().at(-1)).to.deep.equal({ kind: 'deploying', host: 'this machine', bytes, copied: bytes });
  });

  it('keeps nothing of files that were damaged in transit', async () => {
    const bundle = await bundleOf({ rdhop: Buffer.from('good') }, { rdhop: Buffer.from('evil') });
    const error = await copy(open(), bundle).catch(String);
    expect(error).to.include(`cannot copy the agent to this machine: ${place()}: the copy is damaged; `);
    expect(readdirSync(place())).to.deep.equal([]);
  });

  it('compares sizes if no program computes digests', async () => {
    const without = 'sha256sum() { return 127; }; shasum() { return 127; }; openssl() { return 127; }\n';
    const shell = open();
    shell.channel.stdin.write(without);
    await copy(shell, await bundleOf({ rdhop: Buffer.from('good') }, { rdhop: Buffer.from('evil') }));
    rmSync(place(), { recursive: true });
    const other = open();
    other.channel.stdin.write(without);
    const short = await bundleOf({ rdhop: Buffer.from('good') }, { rdhop: Buffer.from('bad') });
    expect(await copy(other, short).catch(String)).to.include('the copy is damaged');
  });

  it('waits while another host of the run copies to the same directory', async () => {
    const bundle = await bundleOf({ rdhop: randomBytes(1 << 20) });
    await Promise.all([1, 2, 3, 4].map(() => copy(open(), bundle)));
    expect(reported().filter(({ copied }) => copied === 0)).to.have.lengthOf(1);
    expect(readdirSync(place())).to.deep.equal(['d16e57']);
  });

  it('copies after the other host was lost', async () => {
    const first = open();
    first.channel.stdin.write(`head() { until [ -e "$HOME/.cache/on" ]; do sleep 0.05; done; exit 1; }\n`);
    const bundle = await bundleOf({ rdhop: randomBytes(1 << 10) });
    const lost = copy(first, bundle).catch(String);
    await eventually(async () => expect(reported()).to.not.deep.equal([]));
    const second = copy(open(), bundle);
    await eventually(async () => expect(told.some(({ kind }) => kind === 'log')).to.equal(true));
    first.channel.kill();
    await Promise.all([lost, second]);
    expect(existsSync(installed('rdhop'))).to.equal(true);
  });

  it('ignores the lock of a copy that is over', async () => {
    mkdirSync(place(), { recursive: true, mode: 0o700 });
    symlinkSync('abc', join(place(), `copying-${copies.run}`));
    await copy(open(), await bundleOf({}));
    expect(readdirSync(place())).to.deep.equal(['d16e57']);
  });

  it('creates no home', async () => {
    const missing = join(home, 'missing');
    await copy(open(['sh'], { HOME: missing, XDG_RUNTIME_DIR: home }), await bundleOf({}));
    expect(readdirSync(home)).to.deep.equal(['rdpipe']);
    expect(existsSync(join(home, 'rdpipe/d16e57/rdstage'))).to.equal(true);
  });

  it('does not use a directory of another name to which a link leads', async () => {
    mkdirSync(join(home, 'private'), { mode: 0o700 });
    mkdirSync(join(home, '.cache'));
    symlinkSync(join(home, 'private'), place());
    await copy(open(['sh'], { XDG_RUNTIME_DIR: home }), await bundleOf({}));
    expect(readdirSync(join(home, 'private'))).to.deep.equal([]);
    expect(existsSync(join(home, 'rdpipe/d16e57/rdstage'))).to.equal(true);
  });

  it('fails if the host answers endlessly', async () => {
    const flood = 'read -r brace; IFS== read -r word nonce; while echo "rdpipe $nonce ready cat"; do :; done';
    const error = await copy(open(['sh', '-c', flood]), await bundleOf({})).catch(String);
    expect(error).to.include('cannot copy the agent to this machine: ');
    expect(reported()).to.have.length.below(1000);
  });

  for (const command of SHELLS) {
    it(`by ${command.join(' ')} leaves nothing if its input ends before its turn`, async function () {
      needsTool(this, command[0] ?? '');
      const shell = open(command);
      const take = async () => {
        shell.channel.stdin.end();
        await shell.channel.closed;
        throw new Error('ended');
      };
      const bundle = await bundleOf({});
      const options = { ...optionsOf(), sources: { take, add: () => {} } };
      const outcome = await deploy(shell, bundle, options).catch(String);
      expect(outcome).to.equal('Error: ended');
      expect(readdirSync(place())).to.deep.equal([]);
    });
  }

  it('leaves nothing of its own if its input ends while it waits for another copy', async () => {
    const bundle = await bundleOf({});
    const shell = open();
    mkdirSync(place(), { recursive: true, mode: 0o700 });
    symlinkSync('abc', join(place(), `copying-${copies.run}`));
    const emit = (event: RunEvent) => event.kind === 'log' && shell.channel.stdin.end();
    void copies.track('abc', () => shell.channel.closed);
    const outcome = await deploy(shell, bundle, { ...optionsOf(), emit }).catch(String);
    expect(outcome).to.include('Error');
    expect(readdirSync(place())).to.deep.equal([`copying-${copies.run}`]);
  });

  it('ends with the run, also while it waits', async () => {
    const bundle = await bundleOf({});
    void copies.track('abc', () => new Promise<never>(() => {}));
    mkdirSync(place(), { recursive: true, mode: 0o700 });
    symlinkSync('abc', join(place(), `copying-${copies.run}`));
    const run = new AbortController();
    const emit = (event: RunEvent) => event.kind === 'log' && run.abort(new Error('enough'));
    const outcome = await deploy(open(), bundle, { ...optionsOf(), emit, signal: run.signal }).catch(String);
    expect(outcome).to.equal('Error: enough');
  });
});

/** `sent`: contents that differ from those of the digests. */
async function bundleOf(
  files: Readonly<Record<string, Buffer>>,
  sent: Readonly<Record<string, Buffer>> = {},
): Promise<Bundle> {
  const all = Object.entries({ rdstage: AGENT, ...files });
  const [agent, ...others] = await Promise.all(all.map(([name, content]) => fileOf(name, content, sent[name])));
  if (agent === undefined) throw new Error('no agent');
  return { digest: 'd16e57', agent, others };
}

async function fileOf(name: string, content: Buffer, sent = content): Promise<BundleFile> {
  return { name, bytes: content.length, sha256: await sha256Of(content), content: async () => sent };
}
