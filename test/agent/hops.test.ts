// SPDX-License-Identifier: Apache-2.0
// Links that rdsend and rdrecv carry: files on one host, and hops between two agents over 127.0.0.1.
// A consumer commits (here: creates a file) only after an end of file that marks its stream as complete.
import { randomBytes } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { AgentLink, AgentStage, HopOpen, LinkSink, LinkSource } from '../../packages/rdpipe/src/model/protocol.ts';
import { type AgentDriver, command, hex, prepare } from '../support/agent-driver.ts';
import { type AgentTest, useAgents } from '../support/agent-test.ts';
import { eventually } from '../support/eventually.ts';
import { needsSightOfPrograms } from '../support/needs.ts';

type Prepare = ReturnType<typeof prepare>;

const NULL_IN = { link: 0, kind: 'null' } as const;
const NULL_OUT = { link: 2, kind: 'null' } as const;
const BUFFER = 1 << 20;
/** Fails after its consumer has seen the part. */
const FAILING = 'echo part; while [ ! -s seen ]; do sleep 0.05; done; exit 3';
/** More than all buffers between producer and consumer hold. */
const MANY_BYTES = 30_000_000;

describe('a local link', () => {
  const agents = useAgents();

  it('passes a file to a command', async () => {
    const bytes = randomBytes(MANY_BYTES);
    writeFileSync(join(agents.directory, 'given'), bytes);
    const agent = await agents.start();
    const links = [local(1, 'stage', 'stage'), NULL_OUT];
    await agent.run(prepare([source(1, 'given'), command(2, 'cat > arrived')], links));
    await agent.finish();
    expect(await agent.event('size')).to.deep.include({ link: 1, bytes: MANY_BYTES });
    for (const end of ['send', 'recv'] as const)
      expect(await endOf(agent, 1, end)).to.include({ result: 'delivered', code: 'ok', bytes: MANY_BYTES });
    expect(bytes.equals(readFileSync(join(agents.directory, 'arrived')))).to.equal(true);
  });

  it("writes a command's output to a file, whose name the shell expands", async () => {
    const agent = await agents.start({ env: { ...agents.env(), PLACE: agents.directory } });
    const links = [NULL_IN, local(1, 'stage', 'stage')];
    await agent.run(prepare([command(1, 'echo hi'), sink(2, '"$PLACE"/\'the target\'')], links));
    await agent.finish();
    expect(agents.read('the target')).to.equal('hi\n');
  });

  it('leaves the target unchanged when its producer fails', async () => {
    writeFileSync(join(agents.directory, 'target'), 'old');
    const agent = await agents.start();
    const links = [NULL_IN, local(1, 'stage', 'stage')];
    await agent.run(prepare([command(1, 'echo new; exit 3'), sink(2, 'target')], links));
    await agent.event('segment_ended');
    for (const end of ['send', 'recv'] as const)
      expect(await endOf(agent, 1, end)).to.include({ result: 'aborted', code: 'aborted' });
    await agent.abort();
    expect(agents.read('target')).to.equal('old');
  });

  it("joins the user's descriptors to files", async () => {
    const agent = await agents.start({
      args: ['--user-stdin', '3', '--user-stdout', '4'],
      extraStdio: ['pipe', 'pipe'],
    });
    // Read from the beginning: a stream of execa drops data that arrives before a reader does.
    const output = agent.extra(4).toArray();
    (agent.extra(3) as unknown as NodeJS.WritableStream).end('from the user');
    await agent.run(prepare([sink(1, 'kept')], [local(0, 'stdin', 'stage')]));
    await agent.event('segment_ended');
    const second = prepare([source(1, 'kept')], [local(1, 'stage', 'stdout')], { segment: 2 });
    await agent.run(second);
    await agent.finish(2);
    for (const [link, end] of [0, 1].flatMap(
      (link) =>
        [
          [link, 'send'],
          [link, 'recv'],
        ] as const,
    ))
      expect(await endOf(agent, link, end)).to.include({ result: 'delivered', code: 'ok', bytes: 13 });
    expect((await output).join('')).to.equal('from the user');
  });

  it('appends', async () => {
    writeFileSync(join(agents.directory, 'log'), 'one\n');
    const agent = await agents.start();
    const stages = [command(1, 'echo two'), { ...sink(2, 'log'), append: true }];
    await agent.run(prepare(stages, [NULL_IN, local(1, 'stage', 'stage')]));
    await agent.finish();
    expect(agents.read('log')).to.equal('one\ntwo\n');
  });

  it('succeeds when its consumer needs no more of a file', async () => {
    const agent = await agents.start();
    const links = [local(1, 'stage', 'stage'), NULL_OUT];
    await agent.run(prepare([source(1, '/dev/zero'), command(2, 'head -c 10 > seen')], links));
    await agent.finish();
    for (const end of ['send', 'recv'] as const) expect(await endOf(agent, 1, end)).to.include({ result: 'closed' });
    expect(agents.read('seen')).to.equal('\0'.repeat(10));
  });

  it('reports a file that cannot be written, not its producer', async () => {
    const agent = await agents.start();
    const stages = [command(1, 'exec cat /dev/zero'), sink(2, '/dev/full')];
    await agent.run(prepare(stages, [NULL_IN, local(1, 'stage', 'stage')]));
    await agent.event('segment_ended');
    expect(await endOf(agent, 1, 'recv')).to.include({ result: 'failed', code: 'sink_unwritable' });
    expect(await agent.event('exited')).to.include({ stage: 1, consumer_closed: true });
    await agent.abort();
  });

  it('reports which file cannot be read, and runs nothing', async () => {
    const agent = await agents.start();
    const links = [local(1, 'stage', 'stage'), NULL_OUT];
    agent.send(prepare([source(1, 'missing'), command(2, 'touch committed')], links));
    expect(await agent.event('failed')).to.include({ stage: 1, code: 'source_unreadable' });
    await agent.abort();
    expect(agent.all('prepared')).to.deep.equal([]);
    expect(agents.has('committed')).to.equal(false);
  });

  for (const [what, word, why] of [
    ['is refused by the shell', '"$(', /cannot expand the file name: .*(syntax|nterminated|EOF)/i],
    ['is empty', "''", /^cannot expand the file name: it is empty$/],
    ['is too long', '"$(printf %05000d 0)"', /^cannot expand the file name: it is too long$/],
    ['kills the shell', '"$(kill -KILL $$)"', /^cannot expand the file name: the shell failed$/],
  ] as const) {
    it(`reports it when a file's name ${what}`, async () => {
      const agent = await agents.start();
      agent.send(prepare([command(1, 'true'), sink(2, word)], [NULL_IN, local(1, 'stage', 'stage')]));
      const failed = await agent.event('failed');
      expect(failed).to.include({ stage: 2, code: 'sink_unwritable' });
      expect(failed.message).to.match(why);
      await agent.abort();
    });
  }

  it('kills its consumer when rdrecv or rdsend is killed', async function () {
    needsSightOfPrograms(this);
    for (const program of ['rdrecv', 'rdsend']) {
      const agent = await agents.start();
      const links = [local(1, 'stage', 'stage'), NULL_OUT];
      const name = `${program}-seen`;
      await agent.run(
        prepare([source(1, '/dev/zero'), command(2, `head -c 9 > ${name}; cat; touch committed`)], links),
      );
      await agents.says(name, '\0'.repeat(9));
      process.kill(pidOf(agents, program), 'SIGKILL');
      const end = program === 'rdrecv' ? 'recv' : 'send';
      const expected = { result: 'failed', code: 'internal', message: `${program} was killed by signal 9` };
      expect(await endOf(agent, 1, end)).to.include(expected);
      expect(await agent.event('exited')).to.include({ stage: 2, stopped: true });
      await agent.abort();
      expect(agents.has('committed')).to.equal(false);
    }
  });

  it('reports that rdrecv was killed, also when an abort arrives first', async function () {
    needsSightOfPrograms(this);
    const agent = await agents.start();
    await agent.run(prepare([source(1, '/dev/zero'), command(2, 'cat')], [local(1, 'stage', 'stage'), NULL_OUT]));
    await agent.event('started');
    process.kill(agent.supervisor, 'SIGSTOP');
    process.kill(pidOf(agents, 'rdrecv'), 'SIGKILL');
    await eventually(() => expect(() => pidOf(agents, 'rdrecv')).to.throw());
    agent.send({ op: 'abort', reason: 'a test' });
    process.kill(agent.supervisor, 'SIGCONT');
    expect(await endOf(agent, 1, 'recv')).to.include({ result: 'failed', message: 'rdrecv was killed by signal 9' });
    await agent.event('ended');
  });
});

describe('a hop', () => {
  const agents = useAgents();

  it('carries every byte from one agent to the other', async () => {
    const { from, to } = await connect(`head -c ${MANY_BYTES} /dev/urandom | tee sent`, 'cat > arrived');
    await Promise.all([from.finish(), to.finish()]);
    expect(statSync(join(agents.directory, 'sent')).size).to.equal(MANY_BYTES);
    const [sent, arrived] = ['sent', 'arrived'].map((name) => readFileSync(join(agents.directory, name)));
    expect(sent?.equals(arrived ?? Buffer.of())).to.equal(true);
    for (const ended of [await endOf(from, 1, 'send'), await endOf(to, 1, 'recv')]) {
      expect(ended).to.include({ result: 'delivered', bytes: MANY_BYTES });
      expect(ended.user_ms + ended.system_ms).to.be.greaterThan(0);
      expect(ended.max_rss_kib).to.be.within(500, 100_000);
    }
    expect(from.all('counters').length).to.be.greaterThan(0);
    expect(await from.event('connected')).to.include({ link: 1, end: 'send', transport: 'tcp', cipher: 'none' });
  });

  it('can be dialled by its receiver, and encrypted if requested', async () => {
    const [from, to] = [await agents.start(), await agents.start()];
    from.send(prepare([command(1, 'echo hi')], [NULL_IN, hop(1, 'send', { encrypt: 'always' })]));
    to.send(prepare([command(2, 'cat > seen')], [hop(1, 'recv', { encrypt: 'always' }), NULL_OUT]));
    await Promise.all([from.event('prepared'), to.event('prepared')]);
    from.send({ op: 'listen', link: 1, end: 'send', transport: 'tcp', bind: '127.0.0.1' });
    const { port } = await from.event('listening');
    to.send({ op: 'dial', link: 1, end: 'recv', addresses: [{ host: '127.0.0.1', port }] });
    expect((await to.event('connected')).cipher).to.be.oneOf(['aes-256-gcm', 'chacha20-poly1305']);
    await from.event('connected');
    for (const agent of [from, to]) agent.send({ op: 'go', segment: 1 });
    await Promise.all([from.finish(), to.finish()]);
    expect(agents.read('seen')).to.equal('hi\n');
  });

  it('listens when the request came before its file was found', async () => {
    const [from, to] = [await agents.start(), await agents.start()];
    from.send(prepare([command(1, 'echo hi')], [NULL_IN, hop(1, 'send')]));
    to.send(prepare([sink(2, '"$PWD"/target')], [hop(1, 'recv')]));
    to.send({ op: 'listen', link: 1, end: 'recv', transport: 'tcp', bind: '127.0.0.1' });
    const { port } = await to.event('listening');
    await Promise.all([from.event('prepared'), to.event('prepared')]);
    from.send({ op: 'dial', link: 1, end: 'send', addresses: [{ host: '127.0.0.1', port }] });
    await Promise.all([from.event('connected'), to.event('connected')]);
    for (const agent of [from, to]) agent.send({ op: 'go', segment: 1 });
    await Promise.all([from.finish(), to.finish()]);
    expect(agents.read('target')).to.equal('hi\n');
  });

  it('survives a suspension longer than its stall timeout', async () => {
    const producer = 'echo part; while [ ! -e more ]; do sleep 0.05; done; echo rest';
    const { from, to } = await connect(producer, 'cat > seen', { lease_ms: 5000 }, { stall_timeout_ms: 2000 });
    await agents.says('seen', 'part\n');
    for (const agent of [from, to]) agent.send({ op: 'suspend' });
    const lifeSigns = () => Math.min(from.all('alive').length, to.all('alive').length);
    const before = lifeSigns();
    await eventually(() => expect(lifeSigns()).to.be.greaterThan(before + 3)); // a second apart
    for (const agent of [from, to]) agent.send({ op: 'resume' });
    writeFileSync(join(agents.directory, 'more'), '');
    await Promise.all([from.finish(), to.finish()]);
    expect(agents.read('seen')).to.equal('part\nrest\n');
  });

  it('gives no end of file when its peer is lost, also when the run is lenient', async function () {
    needsSightOfPrograms(this);
    const { from, to } = await connect('echo part; sleep 1000', undefined, { lenient: true });
    await agents.says('seen', 'part\n');
    process.kill(pidOf(agents, 'rdsend'), 'SIGKILL');
    expect(await endOf(to, 1, 'recv')).to.include({ result: 'failed', code: 'peer_lost' });
    expect(await to.event('exited')).to.include({ signal: 9, stopped: true });
    await Promise.all([from.abort(), to.abort()]);
    expect(agents.has('committed')).to.equal(false);
  });

  it('gives an end of file after a failure when the run is lenient', async () => {
    const { from, to } = await connect('echo all; exit 3', undefined, { lenient: true });
    await Promise.all([from.finish(), to.finish()]);
    expect(agents.has('committed')).to.equal(true);
  });

  it('reports when it cannot be connected, and continues', async () => {
    const from = await agents.start();
    from.send(prepare([command(1, 'true')], [NULL_IN, hop(1, 'send')]));
    await from.event('prepared');
    from.send({ op: 'dial', link: 1, end: 'send', addresses: [{ host: '127.0.0.1', port: 1 }] });
    expect(await from.event('dial_failed')).to.include({ link: 1, end: 'send', code: 'cannot_connect' });
    from.send({ op: 'listen', link: 1, end: 'send', transport: 'tcp', bind: '127.0.0.1' });
    expect((await from.event('listening')).port).to.be.greaterThan(0);
    await from.abort();
  });

  for (const [what, open, field] of [
    ['an invalid value', { buffer: 1 }, 'buffer'],
    ['a wrong key', { key: 'ab' }, 'key'],
    ['an unknown protection', { encrypt: 'mac' } as unknown as HopOpen, 'encrypt'],
  ] as const) {
    it(`fails at the end whose settings have ${what}, before anything runs`, async () => {
      for (const link of [hop(1, 'send', open), { ...local(1, 'stage', 'null'), open: { ...openOf(1), ...open } }]) {
        const agent = await agents.start();
        agent.send(prepare([command(1, 'touch committed')], [NULL_IN, link]));
        const message = `the agent sent an invalid message: open: ${field}`;
        const ended = await endOf(agent, 1, 'send');
        expect(ended).to.include({ result: 'failed', status: 10, code: 'internal', message });
        await agent.abort();
        expect(agent.all('prepared')).to.deep.equal([]);
        expect(agents.has('committed')).to.equal(false);
      }
    });
  }

  it('is refused when its settings are too long for a message', async () => {
    const agent = await agents.start();
    agent.send(prepare([command(1, 'true')], [NULL_IN, hop(1, 'send', { run: 'r'.repeat(40_000) })]));
    const failed = await agent.event('failed');
    expect(failed).to.include({ stage: null, code: 'usage' });
    expect(failed.message).to.match(/prepare: open is too long$/);
    await agent.event('ended');
  });

  it('gives no end of file when its producer fails', async () => {
    const { from, to } = await connect(FAILING);
    expect(await endOf(to, 1, 'recv')).to.include({ result: 'aborted', code: 'aborted' });
    expect(await to.event('exited')).to.include({ stage: 2, signal: 9, stopped: true });
    await Promise.all([from.abort(), to.abort()]);
    expect(agents.has('committed')).to.equal(false);
  });

  it('gives no end of file to the stage after a consumer that was killed for it', async () => {
    const [from, to] = [await agents.start(), await agents.start()];
    const stages = [command(2, 'cat'), command(3, 'cat > seen; touch committed')];
    const links = [hop(1, 'recv'), { link: 2, kind: 'pipe' as const }, { link: 3, kind: 'null' as const }];
    const failing = prepare([command(1, FAILING)], [NULL_IN, hop(1, 'send')]);
    await joinUp(from, to, failing, prepare(stages, links));
    await to.event('segment_ended');
    expect(to.all('exited').map(({ stopped }) => stopped)).to.deep.equal([true, true]);
    await Promise.all([from.abort(), to.abort()]);
    expect(agents.has('committed')).to.equal(false);
  });

  it('ends an idle producer when its consumer closes early', async () => {
    const { from, to } = await connect('sleep 1000', 'true');
    await Promise.all([from.finish(), to.finish()]);
    expect(await from.event('exited')).to.include({ consumer_closed: true, stopped: false });
    expect(await endOf(from, 1, 'send')).to.include({ result: 'closed', code: 'closed' });
    expect(await endOf(to, 1, 'recv')).to.include({ result: 'closed', code: 'closed' });
  });

  it('still starts a producer whose consumer has already closed', async () => {
    const [from, to] = [await agents.start(), await agents.start()];
    const first = prepare([command(1, 'echo ran > ran; echo unread')], [NULL_IN, hop(1, 'send')]);
    const second = prepare([command(2, 'true')], [hop(1, 'recv'), NULL_OUT]);
    await joinUp(from, to, first, second, async () => {
      to.send({ op: 'go', segment: 1 });
      await endOf(from, 1, 'send');
      from.send({ op: 'go', segment: 1 });
    });
    expect(await from.event('exited')).to.include({ stage: 1, consumer_closed: true });
    for (const agent of [from, to]) await agent.finish();
    expect(from.all('failed')).to.deep.equal([]);
    expect(agents.read('ran')).to.equal('ran\n');
  });

  it('does not report a producer whose consumer closed', async () => {
    const { from, to } = await connect('yes; exit 9', 'head -c 10 > seen');
    await Promise.all([from.finish(), to.finish()]);
    expect(await from.event('exited')).to.include({ consumer_closed: true });
  });

  it('ends while a background process still writes, without an end of file', async () => {
    const { from, to } = await connect('(while :; do echo more; sleep 0.02; done) & exit 0');
    await from.event('exited', ({ code }) => code === 0);
    await Promise.all([from.abort(), to.abort()]);
    expect(agents.has('committed')).to.equal(false);
  });

  it('reports an rdsend that was killed, also when an abort arrives first', async function () {
    needsSightOfPrograms(this);
    const { from, to } = await connect('echo part; exec sleep 1000');
    await agents.says('seen', 'part\n');
    const rdsend = pidOf(agents, 'rdsend');
    process.kill(rdsend, 'SIGSTOP');
    const asked = performance.now();
    from.send({ op: 'abort', reason: 'a test' });
    await eventually(() => {
      const commands = agents.processes().filter(({ program }) => program === 'sleep');
      expect(commands.map(({ state }) => state)).to.deep.equal(['T']);
    });
    process.kill(rdsend, 'SIGKILL');
    const killed = { result: 'failed', code: 'internal', message: 'rdsend was killed by signal 9' };
    const ended = await from.event('link_ended');
    // The agent itself kills rdsend a second after the abort.
    const stopped = { result: 'aborted', code: 'aborted', message: 'rdsend was stopped' };
    const isLate = performance.now() - asked >= 1000;
    expect(ended).to.include(isLate && ended.result === 'aborted' ? stopped : killed);
    expect(ended.max_rss_kib).to.be.greaterThan(500);
    await to.abort();
  });

  for (const killed of ['guardian', 'supervisor'] as const) {
    for (const which of ['from', 'to'] as const) {
      it(`leaves nothing and commits nothing when the ${which === 'from' ? 'first' : 'second'} ${killed} is killed`, async () => {
        const ends = await connect('echo part; sleep 1000');
        await agents.says('seen', 'part\n');
        process.kill(ends[which][killed], 'SIGKILL');
        await ends[which].closed;
        const other = which === 'from' ? ends.to : ends.from;
        const ended = await other.event('link_ended');
        expect(ended.result).to.be.oneOf(['aborted', 'failed']);
        await other.event('exited');
        await other.abort();
        await agents.expectNothingLeft();
        expect(agents.has('committed')).to.equal(false);
      });
    }
  }

  it('keeps its key hidden', async function () {
    needsSightOfPrograms(this);
    const { from, to } = await connect('sleep 1000');
    const seen = agents
      .processes()
      .flatMap(({ pid }) => ['cmdline', 'environ'].map((file) => readFileSync(`/proc/${pid}/${file}`, 'latin1')));
    expect(seen.length).to.be.greaterThan(6);
    expect(seen.filter((text) => text.includes(KEY))).to.deep.equal([]);
    await Promise.all([from.abort(), to.abort()]);
  });

  /** Starts the commands of two agents joined by link 1. */
  async function connect(
    producer: string,
    consumer = 'cat > seen; touch committed',
    more: Parameters<typeof prepare>[2] = {},
    open: Partial<HopOpen> = {},
  ): Promise<Ends> {
    const [from, to] = [await agents.start(), await agents.start()];
    const first = prepare([command(1, producer)], [NULL_IN, hop(1, 'send', open)], more);
    await joinUp(from, to, first, prepare([command(2, consumer)], [hop(1, 'recv', open), NULL_OUT], more));
    return { from, to };
  }
});

interface Ends {
  readonly from: AgentDriver;
  readonly to: AgentDriver;
}

async function joinUp(
  from: AgentDriver,
  to: AgentDriver,
  first: Prepare,
  second: Prepare,
  go: () => void | Promise<void> = () => {
    for (const agent of [from, to]) agent.send({ op: 'go', segment: 1 });
  },
): Promise<void> {
  from.send(first);
  to.send(second);
  await Promise.all([from.event('prepared'), to.event('prepared')]);
  to.send({ op: 'listen', link: 1, end: 'recv', transport: 'tcp', bind: '127.0.0.1' });
  const { port } = await to.event('listening');
  from.send({ op: 'dial', link: 1, end: 'send', addresses: [{ host: '127.0.0.1', port }] });
  await Promise.all([from.event('connected'), to.event('connected')]);
  await go();
}

const KEY = randomBytes(32).toString('hex');

function hop(link: number, end: 'send' | 'recv', more: Partial<HopOpen> = {}): AgentLink {
  const base = { link, kind: 'hop', open: { ...openOf(link), bind: '127.0.0.1', ...more } } as const;
  return end === 'send' ? { ...base, end, source: 'stage' } : { ...base, end, sink: 'stage' };
}

function local(link: number, source: LinkSource, sink: LinkSink): AgentLink {
  return { link, kind: 'local', source, sink, open: openOf(link) };
}

function openOf(hop: number): HopOpen {
  const timeouts = { connect_timeout_ms: 60_000, stall_timeout_ms: 60_000 };
  return { key: KEY, run: 'test-run', hop, encrypt: 'never', buffer: BUFFER, ...timeouts };
}

function source(stage: number, word: string): AgentStage {
  return { stage, kind: 'source', word: hex(word), out: stage };
}

function sink(stage: number, word: string): AgentStage {
  return { stage, kind: 'sink', word: hex(word), append: false, in: stage - 1 };
}

function endOf(agent: AgentDriver, link: number, end: 'send' | 'recv') {
  return agent.event('link_ended', (event) => event.link === link && event.end === end);
}

/** Throws if no such process exists. */
function pidOf(agents: AgentTest, program: string): number {
  const found = agents.processes().find((process) => process.program === program);
  if (found === undefined) throw new Error(`no ${program} runs`);
  return found.pid;
}
