/** Agents that follow a script: what they are sent is kept, what they say is decided by the test. */
import type { SessionId } from '../../src/model/plan.ts';
import type { AgentEvent, AgentRequest } from '../../src/model/protocol.ts';
import type { HopPorts } from '../../src/run/connect-hops.ts';
import { createInbox } from '../../src/run/inbox.ts';
import type { Forward } from '../../src/session/host-session.ts';

export type Answer = (request: AgentRequest, session: SessionId) => readonly AgentEvent[] | undefined;

export interface FakeAgents extends HopPorts {
  readonly sent: readonly { readonly session: SessionId; readonly request: AgentRequest }[];
  say(session: SessionId, event: AgentEvent): void;
}

/** `answer` gives what an agent says to a request, at once but not before the request has returned. */
export function fakeAgents(answer: Answer, timeoutMs = 60_000, forward?: Forward): FakeAgents {
  const inbox = createInbox();
  const sent: { session: SessionId; request: AgentRequest }[] = [];
  return {
    inbox,
    timeoutMs,
    sent,
    label: (session) => session.replace('s', 'h'),
    say: (session, event) => inbox.publish(session, event),
    forward: async () => forward,
    send(session, request) {
      sent.push({ session, request });
      for (const event of answer(request, session) ?? []) setImmediate(() => inbox.publish(session, event));
    },
  };
}
