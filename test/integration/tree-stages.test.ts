// SPDX-License-Identifier: Apache-2.0
// A pipeline of tree stages over real sshd's:
// the real rdtree, and scripts in its place that fail in other ways.
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { findInstallation } from '../../packages/rdpipe/src/cli/installation.ts';
import { loadSettings } from '../../packages/rdpipe/src/config/load.ts';
import type { RunEvent } from '../../packages/rdpipe/src/model/events.ts';
import type { TreeStage } from '../../packages/rdpipe/src/model/pipeline.ts';
import type { Report } from '../../packages/rdpipe/src/model/report.ts';
import type { TreeRole, TreeSettings } from '../../packages/rdpipe/src/model/tree.ts';
import { parseArgv } from '../../packages/rdpipe/src/parse/argv.ts';
import { runPipeline } from '../../packages/rdpipe/src/run/run.ts';
import { hostRef, startTestHosts, type TestHosts } from '../../packages/rdpipe/test/session/ssh-hosts.ts';
import { AGENT } from '../support/agent-driver.ts';
import { needsFile } from '../support/needs.ts';
import { EVENT_MS } from '../support/patience.ts';
import { RING_FUNCTIONS } from '../support/shell-ring.ts';

const PROGRAMS = ['scan', 'compare', 'read', 'write'] as const;

describe('a pipeline of tree stages', () => {
  let hosts: TestHosts;
  let directory: string;

  before(function () {
    needsFile(this, '/usr/sbin/sshd');
  });
  beforeEach(async () => {
    hosts = await startTestHosts([{ name: 'h1' }, { name: 'h2' }]);
    directory = hosts.directory;
  });
  afterEach(() => hosts.close());

  /**
   * Creates a directory with the agent's programs and a script in place of rdtree; `$role` in the script is the role
   * that rdtree should have.
   */
  function programsWith(script: string): string {
    const programs = join(directory, 'programs');
    mkdirSync(programs);
    for (const name of ['rdstage', 'rdhop']) copyFileSync(join(AGENT, '..', name), join(programs, name));
    const role = `role=$(sed 's/.*"role":"\\([a-z]*\\)".*/\\1/' <&3)`;
    writeFileSync(join(programs, 'rdtree'), `#!/bin/sh\ncd ${directory}\n${RING_FUNCTIONS}\n${role}\n${script}\n`, {
      mode: 0o755,
    });
    return join(programs, 'rdstage');
  }

  async function copy(options: readonly string[], settings: Partial<TreeSettings> = {}): Promise<Copied> {
    const invocation = parseArgv([
      '-F',
      hosts.configFile,
      '--connect-timeout',
      `${EVENT_MS / 1000}`,
      ...options,
      'h1:true',
    ]);
    if (invocation.kind !== 'run') throw new Error('no run');
    const stages = PROGRAMS.map((role, index) => stage(index + 1, role, settings)) as [TreeStage, ...TreeStage[]];
    const input = {
      pipeline: { stages },
      settings: await loadSettings(invocation.options, { HOME: directory }),
      streams: { stdin: 'null', stdout: 'drop' },
      installation: findInstallation(),
    } as const;
    const events: RunEvent[] = [];
    const report = await runPipeline(input, (event) => events.push(event), new AbortController().signal);
    return { report, events };
  }

  it('runs rdtree, which was copied there, and names the stage that failed', async () => {
    const { report, events } = await copy([], { sources: ['zz'] });
    expect(report).to.include({ status: 125, cause: 'rdpipe' });
    expect(report.message).to.match(/^cannot continue: h[12] \((scan|compare|read|write)\): \S/);
    expect(events.some((event) => event.kind === 'tree' && event.event.event === 'fatal')).to.equal(true);
    expect(events.some(({ kind }) => kind === 'stderr')).to.equal(false);
  });

  it('carries the stream from each to the next, and has status 23 when paths failed', async () => {
    const agent = programsWith(`
      case $role in
        scan) echo tree; echo '{"event":"failed","path":"${hex('/d/no')}","code":"EACCES","message":"permission denied"}' >&2 ;;
        read) sed "s/$/ $role/" >read; into_ring read ;;
        write) from_ring >written; echo 'not an event' >&2 ;;
        *) sed "s/$/ $role/" ;;
      esac`);
    const { report, events } = await copy(['--agent', agent]);
    expect(readFileSync(join(directory, 'written'), 'utf8')).to.equal('tree compare read\n');
    expect(report).to.include({ status: 23, cause: 'copy', message: '1 path failed' });
    expect(report.copy?.failures).to.deep.equal([{ path: '/d/no', message: 'permission denied', host: 'h1' }]);
    expect(report.stages.map(({ state }) => state)).to.deep.equal(PROGRAMS.map(() => 'succeeded'));
    expect(report.hops.map(({ from, to, result }) => [from, to, result])).to.deep.equal([
      ['h1', 'h2', 'delivered'],
      ['h2', 'h1', 'delivered'],
      ['h1', 'h2', 'delivered'],
    ]);
    const shown = { kind: 'stderr', stage: 4, host: 'h2', data: Buffer.from('not an event\n') };
    expect(events).to.deep.include(shown);
  });

  it('ends with the program that could not continue, and shows the others no end of file', async () => {
    const agent = programsWith(`
      case $role in
        read) read line; echo '{"event":"fatal","code":"source_unreadable","message":"/d/x: input/output error"}' >&2; exit 6 ;;
        write) cat >/dev/null; : >committed ;;
        scan) echo tree; exec yes ;;
        *) exec cat ;;
      esac`);
    const { report } = await copy(['--agent', agent]);
    expect(report).to.include({ status: 125, cause: 'rdpipe', causeStage: 3 });
    expect(report.message).to.equal('cannot continue: h1: /d/x: input/output error');
    expect(existsSync(join(directory, 'committed'))).to.equal(false);
  });

  it('takes 20,000 paths in its settings, and as many events', async () => {
    const agent = programsWith(`
      case $role in
        read) cat; seq 0 49999 | sed 's/.*/{"event":"path","action":"new","path":"${hex('/d/some/path')}","bytes":&}/' >&2 ;;
        *) cat ;;
      esac`);
    const sources = Array.from({ length: 20_000 }, (_, index) => hex(`/home/ann/data/${index}`));
    const { report, events } = await copy(['--agent', agent], { sources });
    expect(report.status).to.equal(0);
    const paths = events.filter((event) => event.kind === 'tree').map(({ event }) => event);
    expect(paths).to.have.lengthOf(50_000);
    expect(paths.at(-1)).to.deep.equal({ event: 'path', action: 'new', path: '/d/some/path', bytes: 49_999 });
  });
});

interface Copied {
  readonly report: Report;
  readonly events: readonly RunEvent[];
}

function stage(number: number, role: TreeRole, settings: Partial<TreeSettings>): TreeStage {
  const host = hostRef(role === 'scan' || role === 'read' ? 'h1' : 'h2');
  return { kind: 'tree', number, host, text: role, settings: { role, run: 'a-1', ...settings } };
}

function hex(path: string): string {
  return Buffer.from(path).toString('hex');
}
