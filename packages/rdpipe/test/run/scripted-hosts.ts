/** Hosts whose agents follow a script: they answer requests, and end on request, like real agents. */

import type { Agent } from '../../src/agent/agent.ts';
import type { SessionId } from '../../src/model/plan.ts';
import type { AgentEvent, AgentHello, AgentRequest } from '../../src/model/protocol.ts';
import type { OpenHosts } from '../../src/run/open-hosts.ts';
import type { HostSession } from '../../src/session/host-session.ts';
import type { Answer } from './fake-agents.ts';

export interface ScriptedHosts extends OpenHosts {
  /** `s1 prepare`, in order. */
  readonly sent: readonly string[];
}

export function scriptedHosts(
  ids: readonly SessionId[],
  answer: Answer,
  session?: Partial<HostSession>,
): ScriptedHosts {
  const sent: string[] = [];
  const agents = ids.map((id) => {
    const told = (request: AgentRequest) => {
      sent.push(`${id} ${request.op}`);
      const isEnd = request.op === 'finish' || request.op === 'abort';
      return [...(answer(request, id) ?? []), ...(isEnd ? [{ event: 'ended' } as const] : [])];
    };
    return [id, scriptedAgent(id.replace('s', 'h'), told)] as const;
  });
  const sessions = ids.map((id) => [id, { label: id, ...session } as HostSession] as const);
  return {
    sent,
    agents: new Map(agents),
    sessions: { all: new Map(sessions), idOf: ({ name }) => name.replace('h', 's'), close: async () => {} },
  };
}

function scriptedAgent(label: string, told: (request: AgentRequest) => readonly AgentEvent[]): Agent {
  const said: AgentEvent[] = [];
  let wake = () => {};
  return {
    label,
    hello: {} as AgentHello,
    startMs: 0,
    send(request) {
      said.push(...told(request));
      wake();
    },
    async *events() {
      for (;;) {
        const event = said.shift();
        if (event !== undefined) yield event;
        if (event?.event === 'ended') return;
        if (said.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      }
    },
    close: async () => {},
  };
}
