// SPDX-License-Identifier: Apache-2.0
// How one host's part of a run ends: normally, by a failure, by an early reader,
// or because a process was killed. A consumer commits (here: creates a file) only after an end of file that marks its
// stream as complete.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type AgentDriver, command, pipeline, prepare } from '../support/agent-driver.ts';
import { useAgents } from '../support/agent-test.ts';
import { eventually } from '../support/eventually.ts';

const COMMITTING = 'cat > seen; touch committed';
/** The second `cat` must not see the end of file of the inner pipe either. */
const COMMITTING_INSIDE = 'cat | (cat > seen; touch committed)';
/** The reader of the output is another process of the stage, as in bash's `tee >(…)`, and commits quickly. */
const LEADER_WRITES_INSIDE =
  "exec bash -c 'exec > >(read part; echo $part > seen; read more; : > committed); exec cat'";

/** 100 times the interval between two pings of `whileHeard`. */
const SHORT_LEASE_MS = 2000;
/** An agent sends five signs of life per lease. */
const SIGNS_IN_A_LEASE = 5;

describe('the end of a segment', () => {
  const agents = useAgents();

  for (const consumer of [COMMITTING, COMMITTING_INSIDE]) {
    it(`gives \`${consumer}\` no end of file when its producer failed`, async () => {
      const agent = await agents.start();
      await agent.run(pipeline('echo part; while [ ! -s seen ]; do sleep 0.05; done; exit 3', consumer));
      await agent.event('segment_ended');
      expect(agents.read('seen')).to.equal('part\n');
      expect(agents.has('committed')).to.equal(false);
      expect(await exitOf(agent, 1)).to.include({ code: 3, stopped: false });
      expect(await exitOf(agent, 2)).to.include({ signal: 9, stopped: true });
      await agent.abort();
    });
  }

  it('reaches through every consumer after the failure', async () => {
    const agent = await agents.start();
    await agent.run(pipeline('echo part; exit 3', 'cat', COMMITTING));
    await agent.event('segment_ended');
    expect(agents.has('committed')).to.equal(false);
    expect(await exitOf(agent, 3)).to.include({ stopped: true });
    await agent.abort();
  });

  it('is an end of file when the status was allowed', async () => {
    const agent = await agents.start();
    await agent.run(pipeline(command(1, 'echo all; exit 1', { ok: [0, 1] }), COMMITTING));
    await agent.finish();
    expect(agents.has('committed')).to.equal(true);
  });

  it('is an end of file after any failure when the run is lenient', async () => {
    const agent = await agents.start();
    await agent.run({ ...pipeline('echo all; kill -9 $$', COMMITTING), lenient: true });
    await agent.finish();
    expect(agents.has('committed')).to.equal(true);
    expect(await exitOf(agent, 1)).to.include({ signal: 9, stopped: false });
  });

  it("does not blame the producer for its reader's failure", async () => {
    const agent = await agents.start();
    await agent.run(pipeline('exec yes', 'read line; exit 4'));
    await agent.event('segment_ended');
    expect(await exitOf(agent, 2)).to.include({ code: 4, stopped: false, consumer_closed: false });
    expect(await exitOf(agent, 1)).to.include({ signal: 13, consumer_closed: true });
    await agent.abort();
  });
});

describe('a reader that closes early', () => {
  const agents = useAgents();

  it('ends producers that write', async () => {
    const agent = await agents.start();
    await agent.run(pipeline('yes', 'cat', 'head -c 10 > seen'));
    await agent.finish();
    expect(agents.read('seen')).to.equal('y\ny\ny\ny\ny\n');
    expect(await exitOf(agent, 1)).to.include({ consumer_closed: true, stopped: false });
    expect(await exitOf(agent, 3)).to.include({ code: 0, consumer_closed: false });
  });

  it('ends producers that are idle, one after another', async () => {
    const agent = await agents.start();
    await agent.run(pipeline('sleep 1000', 'cat; sleep 1000', 'true'));
    await agent.finish();
    for (const stage of [1, 2])
      expect(await exitOf(agent, stage)).to.include({ consumer_closed: true, stopped: false });
  });

  it('need not have exited: its closed input is enough', async () => {
    const agent = await agents.start();
    await agent.run(pipeline('sleep 1000', 'exec < /dev/null; while [ ! -e gone ]; do sleep 0.05; done'));
    expect(await exitOf(agent, 1)).to.include({ consumer_closed: true });
    expect(agent.all('exited')).to.have.length(1);
    writeFileSync(join(agents.directory, 'gone'), '');
    await agent.finish();
  });

  it('ends producers that ignore SIGPIPE and EPIPE', async () => {
    const agent = await agents.start();
    await agent.run(pipeline("trap '' PIPE TERM; while :; do sleep 0.1; done", 'true'));
    await agent.finish();
    expect(await exitOf(agent, 1)).to.include({ signal: 9, consumer_closed: true, stopped: false });
  });

  it("may be the user's", async () => {
    const agent = await agents.start({ args: ['--user-stdout', '3'], extraStdio: ['pipe'] });
    const links = [
      { link: 0, kind: 'null' as const },
      { link: 1, kind: 'stdout' as const },
    ];
    await agent.run(prepare([command(1, 'echo begun > seen; sleep 1000')], links));
    await agents.says('seen', 'begun\n');
    agent.extra(3).destroy();
    await agent.finish();
    expect(await exitOf(agent, 1)).to.include({ consumer_closed: true, stopped: false });
  });
});

describe('a run that is ended', () => {
  const agents = useAgents();
  /**
   * Processes that ignore signals: one in a session of its own, one that lost its parent; and a consumer that would
   * commit.
   */
  const deaf = "trap '' HUP INT TERM PIPE; while :; do sleep 0.1; done";
  const producer = `setsid sh -c "${deaf}" & (sh -c "${deaf}" &); echo part; touch running; sleep 1000`;

  async function startRun(more: Partial<ReturnType<typeof prepare>> = {}): Promise<AgentDriver> {
    const agent = await agents.start();
    await agent.run({ ...pipeline(producer, COMMITTING), ...more });
    await whileHeard(agent, () => {
      expect(agents.read('seen')).to.equal('part\n');
      expect(agents.has('running')).to.equal(true);
    });
    return agent;
  }

  async function expectEnd(agent: AgentDriver): Promise<void> {
    await agent.closed;
    await agents.expectNothingLeft();
    expect(agents.has('committed')).to.equal(false);
  }

  it('by `abort` reports it when nothing is left', async () => {
    const agent = await startRun();
    const own = [agent.guardian, agent.supervisor];
    agent.send({ op: 'abort', reason: 'a test' });
    await agent.event('ended');
    expect(agents.processes().filter(({ pid }) => !own.includes(pid))).to.deep.equal([]);
    expect(await exitOf(agent, 1)).to.include({ signal: 9, stopped: true });
    expect(agent.all('left_behind')).to.deep.equal([]);
    await expectEnd(agent);
  });

  it('by the end of its input leaves nothing', async () => {
    const agent = await startRun();
    agent.closeInput();
    expect(await agent.exited).to.deep.equal({ code: 1, signal: null });
    await expectEnd(agent);
  });

  it('by the end of the reader of its output leaves nothing', async () => {
    const agent = await startRun();
    agent.closeOutput();
    expect(await agent.exited).to.deep.equal({ code: 1, signal: null });
    await expectEnd(agent);
  });

  for (const killed of ['guardian', 'supervisor'] as const) {
    it(`by SIGKILL to its ${killed} leaves nothing`, async () => {
      const agent = await startRun();
      process.kill(agent[killed], 'SIGKILL');
      await expectEnd(agent);
    });
  }

  for (const killed of ['guardian', 'supervisor'] as const) {
    it(`by SIGKILL to its ${killed} gives no end of file to the reader of a stage's first process`, async () => {
      const agent = await agents.start();
      await agent.run(pipeline('echo part; exec sleep 1000', LEADER_WRITES_INSIDE));
      await agents.says('seen', 'part\n');
      process.kill(agent[killed], 'SIGKILL');
      await agents.expectNothingLeft();
      expect(agents.has('committed')).to.equal(false);
    });
  }

  it('by a supervisor that hangs for longer than the lease leaves nothing', async () => {
    const agent = await startRun({ lease_ms: SHORT_LEASE_MS });
    process.kill(agent.supervisor, 'SIGSTOP');
    await expectEnd(agent);
  });

  it('by SIGKILL to its guardian reports the reason', async () => {
    const agent = await startRun();
    process.kill(agent.guardian, 'SIGKILL');
    expect((await agent.event('failed')).message).to.equal("the agent's guardian was killed");
    await expectEnd(agent);
  });

  for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
    it(`by ${signal} to its supervisor reports the reason`, async () => {
      const agent = await startRun();
      process.kill(agent.supervisor, signal);
      expect((await agent.event('failed')).message).to.match(/^the agent was ended by signal \d+$/);
      await agent.event('ended');
      await expectEnd(agent);
    });
  }

  it('because of silence for the lease reports that', async () => {
    const agent = await startRun({ lease_ms: SHORT_LEASE_MS });
    const message = `lost rdpipe: it sent nothing for ${SHORT_LEASE_MS / 1000} s`;
    expect(await agent.event('failed')).to.include({ stage: null, code: 'peer_stalled', message });
    await agent.event('ended');
    await expectEnd(agent);
  });

  it('continues while something arrives within the lease, and sends keepalives', async () => {
    const agent = await startRun({ lease_ms: SHORT_LEASE_MS });
    const [seen, until] = [agent.all('alive').length, Date.now() + SHORT_LEASE_MS];
    await whileHeard(agent, () => {
      expect(agent.all('alive').length).to.be.at.least(seen + SIGNS_IN_A_LEASE);
      expect(Date.now()).to.be.greaterThan(until);
    });
    expect(agent.all('failed')).to.deep.equal([]);
    await agent.abort();
  });

  for (const [what, line] of [
    ['text that is not JSON', '{"op":'],
    ['no operation', '{"op":"fly"}'],
    ['a second segment', JSON.stringify(pipeline('true'))],
    ['`go` twice', '{"op":"go","segment":1}'],
    ['`finish` too early', '{"op":"finish"}'],
    ['an endless line', 'x'.repeat((1 << 20) + 1)],
  ] as const) {
    it(`by an invalid request (${what}) reports it`, async () => {
      const agent = await startRun();
      agent.sendLine(line);
      expect(await agent.event('failed')).to.include({ stage: null, code: 'usage' });
      await agent.event('ended');
      await expectEnd(agent);
    });
  }
});

describe('a segment that is not accepted', () => {
  const agents = useAgents();

  it("uses the user's descriptors, which the agent does not have", async () => {
    for (const kind of ['stdin', 'stdout'] as const) {
      const agent = await agents.start();
      agent.send(prepare([], [{ link: 0, kind }]));
      expect((await agent.event('failed')).message).to.match(/a descriptor that the agent does not have$/);
      await agent.event('ended');
    }
  });
});

describe('a suspended run', () => {
  const agents = useAgents();

  it('stops, for longer than its lease, and resumes', async () => {
    const agent = await agents.start();
    const counter = 'i=0; while [ ! -e stop ]; do i=$((i+1)); echo $i > count; sleep 0.02; done';
    await agent.run({ ...pipeline(`setsid sh -c '${counter}'`), lease_ms: SHORT_LEASE_MS });
    await whileHeard(agent, () => expect(agents.has('count')).to.equal(true));
    agent.send({ op: 'suspend' });
    const commands = () => agents.processes().filter(({ program }) => program !== 'rdstage');
    // A shell whose child was stopped between vfork() and exec waits in state D.
    const isStopped = (states: readonly string[]) =>
      states.includes('T') && states.every((state) => 'TD'.includes(state));
    await eventually(() => expect(commands().map(({ state }) => state)).to.satisfy(isStopped));
    const before = agents.read('count');
    const seen = agent.all('alive').length;
    await eventually(() => expect(agent.all('alive').length).to.be.greaterThan(seen + SIGNS_IN_A_LEASE));
    expect(agents.read('count')).to.equal(before);
    agent.send({ op: 'resume' });
    await whileHeard(agent, () => expect(agents.read('count')).not.to.be.oneOf([before, '']));
    agent.send({ op: 'abort', reason: 'a test' });
    await agent.event('ended');
    expect(agent.all('failed')).to.deep.equal([]);
  });

  it('can be ended while suspended', async () => {
    const agent = await agents.start();
    await agent.run(pipeline('echo part; sleep 1000', COMMITTING));
    await agents.says('seen', 'part\n');
    agent.send({ op: 'suspend' });
    await agent.abort();
    expect(agents.has('committed')).to.equal(false);
  });
});

/** Sends pings while it waits, so that the lease does not expire. */
function whileHeard(agent: AgentDriver, check: () => unknown): Promise<unknown> {
  return eventually(() => {
    agent.send({ op: 'ping' });
    return check();
  });
}

function exitOf(agent: AgentDriver, stage: number): ReturnType<AgentDriver['event']> {
  return agent.event('exited', (event) => event.stage === stage);
}
