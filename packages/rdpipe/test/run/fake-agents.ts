/** Agents that follow a script: requests to them are recorded, and the test determines their events. */
import type { SessionId } from '../../src/model/plan.ts';
import type { AgentEvent, AgentRequest } from '../../src/model/protocol.ts';
import type { HopContext } from '../../src/run/connect-hops.ts';
import { createEventBus } from '../../src/run/event-bus.ts';
import { createKnownPaths } from '../../src/run/known-paths.ts';
import type { Forward, RemoteForward } from '../../src/session/host-session.ts';

export type Answer = (request: AgentRequest, session: SessionId) => readonly AgentEvent[] | undefined;

export interface FakeAgents extends HopContext {
  readonly sent: readonly { readonly session: SessionId; readonly request: AgentRequest }[];
  say(session: SessionId, event: AgentEvent): void;
}

/** `answer` returns an agent's events after a request; they are sent at once, but not before `send` has returned. */
export function fakeAgents(
  answer: Answer,
  timeoutMs = 60_000,
  forward?: Forward,
  forwardBack?: RemoteForward,
): FakeAgents {
  const bus = createEventBus();
  const sent: { session: SessionId; request: AgentRequest }[] = [];
  return {
    bus,
    timeoutMs,
    paths: createKnownPaths(),
    sent,
    label: (session) => session.replace('s', 'h'),
    say: (session, event) => bus.publish(session, event),
    forward: async () => forward,
    forwardBack: async () => forwardBack,
    send(session, request) {
      sent.push({ session, request });
      for (const event of answer(request, session) ?? []) {
        setImmediate(() => bus.publish(speakerOf(event) ?? session, event));
      }
    },
  };
}

/** An answer may contain events of both ends of a hop: link 1 leads from s1 to s2, link 2 from s2 to s3. */
function speakerOf(event: AgentEvent): SessionId | undefined {
  if (!('end' in event)) return undefined;
  return `s${event.end === 'send' ? event.link : event.link + 1}`;
}
