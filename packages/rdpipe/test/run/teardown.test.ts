import { expect } from 'chai';
import type { AgentHello, AgentRequest } from '../../src/model/protocol.ts';
import type { Agent } from '../../src/native/agent.ts';
import { endAgents } from '../../src/run/teardown.ts';

describe('endAgents', () => {
  const abort = { op: 'abort', reason: 'stage 1 failed' } as const;

  it('tells every agent, and waits for the last words', async () => {
    const sent: AgentRequest[] = [];
    const agents = [agentThat(sent), agentThat(sent)];
    let say = () => {};
    const heardAll = new Promise<void>((resolve) => {
      say = resolve;
    });
    const ending = endAgents(agents, abort, heardAll);
    expect(sent).to.deep.equal([abort, abort]);
    say();
    expect(await ending).to.equal(true);
  });

  it('gives up after its limit', async () => {
    expect(await endAgents([agentThat([])], abort, new Promise(() => {}), 20)).to.equal(false);
  });
});

function agentThat(sent: AgentRequest[]): Agent {
  return {
    label: 'h1',
    hello: {} as AgentHello,
    startMs: 0,
    send: (request) => sent.push(request),
    async *events() {},
    close: async () => {},
  };
}
