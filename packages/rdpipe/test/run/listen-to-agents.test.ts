import { expect } from 'chai';
import { SessionError } from '../../src/model/errors.ts';
import type { RunEvent } from '../../src/model/events.ts';
import type { SessionId } from '../../src/model/plan.ts';
import type { AgentEvent, AgentHello, AgentRequest } from '../../src/model/protocol.ts';
import type { Agent } from '../../src/native/agent.ts';
import { createInbox } from '../../src/run/inbox.ts';
import { listenToAgents } from '../../src/run/listen-to-agents.ts';
import { createRecord } from '../../src/run/record.ts';
import type { Failure } from '../../src/run/state.ts';
import { exited, PLAN } from './sample.ts';

describe('listenToAgents', () => {
  it('shows, keeps and passes on what every agent says, and resolves when all have ended', async () => {
    const run = await listen({ s1: [exited(1), { event: 'ended' }], s2: [exited(2), { event: 'ended' }] });
    expect(run.state.stages.get(1)?.exit).to.not.equal(undefined);
    expect(run.state.stages.get(2)?.exit).to.not.equal(undefined);
    expect(run.shown.map(({ kind }) => kind)).to.deep.equal(['stage_exited', 'stage_exited']);
    expect(run.heard).to.have.members(['s1 exited', 's1 ended', 's2 exited', 's2 ended']);
    expect(run.failures).to.deep.equal([]);
  });

  it('acknowledges stderr by all bytes so far, for each stage', async () => {
    const stderr = (stage: number, data: string): AgentEvent => ({ event: 'stderr', stage, data });
    const run = await listen({ s1: [stderr(1, '6162'), stderr(2, '63'), stderr(1, '646566')] });
    expect(run.sent).to.deep.equal([
      { op: 'stderr_ack', stage: 1, bytes: 2 },
      { op: 'stderr_ack', stage: 2, bytes: 1 },
      { op: 'stderr_ack', stage: 1, bytes: 5 },
    ]);
    expect(run.shown[0]).to.deep.equal({ kind: 'stderr', stage: 1, host: 'h1', data: Buffer.from('ab') });
  });

  it('takes a broken session for a failure, and hears the others to their end', async () => {
    const lost = new SessionError('session_lost', 'h1', 'lost the session to h1');
    const run = await listen({ s1: [lost], s2: [exited(2), { event: 'ended' }] });
    expect(run.failures).to.deep.equal([{ kind: 'error', error: lost }]);
    expect(run.heard).to.include('s2 ended');
  });

  it('names the host of an error that does not', async () => {
    const run = await listen({ s1: [new Error('EPIPE')] });
    const [failure] = run.failures;
    expect(failure?.kind === 'error' && failure.error.message).to.equal('lost the agent on h1: EPIPE');
  });

  it('takes an agent that ends too early for lost', async () => {
    const run = await listen({ s1: [{ event: 'ended' }] }, false);
    const [failure] = run.failures;
    expect(failure?.kind === 'error' && failure.error).to.include({ code: 'session_lost', host: 'h1' });
  });
});

type Script = Readonly<Record<SessionId, readonly (AgentEvent | Error)[]>>;

async function listen(script: Script, isFinishing = true) {
  const shown: RunEvent[] = [];
  const sent: AgentRequest[] = [];
  const heard: string[] = [];
  const failures: Failure[] = [];
  const record = createRecord(
    PLAN,
    false,
    (event) => shown.push(event),
    (failure) => failures.push(failure),
  );
  const inbox = createInbox();
  void inbox.next((session, { event }) => {
    heard.push(`${session} ${event}`);
    return undefined;
  }, new AbortController().signal);
  const agents = Object.entries(script).map(([id, says]) => [id, scriptedAgent(id, says, sent)] as const);
  await listenToAgents(new Map(agents), record, inbox, () => isFinishing);
  return { shown, sent, heard, failures, state: record.state };
}

function scriptedAgent(id: SessionId, says: readonly (AgentEvent | Error)[], sent: AgentRequest[]): Agent {
  return {
    label: id.replace('s', 'h'),
    hello: {} as AgentHello,
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
