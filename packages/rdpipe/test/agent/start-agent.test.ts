import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../../../../test/support/eventually.ts';
import { EVENT_MS } from '../../../../test/support/patience.ts';
import type { Agent } from '../../src/agent/agent.ts';
import { type AgentOptions, startAgent } from '../../src/agent/start-agent.ts';
import { SessionError } from '../../src/model/errors.ts';
import type { RunEvent } from '../../src/model/events.ts';
import type { AgentEvent, AgentRequest } from '../../src/model/protocol.ts';
import { createLocalSession } from '../../src/session/local.ts';
import { time } from '../frozen-time.ts';
import { HELLO, writeFakeAgent } from './fake-agent.ts';

const PREPARE: AgentRequest = {
  op: 'prepare',
  segment: 1,
  lenient: false,
  lease_ms: 300,
  connect_timeout_ms: 1000,
  stages: [],
  links: [],
};
const ENDED = `say '{"event":"ended"}'`;

describe('an agent', () => {
  let directory: string;
  const agents: Agent[] = [];
  const told: RunEvent[] = [];

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'rdpipe-unit-'));
    told.length = 0;
  });
  afterEach(async () => {
    await Promise.all(agents.splice(0).map((agent) => agent.close()));
    rmSync(directory, { recursive: true });
  });

  const start = async (
    script: string,
    changes: Partial<AgentOptions> = {},
    hello: object = HELLO,
    protocol = 1,
  ): Promise<Agent> => {
    const agent = await startAgent(createLocalSession(), {
      agentPath: writeFakeAgent(directory, script, hello, protocol),
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
  const startFailure = (...agent: Parameters<typeof start>) => start(...agent).then(fail, asSessionError);
  const eventsFailure = (agent: Agent) => allEvents(agent).then(fail, asSessionError);

  describe('at its start', () => {
    it('introduces itself', async () => {
      const agent = await start(`hello; ${ENDED}`);
      expect(agent.hello).to.deep.equal(HELLO);
      expect(agent.label).to.equal('this machine');
    });

    it('is found in the output of a login shell, even within a line', async () => {
      const agent = await start(`echo 'Welcome!'; echo 'rdstage/1 other {}'; printf 'no newline'; hello; ${ENDED}`);
      expect(agent.hello).to.deep.equal(HELLO);
      expect(told.map((event) => (event.kind === 'log' ? event.message : ''))).to.deep.equal([
        'this machine: before the agent: Welcome!',
        'this machine: before the agent: rdstage/1 other {}',
        'this machine: before the agent: no newline',
      ]);
    });

    it('may have been found after a damaged one, of which a warning tells', async () => {
      const agent = await start(`echo "rdstage/1 $nonce damaged"; hello; ${ENDED}`);
      expect(agent.hello).to.deep.equal(HELLO);
      expect(told.map((event) => (event.kind === 'warning' ? event.message : ''))).to.deep.equal([
        "rdpipe's programs in a directory on this machine were changed after they were copied; others there are used instead",
      ]);
    });

    it('fails with its last words when it ends first', async () => {
      const error = await startFailure('echo first >&2; echo no such luck >&2; exit 1');
      expect(error.code).to.equal('no_agent');
      expect(error.message).to.equal('cannot start the agent on this machine: no such luck');
    });

    it('fails when it is silent for too long', async () => {
      const error = await startFailure('cat >/dev/null', { startTimeoutMs: 200 });
      expect(error.message).to.equal('cannot start the agent on this machine: no answer within 0.2 s');
    });

    it('fails when its login shell prints endlessly', async () => {
      const error = await startFailure('exec yes');
      expect(error.message).to.equal(
        'cannot start the agent on this machine: the login shell keeps printing and never runs the agent',
      );
    });

    it('fails when its first line has no end', async () => {
      const error = await startFailure("exec tr '\\0' y </dev/zero");
      expect(error.message).to.equal(
        'cannot start the agent on this machine: the login shell keeps printing and never runs the agent',
      );
    });

    it('fails when its program is missing', async () => {
      const error = await startFailure('', { agentPath: '/nowhere/rdstage' });
      expect(error.message).to.equal('cannot start the agent on this machine: program not found: /nowhere/rdstage');
    });

    it('is refused when it is of another version', async () => {
      const error = await startFailure('hello', {}, { ...HELLO, v: 2 });
      expect(error.code).to.equal('agent_protocol');
      const next = '(install the same version of rdpipe there)';
      const message = `the agent on this machine has a different version: protocol 2; this rdpipe has 1 ${next}`;
      expect(error.message).to.equal(message);
      // The hello of that version may have another form.
      expect((await startFailure('printf motd; hello; cat', {}, { news: [] }, 2)).message).to.equal(message);
    });

    it('is refused when it does not introduce itself', async () => {
      expect((await startFailure('hello', {}, { v: 1 })).code).to.equal('agent_protocol');
    });

    it('stops when the run ends', async () => {
      const reason = new Error('given up');
      const signal = AbortSignal.timeout(100);
      const outcome = await start('cat >/dev/null', { signal }).catch((error: unknown) => error);
      expect(outcome).to.equal(signal.reason);
      const early = await start('hello', { signal: AbortSignal.abort(reason) }).catch((error: unknown) => error);
      expect(early).to.equal(reason);
    });
  });

  describe('at work', () => {
    it('emits events in order, without its keepalives, and ends', async () => {
      const agent = await start(
        `hello; say '{"event":"alive"}'; say '{"event":"prepared","segment":1}'; say '{"event":"alive"}'; ${ENDED}; say 'more'`,
      );
      expect(await allEvents(agent)).to.deep.equal([{ event: 'prepared', segment: 1 }, { event: 'ended' }]);
    });

    it('gets each message as one line', async () => {
      const agent = await start(
        `hello; read -r a; read -r b; test "$a$b" = '{"op":"go","segment":1}{"op":"finish"}' && ${ENDED}`,
      );
      agent.send({ op: 'go', segment: 1 });
      agent.send({ op: 'finish' });
      expect(await allEvents(agent)).to.deep.equal([{ event: 'ended' }]);
    });

    it('can be sent messages after its end', async () => {
      const agent = await start(`hello; ${ENDED}`);
      await allEvents(agent);
      await agent.close();
      agent.send({ op: 'finish' });
    });

    it('gets keepalives without a request for them', async () => {
      const agent = await start(`hello; read -r a; read -r b; test "$a$b" = '{"op":"ping"}{"op":"ping"}' && ${ENDED}`, {
        leaseMs: 200,
      });
      expect(await allEvents(agent)).to.deep.equal([{ event: 'ended' }]);
    });

    it('is lost when it ends early, and its last message is reported', async () => {
      const error = await eventsFailure(await start('hello; echo out of memory >&2; exit 1'));
      expect(error.code).to.equal('session_lost');
      expect(error.message).to.equal('lost the agent on this machine: out of memory');
    });

    it('is lost when it sends nothing for the lease', async () => {
      const agent = await start(`hello; cat >/dev/null`, { leaseMs: 300 });
      agent.send(PREPARE);
      const error = await eventsFailure(agent);
      expect(error.code).to.equal('session_lost');
      expect(error.message).to.equal('lost this machine: it sent nothing for 0.3 s');
    });

    it('is given up when it stops reading its requests', async () => {
      const agent = await start('hello; exec tail -f /dev/null');
      const failure = eventsFailure(agent);
      for (let told = 0; told < 5 * 1024 * 1024; told += 50) agent.send({ op: 'stderr_ack', stage: 1, bytes: 2 ** 52 });
      expect(await failure).to.include({
        code: 'agent_protocol',
        message: 'the agent on this machine is not reading requests',
      });
    });

    it('is asked to end, because some launchers do not pass on the end of its input', async () => {
      const agent = await start(`hello; cat >${directory}/heard`);
      await agent.close();
      const heard = readFileSync(join(directory, 'heard'), 'utf8');
      expect(heard).to.equal('{"op":"abort","reason":"rdpipe closed the connection"}\n');
    });

    it('may take long to read one long request', async () => {
      const agent = await start(
        `hello; while [ ! -e ${directory}/read ]; do sleep 0.01; done; cat | wc -c >${directory}/count`,
      );
      agent.send({ op: 'abort', reason: 'x'.repeat(12 * 1024 * 1024) });
      writeFileSync(join(directory, 'read'), '');
      await agent.close();
      expect(Number(readFileSync(join(directory, 'count'), 'utf8'))).to.be.greaterThan(12 * 1024 * 1024);
    });

    it('is ended when rdpipe stops reading its events', async () => {
      const agent = await start(`hello; say '{"event":"prepared","segment":1}'; cat >/dev/null; : >${directory}/heard`);
      for await (const event of agent.events()) {
        expect(event.event).to.equal('prepared');
        break;
      }
      time.freeze(); // The agent must not end because its time limit has passed.
      await agent.close().finally(time.reset);
    });

    it('is not lost while it sends something', async () => {
      const leaseMs = 600_000;
      const agent = await start(
        `hello; for n in 1 2 3; do read -r request; say '{"event":"alive"}'; : >${directory}/said-$n; done; ${ENDED}`,
        { leaseMs },
      );
      time.freeze();
      try {
        const events = allEvents(agent);
        for (const number of [1, 2, 3]) {
          agent.send(number === 1 ? PREPARE : { op: 'go', segment: 1 });
          await eventually(() => expect(existsSync(join(directory, `said-${number}`))).to.equal(true));
          await time.pass(leaseMs - 1);
        }
        expect(await events).to.deep.equal([{ event: 'ended' }]);
      } finally {
        time.reset();
      }
    });

    it('is not lost while it is suspended', async () => {
      const agent = await start(`hello; sleep 0.6; ${ENDED}`, { leaseMs: 200 });
      agent.send(PREPARE);
      agent.send({ op: 'suspend' });
      expect(await allEvents(agent)).to.deep.equal([{ event: 'ended' }]);
    });

    for (const [what, script] of [
      ['something that is not JSON', 'say nonsense'],
      ['an unknown event', `say '{"event":"exploded"}'`],
      ['a field of the wrong kind', `say '{"event":"prepared","segment":"1"}'`],
      ['a negative count', `say '{"event":"size","link":1,"bytes":-1}'`],
      ['bytes that are not hexadecimal', `say '{"event":"stderr","stage":1,"data":"xy"}'`],
      ['invalid UTF-8', `printf '{"event":"left_behind","pid":1,"command":"\\377"}\\n'`],
      ['an endless line', `say '{"event":"prepared","segment":1}' | tr -d '\\n'; exec tr '\\0' y </dev/zero`],
    ] as const) {
      it(`is given up when it sends ${what}`, async () => {
        const agent = await start(`hello; ${script}; cat >/dev/null`);
        expect((await eventsFailure(agent)).code).to.equal('agent_protocol');
      });
    }
  });

  it('gets end of file when it is closed, and is waited for', async () => {
    const agent = await start(`hello; cat >/dev/null; sleep 0.2; : >${directory}/ended`);
    await agent.close();
    expect(() => rmSync(join(directory, 'ended'))).not.to.throw();
  });
});

async function allEvents(agent: Agent): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of agent.events()) events.push(event);
  return events;
}

function asSessionError(error: unknown): SessionError {
  if (error instanceof SessionError) return error;
  throw error;
}

function fail(): never {
  throw new Error('it should have failed');
}
