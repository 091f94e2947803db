// SPDX-License-Identifier: Apache-2.0
// Many stages on a host whose logins may open few descriptors:
// the agent may open more, its commands may not.
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { AgentLink, AgentStage } from '../../packages/rdpipe/src/model/protocol.ts';
import { AGENT, type AgentDriver, command, pipeline, prepare } from '../support/agent-driver.ts';
import { useAgents } from '../support/agent-test.ts';

const WRITERS = 60;
const DESCRIPTORS = 64;

describe('if a login may open few descriptors', () => {
  const agents = useAgents();

  /** Starts an agent under a limit; `limit`: arguments of ulimit. */
  const startLimited = (limit: string): Promise<AgentDriver> => {
    const program = join(agents.directory, 'limited');
    writeFileSync(program, `#!/bin/sh\nulimit ${limit} || exit\nexec '${AGENT}' "$@"\n`);
    chmodSync(program, 0o755);
    return agents.start({ agent: program });
  };

  it('gathers the outputs of many commands, which keep the limit of the login', async () => {
    const agent = await startLimited(`-Sn ${DESCRIPTORS}`);
    await agent.run(gathered('ulimit -Sn'));
    await agent.finish();
    const codes = agent.all('exited').map(({ code }) => code);
    expect(codes).to.deep.equal(Array(WRITERS + 2).fill(0));
    expect(agents.read('out').split('\n').slice(0, -1)).to.deep.equal(Array(WRITERS).fill(`${DESCRIPTORS}`));
  });

  it('reports it if the host allows no more', async () => {
    const agent = await startLimited(`-n ${DESCRIPTORS}`);
    agent.send(gathered('true'));
    const { code, message } = await agent.event('failed');
    expect(code).to.equal('internal');
    expect(message).to.match(/too many open files/i);
    await agent.abort();
  });

  it('gives a single command the limits of the login', async () => {
    const agent = await startLimited('-Sn 99; ulimit -Sc 0');
    await agent.run(pipeline('echo $(ulimit -Sn) $(ulimit -Sc) > out'));
    await agent.finish();
    expect(agents.read('out')).to.equal('99 0\n');
  });
});

/** WRITERS commands, a stage that gathers their output, and a command that writes a file. */
function gathered(text: string) {
  const numbers = Array.from({ length: WRITERS }, (_, index) => 10 + 2 * index);
  const gather: AgentStage = { stage: 2, kind: 'gather', mode: 'lines', ins: numbers, out: 2 };
  const stages = [
    ...numbers.map((number) => command(number, text, { in: number - 1, out: number })),
    gather,
    command(3, 'cat > out', { in: 2, out: 3 }),
  ];
  const links = [
    ...numbers.flatMap((number): AgentLink[] => [
      { link: number - 1, kind: 'null' },
      { link: number, kind: 'pipe' },
    ]),
    { link: 2, kind: 'pipe' as const },
    { link: 3, kind: 'null' as const },
  ];
  return prepare(stages, links);
}
