// SPDX-License-Identifier: Apache-2.0
// rdsend and rdrecv as rdstage commands them (docs/protocol/hop-agent.md, section 3).
import { once } from 'node:events';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { AgentSocket, type Message } from '../support/agent-socket.ts';
import { eventually } from '../support/eventually.ts';
import { type Ended, KEY, type Program, type Stdio, useBench } from '../support/programs.ts';
import { startProgram } from '../support/start-program.ts';

const OPEN = {
  key: KEY,
  run: 'a-run',
  hop: 1,
  encrypt: 'always',
  buffer: 8 << 20,
  connect_timeout_ms: 60_000,
  stall_timeout_ms: 60_000,
  bind: '127.0.0.1',
  ports: [0, 0],
};

interface Commanded {
  readonly program: Program;
  readonly agent: AgentSocket;
}

describe('rdsend and rdrecv under an agent', () => {
  const bench = useBench();

  it('carry a stream to its end', async () => {
    const { sender, receiver } = await connected();
    const tcp = { transport: 'tcp', cipher: 'aes-256-gcm', device: null, note: null };
    const heard = await sender.agent.heard('connected');
    expect(heard).to.include(tcp);
    expect(heard.openssl).to.match(/^3\.\d+\.\d+$/);
    expect(await receiver.agent.heard('listening')).to.include({ transport: 'tcp' });
    sender.program.child.stdin?.end('hello');
    sender.agent.tell('commit', { status: 5 });
    expect(await receiver.agent.heard('end')).to.include({ bytes: 5, status: 5 });
    for (const { agent, program } of [sender, receiver]) {
      expect((await program.ended).status).to.equal(0);
      const { user_ms, system_ms, max_rss_kib, ...finished } = await agent.heard('finished');
      expect(finished).to.deep.equal(DELIVERED);
      expect([user_ms, system_ms]).to.satisfy((times: unknown[]) => times.every((time) => Number(time) >= 0));
      expect(max_rss_kib).to.be.within(500, 250_000); // begins with the size of this process, from which it was forked
      expect(agent.events.at(-2)).to.include({ event: 'counters', bytes: 5 });
    }
    expect((await receiver.program.ended).stdout.toString()).to.equal('hello');
    expect(receiver.agent.names()).to.deep.equal(['ready', 'listening', 'connected', 'end', 'finished']);
  });

  it('report counters 4 times a second', async () => {
    const began = performance.now();
    const { sender } = await connected();
    await eventually(() => expect(countersOf(sender)).to.have.length.at.least(4));
    // Measured by the sender's clock, with the time that it waits for input. A busy machine prolongs some of the
    // intervals.
    await eventually(() => expect(gaps(sender).some((ms) => ms > 0 && ms < 2 * COUNTERS_EVERY_MS)).to.equal(true));
    expect(countersOf(sender).length).to.be.at.most((performance.now() - began) / COUNTERS_EVERY_MS);
    expect(lastCounters(sender).rtt_us).to.be.within(1, 1_000_000); // of the PINGs at the beginning of a connection
  });

  it('do not treat the end of the input as the end of the stream', async () => {
    const { sender, receiver } = await connected();
    sender.program.child.stdin?.end('hello');
    await once(receiver.program.child.stdout ?? expect.fail(), 'data');
    await eventually(() => expect(Number(lastCounters(receiver).bytes)).to.equal(5));
    expect(receiver.agent.names()).not.to.include('end');
    sender.agent.tell('commit', { status: 0 });
    await receiver.agent.heard('end');
  });

  it('abort: the output stays open until it is released', async () => {
    const { sender, receiver } = await connected();
    sender.program.child.stdin?.write('hello');
    sender.agent.tell('abort', { reason: 'stage 1 exited 1' });
    expect(await sender.agent.heard('finished')).to.include({ result: 'aborted', status: 9, code: 'aborted' });
    expect((await sender.program.ended).status).to.equal(9);
    const finished = await receiver.agent.heard('finished');
    expect(finished).to.include({ result: 'aborted', status: 9 });
    expect(finished.message).to.include('stage 1 exited 1');
    expect(isOpen(receiver)).to.equal(true);
    receiver.agent.tell('release');
    expect((await receiver.program.ended).status).to.equal(9);
  });

  describe('with an output on a terminal', () => {
    it('ask before its first byte, once', async () => {
      const { sender, receiver } = await watched();
      expect((await receiver.agent.heard('output')).event).to.equal('output');
      expect(receiver.program.child.stdout?.readableLength).to.equal(0);
      receiver.agent.tell('show');
      await once(receiver.program.child.stdout ?? expect.fail(), 'readable');
      sender.program.child.stdin?.end(' all');
      sender.agent.tell('commit', { status: 0 });
      expect((await receiver.program.ended).status).to.equal(0);
      expect((await receiver.program.ended).stdout.toString()).to.equal('hello all');
      expect(receiver.agent.names().filter((name) => name === 'output')).to.have.length(1);
    });

    it('wait a second for the answer, not forever', async () => {
      const began = performance.now();
      const { receiver } = await watched();
      const [chunk] = await once(receiver.program.child.stdout ?? expect.fail(), 'data');
      expect(String(chunk)).to.equal('hello');
      expect(performance.now() - began).to.be.at.least(1000);
      expect(receiver.agent.names()).to.include('output');
    });

    it('do not lose data before a failure', async () => {
      const { sender, receiver } = await watched();
      await receiver.agent.heard('output');
      sender.agent.tell('abort', { reason: 'stage 1 exited 3' });
      expect(await receiver.agent.heard('finished')).to.include({ result: 'aborted' });
      receiver.agent.tell('release');
      expect((await receiver.program.ended).stdout.toString()).to.equal('hello');
    });

    it('ask nothing if nothing arrives', async () => {
      const { sender, receiver } = await watched('');
      sender.program.child.stdin?.end();
      sender.agent.tell('commit', { status: 0 });
      expect((await receiver.program.ended).status).to.equal(0);
      expect(receiver.agent.names()).to.not.include('output');
    });

    /** Starts both ends; the receiver gets `ready` with `ask`, and then `sent`. */
    async function watched(sent = 'hello'): Promise<{ sender: Commanded; receiver: Commanded }> {
      const [sender, receiver] = [command('rdsend'), command('rdrecv')];
      for (const { agent } of [sender, receiver]) agent.tell('open', OPEN);
      sender.agent.tell('ready');
      receiver.agent.tell('ready', { ask: true });
      await connect(sender, receiver);
      if (sent !== '') sender.program.child.stdin?.write(sent);
      return { sender, receiver };
    }
  });

  it('a lost peer: the output stays open until it is released', async () => {
    const { sender, receiver } = await connected();
    sender.program.child.kill('SIGKILL');
    expect(await receiver.agent.heard('finished')).to.include({ result: 'failed', status: 5, code: 'peer_lost' });
    expect(isOpen(receiver)).to.equal(true);
    receiver.agent.tell('release');
    expect((await receiver.program.ended).status).to.equal(5);
  });

  it('a lost agent: the consumer is killed before its input ends', async () => {
    const receiver = command('rdrecv', ['ignore', 'pipe', 'pipe', 'pipe']);
    const consumer = startProgram(['sh', '-c', 'cat > seen; touch committed'], {
      cwd: bench.directory,
      detached: true,
      stdio: [receiver.program.child.stdout ?? expect.fail(), 'ignore', 'ignore'],
    });
    receiver.program.child.stdout?.destroy(); // this process's copy; the consumer has its own
    const sender = await joined(receiver);
    receiver.agent.tell('consumer', { pid: consumer.pid });
    sender.program.child.stdin?.write('half');
    await eventually(() =>
      expect(existsSync(bench.path('seen')) && readFileSync(bench.path('seen'), 'utf8')).to.equal('half'),
    );
    receiver.agent.hangUp();
    expect((await receiver.program.ended).status).to.equal(9);
    expect((await consumer.ended).signal).to.equal('SIGKILL');
    expect(existsSync(bench.path('committed'))).to.equal(false);
    expect((await sender.program.ended).status).to.equal(9);
  });

  it('a lost agent of the sender is an abort', async () => {
    const { sender, receiver } = await connected();
    sender.program.child.stdin?.end('hello');
    sender.agent.hangUp();
    expect((await sender.program.ended).status).to.equal(9);
    expect(await receiver.agent.heard('finished')).to.include({ result: 'aborted' });
  });

  it('a consumer that closes', async () => {
    const { sender, receiver } = await connected();
    receiver.program.child.stdout?.destroy();
    for (const { agent, program } of [sender, receiver]) {
      expect((await program.ended).signal).to.equal('SIGPIPE');
      expect(await agent.heard('finished')).to.include({ result: 'closed', status: 141, code: 'closed' });
    }
  });

  it('a dial that fails is reported, and another may follow', async () => {
    const receiver = command('rdrecv');
    const sender = command('rdsend');
    receiver.agent.tell('open', OPEN);
    receiver.agent.tell('ready');
    sender.agent.tell('open', OPEN);
    sender.agent.tell('dial', { addresses: [{ host: '127.0.0.1', port: 1 }] });
    expect(await sender.agent.heard('dial_failed')).to.deep.equal({
      event: 'dial_failed',
      code: 'cannot_connect',
      message: '127.0.0.1:1: connection refused',
    });
    // The opposite direction: the receiver dials.
    sender.agent.tell('listen');
    const { port } = await sender.agent.heard('listening');
    receiver.agent.tell('dial', {
      addresses: [
        { host: '127.0.0.1', port: 1 },
        { host: '127.0.0.1', port },
      ],
    });
    await finishWell(sender, receiver);
  });

  it('a failure over RDMA is reported, and TCP may follow', async () => {
    const receiver = command('rdrecv');
    const sender = command('rdsend');
    for (const { agent } of [receiver, sender]) agent.tell('open', OPEN);
    receiver.agent.tell('listen', { transport: 'rdma', bind: '192.0.2.1' }); // a documentation address: no host has it
    expect(await receiver.agent.heard('listen_failed')).to.include({ transport: 'rdma', code: 'cannot_connect' });
    sender.agent.tell('dial', { addresses: [{ host: '127.0.0.1', port: 1, transport: 'rdma', from: '127.0.0.1' }] });
    const failed = await sender.agent.heard('dial_failed');
    expect(failed).to.include({ code: 'cannot_connect' });
    expect(failed.message).to.match(/RDMA|librdmacm/);
    receiver.agent.tell('ready');
    receiver.agent.tell('listen', { transport: 'tcp', bind: null });
    const { port } = await receiver.agent.heard('listening');
    sender.agent.tell('dial', { addresses: [{ host: '127.0.0.1', port, transport: 'tcp', from: null }] });
    await finishWell(sender, receiver);
  });

  it('a hop with another key, or of another run, does not authenticate', async () => {
    for (const other of [{ key: 'cd'.repeat(32) }, { run: 'another' }, { hop: 2 }]) {
      const receiver = command('rdrecv');
      receiver.agent.tell('open', OPEN);
      receiver.agent.tell('listen');
      const sender = command('rdsend');
      sender.agent.tell('open', { ...OPEN, ...other });
      sender.agent.tell('dial', {
        addresses: [{ host: '127.0.0.1', port: (await receiver.agent.heard('listening')).port }],
      });
      expect(await sender.agent.heard('dial_failed')).to.include({ code: 'key_refused' });
      expect(receiver.agent.names()).to.deep.equal(['listening']);
    }
  });

  it('files: a source reports its size, a sink is replaced', async () => {
    writeFileSync(bench.path('in'), 'x'.repeat(100_000));
    writeFileSync(bench.path('out'), 'old');
    const { sender } = await files('out', false);
    expect(await sender.agent.heard('size')).to.include({ bytes: 100_000 });
    sender.agent.tell('commit', { status: 0 });
    expect((await sender.program.ended).status).to.equal(0);
    expect(readFileSync(bench.path('out'), 'utf8')).to.equal('x'.repeat(100_000));
  });

  it('append: kept when the stream succeeds', async () => {
    writeFileSync(bench.path('in'), 'new');
    writeFileSync(bench.path('log'), 'old');
    const { sender } = await files('log', true);
    sender.agent.tell('commit', { status: 0 });
    expect((await sender.program.ended).status).to.equal(0);
    expect(readFileSync(bench.path('log'), 'utf8')).to.equal('oldnew');
  });

  it('append: cut back when it fails, except for data that others appended', async () => {
    writeFileSync(bench.path('in'), 'new');
    writeFileSync(bench.path('log'), 'old');
    await abortedAppend('log', () => {});
    expect(readFileSync(bench.path('log'), 'utf8')).to.equal('old');
    await abortedAppend('log', () => appendFileSync(bench.path('log'), 'theirs'));
    expect(readFileSync(bench.path('log'), 'utf8')).to.equal('oldnewtheirs');
    await abortedAppend('fresh', () => {});
    expect(existsSync(bench.path('fresh'))).to.equal(false);
  });

  it('an invalid message ends them, with an error message', async () => {
    for (const line of [
      'nonsense',
      '[]',
      '{"op":"fly"}',
      '{"op":"open","key":"ab"}',
      `{"op":"${'x'.repeat(70_000)}"}`,
    ]) {
      const { agent, program } = command('rdsend');
      agent.sendLine(line);
      expect(await agent.heard('finished'), line).to.include({ result: 'failed', code: 'internal' });
      expect((await program.ended).status).to.equal(10);
    }
  });

  it('an agent that ends before open is lost', async () => {
    const { agent, program } = command('rdrecv');
    agent.hangUp();
    expect((await program.ended).status).to.equal(9);
  });

  function command(name: 'rdsend' | 'rdrecv', stdio: Stdio = ['pipe', 'pipe', 'pipe', 'pipe']): Commanded {
    const program = bench[name](['--agent-fd', '3'], stdio);
    return { program, agent: new AgentSocket(program) };
  }

  /** Starts and connects both ends, with standard input and output. */
  async function connected(): Promise<{ sender: Commanded; receiver: Commanded }> {
    const receiver = command('rdrecv');
    return { sender: await joined(receiver), receiver };
  }

  async function joined(receiver: Commanded): Promise<Commanded> {
    const sender = command('rdsend');
    for (const { agent } of [sender, receiver]) {
      agent.tell('open', OPEN);
      agent.tell('ready');
    }
    await connect(sender, receiver);
    return sender;
  }

  async function connect(sender: Commanded, receiver: Commanded): Promise<void> {
    receiver.agent.tell('listen');
    const { port } = await receiver.agent.heard('listening');
    sender.agent.tell('dial', { addresses: [{ host: '127.0.0.1', port }] });
    await Promise.all([sender.agent.heard('connected'), receiver.agent.heard('connected')]);
  }

  async function finishWell(sender: Commanded, receiver: Commanded): Promise<void> {
    sender.agent.tell('ready');
    sender.program.child.stdin?.end('hello');
    sender.agent.tell('commit', { status: 0 });
    const [sent, received]: Ended[] = await Promise.all([sender.program.ended, receiver.program.ended]);
    expect([sent?.status, received?.status, received?.stdout.toString()]).to.deep.equal([0, 0, 'hello']);
  }

  async function files(sink: string, append: boolean): Promise<{ sender: Commanded; receiver: Commanded }> {
    const receiver = command('rdrecv');
    const sender = command('rdsend');
    for (const { agent } of [sender, receiver]) agent.tell('open', OPEN);
    sender.agent.tell('file', { path: hex(bench.path('in')), append: false });
    receiver.agent.tell('file', { path: hex(bench.path(sink)), append });
    await Promise.all([sender.agent.heard('ready'), receiver.agent.heard('ready')]);
    await connect(sender, receiver);
    return { sender, receiver };
  }

  async function abortedAppend(sink: string, meanwhile: () => void): Promise<void> {
    const { sender, receiver } = await files(sink, true);
    await eventually(() => expect(readFileSync(bench.path(sink), 'utf8')).to.match(/new$/));
    meanwhile();
    sender.agent.tell('abort', { reason: 'enough' });
    expect(await receiver.agent.heard('finished')).to.include({ result: 'aborted' });
    receiver.agent.tell('release');
    expect((await receiver.program.ended).status).to.equal(9);
  }
});

const COUNTERS_EVERY_MS = 250;

/** Five bytes between a header and a tag. */
const DELIVERED: Message = {
  event: 'finished',
  result: 'delivered',
  status: 0,
  code: 'ok',
  message: '',
  bytes: 5,
  wire_bytes: 24 + 5 + 16,
};

function lastCounters(end: Commanded): Message {
  return countersOf(end).at(-1) ?? {};
}

function countersOf({ agent }: Commanded): Message[] {
  return agent.events.filter(({ event }) => event === 'counters');
}

/** Milliseconds between the counters of an end that waits for its input. */
function gaps(end: Commanded): number[] {
  const waited = countersOf(end).map(({ input_ms }) => Number(input_ms));
  return waited.slice(2).map((ms, index) => ms - (waited[index + 1] ?? 0)); // the first is from before the connection
}

/** True if the output has not ended. */
function isOpen({ program }: Commanded): boolean {
  return program.child.stdout?.readableEnded === false && program.child.exitCode === null;
}

function hex(text: string): string {
  return Buffer.from(text).toString('hex');
}
