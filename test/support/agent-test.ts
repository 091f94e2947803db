// SPDX-License-Identifier: Apache-2.0
// A fixture for tests of rdstage: a directory and agents per test, and a check for processes left.
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { AGENT, AgentDriver, type DriverOptions } from './agent-driver.ts';
import { eventually } from './eventually.ts';
import { needsFile } from './needs.ts';
import { MARK_VARIABLE, type MarkedProcess, processesWith } from './processes.ts';

export interface AgentTest {
  readonly directory: string;
  start(options?: DriverOptions): Promise<AgentDriver>;
  env(): NodeJS.ProcessEnv;
  processes(): MarkedProcess[];
  has(name: string): boolean;
  read(name: string): string;
  /** Waits until the file contains exactly this text. */
  says(name: string, text: string): Promise<void>;
  expectNothingLeft(): Promise<void>;
}

export function useAgents(): AgentTest {
  const mark = randomUUID();
  let directory = '';
  const agents: AgentDriver[] = [];
  const test: AgentTest = {
    get directory() {
      return directory;
    },
    async start(options = {}) {
      const agent = await AgentDriver.start({ cwd: directory, env: test.env(), ...options });
      agents.push(agent);
      return agent;
    },
    env: () => ({ ...process.env, [MARK_VARIABLE]: mark }),
    processes: () => processesWith(mark),
    has: (name) => existsSync(join(directory, name)),
    read: (name) => readFileSync(join(directory, name), 'utf8'),
    says: (name, text) => eventually(() => void expect(test.read(name)).to.equal(text)),
    expectNothingLeft: () => eventually(() => void expect(test.processes()).to.deep.equal([])),
  };
  before(function () {
    needsFile(this, AGENT);
  });
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'rdstage-test-'));
  });
  afterEach(async () => {
    for (const agent of agents.splice(0)) await agent.close();
    try {
      await test.expectNothingLeft();
    } finally {
      for (const { pid } of test.processes()) endProcess(pid);
      rmSync(directory, { recursive: true });
    }
  });
  return test;
}

/** Kills the process; it may have ended already. */
function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
