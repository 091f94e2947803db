import { expect } from 'chai';
import type { Agent } from '../../src/agent/agent.ts';
import { SessionError } from '../../src/model/errors.ts';
import type { RunEvent } from '../../src/model/events.ts';
import type { Segment, SessionId } from '../../src/model/plan.ts';
import type { AgentEvent, AgentHello, AgentRequest } from '../../src/model/protocol.ts';
import { createEventBus } from '../../src/run/event-bus.ts';
import { readAgents } from '../../src/run/read-agents.ts';
import { createRecord } from '../../src/run/record.ts';
import type { Failure } from '../../src/run/state.ts';
import { linkEnded, PLAN, ran } from './sample.ts';

describe('listenToAgents', () => {
  it('shows, keeps and passes on the events of every agent, and resolves when all have ended', async () => {
    const run = await listen({ s1: [...ran(1), { event: 'ended' }], s2: [...ran(2), { event: 'ended' }] });
    expect(run.state.stages.get(1)?.exit).to.not.equal(undefined);
    expect(run.state.stages.get(2)?.exit).to.not.equal(undefined);
    const ofAStage = ['stage_started', 'stage_exited'];
    expect(run.shown.map(({ kind }) => kind)).to.have.members([...ofAStage, ...ofAStage]);
    expect(run.heard).to.include.members(['s1 exited', 's1 ended', 's2 exited', 's2 ended']);
    expect(run.failures).to.deep.equal([]);
  });

  it('acknowledges all stderr bytes so far, for each stage, after a quarter of those allowed in flight', async () => {
    const stderr = (stage: number, bytes: number): AgentEvent => ({ event: 'stderr', stage, data: '61'.repeat(bytes) });
    const plan = { ...PLAN, segments: PLAN.segments.map(onOneHost) };
    const run = await listen(
      { s1: [stderr(1, 32_768), stderr(2, 32_767), stderr(1, 32_768), stderr(2, 2)] },
      true,
      plan,
    );
    expect(run.sent).to.deep.equal([
      { op: 'stderr_ack', stage: 1, bytes: 32_768 },
      { op: 'stderr_ack', stage: 1, bytes: 65_536 },
      { op: 'stderr_ack', stage: 2, bytes: 32_769 },
    ]);
    expect(run.shown[3]).to.deep.equal({ kind: 'stderr', stage: 2, host: 'h1', data: Buffer.from('aa') });
  });

  it('gives up a host that reports about parts of others, and reads the others to their end', async () => {
    const run = await listen({ s1: [...ran(1), linkEnded(1, 'recv')], s2: [...ran(2), { event: 'ended' }] });
    const [failure] = run.failures;
    expect(failure?.kind === 'error' && failure.error).to.include({
      code: 'agent_protocol',
      host: 'h1',
      message:
        'the agent on h1 sent an invalid message: link_ended of link 1 (recv), which is not in its part of the plan',
    });
    expect(run.state.links.get(1)?.ends.recv.ended).to.equal(undefined);
    expect(run.heard).to.include('s2 ended');
    expect(run.heard).not.to.include('s1 link_ended');
  });

  it('treats a broken session as a failure, and reads the others to their end', async () => {
    const lost = new SessionError('session_lost', 'h1', 'lost the session to h1');
    const run = await listen({ s1: [lost], s2: [...ran(2), { event: 'ended' }] });
    expect(run.failures).to.deep.equal([{ kind: 'error', error: lost }]);
    expect(run.heard).to.include('s2 ended');
  });

  it('names the host of an error that does not', async () => {
    const run = await listen({ s1: [new Error('EPIPE')] });
    const [failure] = run.failures;
    expect(failure?.kind === 'error' && failure.error.message).to.equal('lost the agent on h1: EPIPE');
  });

  it('treats an agent that ends too early as lost', async () => {
    const run = await listen({ s1: [{ event: 'ended' }] }, false);
    const [failure] = run.failures;
    expect(failure?.kind === 'error' && failure.error).to.include({ code: 'session_lost', host: 'h1' });
  });
});

function onOneHost(segment: Segment): Segment {
  return { ...segment, stages: segment.stages.map((stage) => ({ ...stage, session: 's1' })) };
}

type Script = Readonly<Record<SessionId, readonly (AgentEvent | Error)[]>>;

async function listen(script: Script, isFinishing = true, plan = PLAN) {
  const shown: RunEvent[] = [];
  const sent: AgentRequest[] = [];
  const heard: string[] = [];
  const failures: Failure[] = [];
  const record = createRecord(
    plan,
    false,
    (event) => shown.push(event),
    (failure) => failures.push(failure),
  );
  const bus = createEventBus();
  bus.subscribe((session, { event }) => heard.push(`${session} ${event}`));
  const agents = Object.entries(script).map(([id, says]) => [id, scriptedAgent(id, says, sent)] as const);
  await readAgents(new Map(agents), record, bus, () => isFinishing);
  return { shown, sent, heard, failures, state: record.state };
}

function scriptedAgent(id: SessionId, says: readonly (AgentEvent | Error)[], sent: AgentRequest[]): Agent {
  return {
    label: id.replace('s', 'h'),
    hello: {} as AgentHello,
    startMs: 0,
    send: (request) => sent.push(request),
    async *events() {
      for (const said of says) {
        if (said instanceof Error) throw said;
        yield said;
      }
    },
    close: async () => {},
  };
}
