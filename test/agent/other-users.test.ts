// SPDX-License-Identifier: Apache-2.0
// Processes of another user, as sudo starts them.
// The agent, which does not run as root here, sends them SIGTERM before SIGKILL. It names the processes that it may not
// signal, and never lets them see an end of file.
import { chmodSync, chownSync, copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { AGENT, pipeline } from '../support/agent-driver.ts';
import { useAgents } from '../support/agent-test.ts';
import { eventually } from '../support/eventually.ts';
import { needsRoot, needsTool } from '../support/needs.ts';

const NOBODY = 65534;

/**
 * A set-uid root program. `asked`: the user who started it may still signal it, and SIGTERM ends it, as it ends sudo.
 * `root`: that user may not signal it.
 */
const BECOME = `
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
static void on_term(int number) { (void)number; _exit(creat("told", 0644) < 0); }
int main(int argc, char **argv) {
  (void)argc;
  if (strcmp(argv[1], "root") == 0 && setresuid(0, 0, 0)) return 99;
  if (strcmp(argv[1], "root") == 0) return execv(argv[2], argv + 2);
  signal(SIGTERM, on_term);
  if (creat("seen", 0644) < 0) return 98;
  for (;;) pause();
}
`;

describe('a process of another user', () => {
  const agents = useAgents();
  let tools = '';

  before(function () {
    needsRoot(this);
    needsTool(this, 'gcc');
    tools = mkdtempSync(join(tmpdir(), 'rdstage-become-'));
    chmodSync(tools, 0o755);
    // The checkout may be in a directory that other users cannot enter.
    copyFileSync(AGENT, join(tools, 'rdstage'));
    writeFileSync(join(tools, 'become.c'), BECOME);
    execaSync('gcc', ['-o', join(tools, 'become'), join(tools, 'become.c')]);
    chmodSync(join(tools, 'become'), 0o4755);
  });

  after(() => {
    if (tools !== '') rmSync(tools, { recursive: true });
  });

  beforeEach(() => chownSync(agents.directory, NOBODY, NOBODY));

  it('gets TERM before KILL', async () => {
    const agent = await agents.start({ user: NOBODY, agent: join(tools, 'rdstage') });
    await agent.run(pipeline(`exec ${tools}/become asked`));
    await agents.says('seen', '');
    await agent.abort();
    expect(agents.has('told')).to.equal(true);
    expect(agent.all('left_behind')).to.deep.equal([]);
  });

  it('is named when it cannot be killed, and its input stays open after the agent has ended', async () => {
    const agent = await agents.start({ user: NOBODY, agent: join(tools, 'rdstage') });
    const consumer = `${tools}/become root /bin/sh -c 'cat > seen; touch committed'`;
    await agent.run(pipeline('echo part; sleep 1000', `exec ${consumer}`));
    await agents.says('seen', 'part\n');
    await agent.abort();
    const left = agent.all('left_behind');
    expect(left.map(({ command }) => command)).to.have.members(['/bin/sh -c cat > seen; touch committed', 'cat']);
    expect(agents.has('committed')).to.equal(false);
    const holder = agents.processes().filter(({ pid }) => !left.some((one) => one.pid === pid));
    expect(holder.map(({ program }) => program)).to.deep.equal(['rdstage']);
    for (const { pid } of left) process.kill(pid, 'SIGKILL'); // the shell is the first of them
    await agents.expectNothingLeft();
    expect(agents.has('committed')).to.equal(false);
  });

  for (const killed of ['guardian', 'supervisor'] as const) {
    it(`keeps its input open when the ${killed} is killed`, async () => {
      const agent = await agents.start({ user: NOBODY, agent: join(tools, 'rdstage') });
      const consumer = `${tools}/become root /bin/sh -c 'cat > seen; touch committed'`;
      await agent.run(pipeline('echo part; sleep 1000', `exec ${consumer}`));
      await agents.says('seen', 'part\n');
      const consumers = agents.processes().filter(({ command }) => command === 'cat' || command.startsWith('/bin/sh'));
      process.kill(agent[killed], 'SIGKILL');
      await agent.closed;
      await eventually(() => expect(agents.processes()).to.have.length(3)); // consumers, and the holder of their input
      expect(agents.has('committed')).to.equal(false);
      for (const { pid } of consumers) process.kill(pid, 'SIGKILL'); // the shell is the first of them
      await agents.expectNothingLeft();
      expect(agents.has('committed')).to.equal(false);
    });
  }
});
