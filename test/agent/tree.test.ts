// SPDX-License-Identifier: Apache-2.0
// A stage of kind `tree`: rdtree, next to the agent, with settings on descriptor 3;
// otherwise like a command.
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { AgentStage } from '../../packages/rdpipe/src/model/protocol.ts';
import { AGENT, type AgentDriver, command, pipeline } from '../support/agent-driver.ts';
import { useAgents } from '../support/agent-test.ts';

describe('a stage of kind tree', () => {
  const agents = useAgents();

  /** Starts an agent in its own directory, with this script in place of rdtree. */
  async function startWith(script: string, args: readonly string[] = []): Promise<AgentDriver> {
    const directory = join(agents.directory, 'programs');
    mkdirSync(directory);
    copyFileSync(AGENT, join(directory, 'rdstage'));
    writeFileSync(join(directory, 'rdtree'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return agents.start({ agent: join(directory, 'rdstage'), args });
  }

  it('gets its settings unchanged, of any size, and none of them in arguments or environment', async () => {
    const settings = { role: 'scan', run: 'a-1', sources: Array.from({ length: 40_000 }, () => 'ab'.repeat(100)) };
    const agent = await startWith('cat <&3 >settings; tr "\\0" " " </proc/$$/cmdline >words; env >environment; cat');
    await agent.run(pipeline('echo through', tree(2, settings), 'cat >seen'));
    await agent.finish();
    expect(JSON.parse(agents.read('settings'))).to.deep.equal(settings);
    expect(agents.read('words')).to.match(/rdtree --settings-fd 3 $/);
    expect(agents.read('environment')).to.not.include('abab');
    expect(agents.read('seen')).to.equal('through\n');
  });

  it('succeeds only with status 0', async () => {
    const agent = await startWith('cat; exit 7');
    await agent.run(pipeline('echo part', tree(2, {}), 'cat >seen; touch committed'));
    await agent.event('segment_ended');
    expect(await exitOf(agent, 2)).to.include({ code: 7, stopped: false });
    expect(await exitOf(agent, 3)).to.include({ stopped: true });
    expect(agents.has('committed')).to.equal(false);
    await agent.abort();
  });

  it('is ended when its reader has closed, even if it ignores SIGPIPE', async () => {
    const agent = await startWith('trap "" PIPE; exec sleep 1000');
    await agent.run(pipeline(tree(1, {}), 'exec true'));
    expect(await exitOf(agent, 1)).to.include({ signal: 15, consumer_closed: true });
    await agent.finish();
  });

  it('keeps the limits of the agent, not those given for commands', async () => {
    const agent = await startWith('ulimit -Sn >of-tree; cat', ['--stage-limits', '0,77']);
    await agent.run(pipeline('ulimit -Sn >of-command', tree(2, {})));
    await agent.finish();
    expect(agents.read('of-command')).to.equal('77\n');
    expect(agents.read('of-tree')).to.not.equal('77\n');
  });

  it('is rdtree: its output arrives as standard error', async () => {
    const agent = await agents.start();
    await agent.run(pipeline(tree(1, { role: 'dance', run: 'a' })));
    expect(await exitOf(agent, 1)).to.include({ code: 10, signal: null });
    expect(JSON.parse(agent.stderrOf(1))).to.include({ event: 'fatal', code: 'internal' });
    await agent.abort();
  });

  it('fails if there is no rdtree', async () => {
    const directory = join(agents.directory, 'without');
    mkdirSync(directory);
    copyFileSync(AGENT, join(directory, 'rdstage'));
    const agent = await agents.start({ agent: join(directory, 'rdstage') });
    await agent.run(pipeline(tree(1, {})));
    const failed = await agent.event('failed', ({ stage }) => stage === 1);
    expect(failed).to.include({ code: 'internal', message: `there is no rdtree in ${directory}` });
    await agent.abort();
  });
});

/** `settings` may be incomplete: the agent does not read them. */
function tree(stage: number, settings: object): AgentStage {
  return { ...command(stage, ''), kind: 'tree', settings } as unknown as AgentStage;
}

function exitOf(agent: AgentDriver, stage: number) {
  return agent.event('exited', (event) => event.stage === stage);
}
