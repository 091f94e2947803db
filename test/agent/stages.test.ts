// SPDX-License-Identifier: Apache-2.0
// The process state of a command under the agent, and the agent's reports about the command.
import { statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { expect } from 'chai';
import { AGENT, command, pipeline, prepare } from '../support/agent-driver.ts';
import { useAgents } from '../support/agent-test.ts';
import { eventually } from '../support/eventually.ts';

const OWN_OUTPUT = { args: ['--user-stdout', '3'], extraStdio: ['pipe' as const] };

describe('a stage', () => {
  const agents = useAgents();

  it('is preceded by a hello that describes the host', async () => {
    const agent = await agents.start({ env: { ...agents.env(), USER: 'ann', SSH_CONNECTION: '::1 22 ::1 23' } });
    expect(agent.hello).to.include({ v: 1, os: 'Linux', user: 'ann', hostname: hostname() });
    expect(agent.hello).to.include({ uid: process.getuid?.(), ssh_connection: '::1 22 ::1 23' });
    expect(agent.hello.boot_id).to.match(/^[0-9a-f-]{36}$/);
  });

  it("is joined to the next one, and the last one to the user's output", async () => {
    const agent = await agents.start(OWN_OUTPUT);
    const output = collect(agent.extra(3));
    const links = [{ link: 0, kind: 'null' as const }, pipe(1), pipe(2), { link: 3, kind: 'stdout' as const }];
    await agent.run(prepare([command(1, 'echo hi'), command(2, 'tr a-z A-Z'), command(3, 'rev')], links));
    await agent.finish();
    expect((await output).toString()).to.equal('IH\n');
    expect(await agent.exited).to.deep.equal({ code: 0, signal: null });
  });

  it("reads the user's input", async () => {
    const agent = await agents.start({ args: ['--user-stdin', '3'], extraStdio: ['pipe'] });
    const links = [
      { link: 0, kind: 'stdin' as const },
      { link: 1, kind: 'null' as const },
    ];
    await agent.run(prepare([command(1, 'cat > seen')], links));
    (agent.extra(3) as unknown as NodeJS.WritableStream).end('from the user');
    await agent.finish();
    expect(agents.read('seen')).to.equal('from the user');
  });

  it('passes on every byte', async () => {
    const agent = await agents.start();
    await agent.run(pipeline('head -c 20000000 /dev/urandom | tee sent', 'cat', 'cat > arrived; cmp sent arrived'));
    await agent.finish();
    expect(agent.all('exited').map(({ code }) => code)).to.deep.equal([0, 0, 0]);
    expect(statSync(join(agents.directory, 'arrived')).size).to.equal(20_000_000);
  });

  it('reports its status, its time and its memory at its end', async () => {
    const agent = await agents.start();
    await agent.run(pipeline('i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; exit 7'));
    const exited = await agent.event('exited');
    expect(exited).to.include({ stage: 1, code: 7, signal: null, stopped: false, consumer_closed: false });
    expect(exited.user_ms + exited.system_ms).to.be.greaterThan(0);
    expect(exited.max_rss_kib).to.be.greaterThan(0);
    await agent.finish();
  });

  it('can end by a signal, which the agent reports', async () => {
    const agent = await agents.start();
    await agent.run(pipeline('kill -TERM $$'));
    expect(await agent.event('exited')).to.include({ code: null, signal: 15, stopped: false });
    await agent.finish();
  });

  it('is waited for even if the agent was started with SIGCHLD ignored', async () => {
    const path = join(agents.directory, 'start');
    writeFileSync(path, `#!/bin/sh\nexec env --ignore-signal=CHLD ${AGENT} "$@"\n`, { mode: 0o755 });
    const agent = await agents.start({ agent: path });
    await agent.run(pipeline('exit 0'));
    await agent.finish();
    expect(agent.all('exited')[0]).to.include({ code: 0 });
    expect(await agent.exited).to.deep.equal({ code: 0, signal: null });
  });

  it('has only descriptors 0, 1 and 2, default signals, and its own process group', async () => {
    const agent = await agents.start(OWN_OUTPUT);
    const look = 'echo $(ls /proc/self/fd); grep -E "^Sig(Blk|Ign)" /proc/self/status; ps -o pgid= -p $$; echo $$';
    await agent.run(pipeline(`{ ${look}; } > seen`));
    await agent.finish();
    const [first, blocked, ignored, group, pid] = agents.read('seen').split('\n');
    expect(first).to.equal('0 1 2 3'); // ls has its own directory open as 3
    expect([blocked, ignored].join()).not.to.match(/:\t0*[1-9a-f]/);
    expect(group?.trim()).to.equal(pid);
  });

  it('has the working directory and the environment of the agent', async () => {
    const agent = await agents.start({ env: { ...agents.env(), SAID: 'before' } });
    await agent.run(pipeline('echo "$SAID in $(pwd)" > seen'));
    await agent.finish();
    expect(agents.read('seen')).to.equal(`before in ${agents.directory}\n`);
  });

  it('is run by the shell unchanged, whatever bytes its command holds', async () => {
    const agent = await agents.start();
    const text = Buffer.from([...Buffer.from("printf %s '"), 0xff, 0x01, 0x0a, 0x5c, 0x21, ...Buffer.from("' > seen")]);
    await agent.run(pipeline(command(1, text)));
    await agent.finish();
    expect(agents.read('seen')).to.equal(Buffer.from([0xff, 0x01, 0x0a, 0x5c, 0x21]).toString());
  });

  it('may begin with a dash', async () => {
    const agent = await agents.start();
    await agent.run(pipeline('-none; echo ran > seen'));
    await agent.finish();
    expect(agents.read('seen')).to.equal('ran\n');
    expect(agent.stderrOf(1)).to.match(/-none: not found/);
  });

  it('fails with bash when any command in it fails', async () => {
    const agent = await agents.start();
    await agent.run(pipeline(command(1, 'exit 5 | true', { shell: 'bash' })));
    expect(await agent.event('exited')).to.include({ code: 5 });
    await agent.finish();
  });

  it('is reported as failed when its shell is missing', async () => {
    const agent = await agents.start();
    await agent.run(pipeline(command(1, 'true', { shell: 'no-such-shell' }), 'cat; touch committed'));
    const failed = await agent.event('failed');
    expect(failed).to.deep.include({ stage: 1, message: 'cannot start no-such-shell: no such file or directory' });
    await agent.finish();
    expect(agents.has('committed')).to.equal(false);
  });

  it('can be followed by stages of another segment', async () => {
    const agent = await agents.start();
    await agent.run(pipeline('echo one >> seen'));
    await agent.event('segment_ended');
    await agent.run({ ...pipeline('echo two >> seen'), segment: 2 });
    await agent.finish(2);
    expect(agents.read('seen')).to.equal('one\ntwo\n');
  });

  it('does not end a daemon that holds none of its pipes', async () => {
    const agent = await agents.start();
    await agent.run(pipeline('setsid sleep 1000 < /dev/null > /dev/null 2>&1 & echo $! > pid'));
    await agent.finish();
    await eventually(() => expect(agents.processes().map(({ command }) => command)).to.deep.equal(['sleep 1000']));
    process.kill(Number(agents.read('pid')), 'SIGKILL');
  });

  it('does not wait for its standard error when only a daemon holds that', async () => {
    const agent = await agents.start();
    await agent.run(pipeline('echo words >&2; setsid sleep 1000 > /dev/null & echo $! > pid'));
    await agent.finish();
    expect(agent.stderrOf(1)).to.equal('words\n');
    process.kill(Number(agents.read('pid')), 'SIGKILL');
  });
});

describe("a stage's standard error", () => {
  const agents = useAgents();

  it('is passed on completely', async () => {
    const agent = await agents.start();
    await agent.run(pipeline('seq 1 100000 | tee seen >&2'));
    await agent.finish();
    expect(agent.stderrOf(1)).to.equal(agents.read('seen'));
  });

  it('stops at 128 KiB without an acknowledgement, and then resumes', async () => {
    const most = 128 * 1024;
    const agent = await agents.start({ acknowledge: false });
    await agent.run(pipeline('seq 1 1000000 >&2; echo done > seen'));
    await eventually(() => expect(agent.stderrOf(1)).to.have.length(most));
    agent.send({ op: 'ping' });
    agent.send({ op: 'stderr_ack', stage: 1, bytes: 1000 });
    await eventually(() => expect(agent.stderrOf(1)).to.have.length(most + 1000));
    expect(agents.has('seen')).to.equal(false);
    agent.send({ op: 'stderr_ack', stage: 1, bytes: most + 1000 });
    await eventually(() => expect(agent.stderrOf(1)).to.have.length(2 * most + 1000));
    await agent.abort();
    expect(agents.has('seen')).to.equal(false);
  });

  it('combines many single lines in few messages', async () => {
    const agent = await agents.start();
    const lines = 50_000;
    await agent.run(pipeline(`i=0; while [ $i -lt ${lines} ]; do i=$((i + 1)); echo $i >&2; done`));
    await agent.finish();
    expect(agent.stderrOf(1).trimEnd().split('\n')).to.have.length(lines);
    expect(agent.all('stderr').length).to.be.below(lines / 5); // one message per 4 ms, and a slow shell takes longer
  });

  it('arrives before the end of its stage', async () => {
    const agent = await agents.start();
    await agent.run(pipeline('echo last words >&2; exit 3'));
    await agent.finish();
    const names = agent.events.map(({ event }) => event);
    expect(names.indexOf('exited')).to.be.greaterThan(names.lastIndexOf('stderr')).and.greaterThan(0);
    expect(agent.stderrOf(1)).to.equal('last words\n');
  });

  it('arrives before the requested end', async () => {
    const agent = await agents.start();
    await agent.run(pipeline('echo last words >&2; touch said; sleep 1000'));
    await agents.says('said', '');
    await agent.abort();
    expect(agent.stderrOf(1)).to.equal('last words\n');
    expect(agent.events.at(-1)).to.deep.equal({ event: 'ended' });
  });
});

function pipe(link: number): { readonly link: number; readonly kind: 'pipe' } {
  return { link, kind: 'pipe' };
}

async function collect(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}
