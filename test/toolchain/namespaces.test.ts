// SPDX-License-Identifier: Apache-2.0
// A killed test run leaves network namespaces.
// The next run removes them, but not those of a running one.
import { expect } from 'chai';
import { execaSync } from 'execa';
import { Cables } from '../support/cables.ts';
import { eventually } from '../support/eventually.ts';
import { makeNamespace, namespaces, ownNamespaces, processesInside, removeNamespace } from '../support/namespaces.ts';
import { needsRoot, needsTool } from '../support/needs.ts';
import { isRunning } from '../support/processes.ts';
import { runProgram } from '../support/run-program.ts';
import { startProgram } from '../support/start-program.ts';

const KINDS = ['cables', 'networks', 'bench', 'lab'] as const;

describe('network namespaces of the tests', () => {
  let made: string[];

  before(function () {
    needsRoot(this);
    needsTool(this, 'ip', 'nft');
  });
  beforeEach(() => {
    made = [];
  });
  afterEach(() => {
    for (const name of made) removeNamespace(name);
  });

  for (const kind of KINDS) {
    it(`are removed at the next start when their owner was killed: ${kind}`, async () => {
      // Tests that start meanwhile remove stale namespaces too: the owner lives until a process runs inside.
      const owner = startProgram(['sleep', '60'], {});
      const stale = add(`rdpipe-${kind}-pid-${owner.pid}-x`);
      const left = await startInside(stale);
      owner.child.kill();
      await owner.ended;
      withCables(() => expect(namespaces()).not.to.contain(stale));
      await eventually(() => expect(isRunning(left)).to.equal(false));
    });
  }

  it('are removed when their dead owner had the pid of the starting process', () => {
    const name = add(`${ownNamespaces('networks')}-x`);
    ip('-n', name, 'link', 'add', 'old', 'type', 'bridge');
    makeNamespace(name);
    expect(runProgram('ip', ['-n', name, 'link', 'show', 'old']).status).to.equal(1);
  });

  it('stay when their owner lives, and this process keeps its own', async () => {
    const owner = startProgram(['sleep', '60'], {});
    try {
      const others = add(`rdpipe-networks-pid-${owner.pid}-x`);
      const own = add(`${ownNamespaces('networks')}-x`);
      withCables(() => expect(namespaces()).to.include.members([others, own]));
    } finally {
      owner.child.kill();
      await owner.ended;
    }
  });

  it('are not confused with those of a permanent lab', () => {
    const lasting = add(`rdpipe-lab-checkout-${pidOfTheDead()}`);
    withCables(() => expect(namespaces()).to.contain(lasting));
  });

  function add(name: string): string {
    made.push(name);
    ip('netns', 'add', name);
    return name;
  }
});

function withCables(check: () => void): void {
  const cables = new Cables(['h1']);
  try {
    check();
  } finally {
    cables.remove();
  }
}

/** Starts a process in the namespace; returns its pid. */
async function startInside(namespace: string): Promise<number> {
  startProgram(['ip', 'netns', 'exec', namespace, 'sleep', '60'], { stdio: 'ignore' }).child.unref();
  return eventually(() => {
    const [pid] = processesInside(namespace);
    if (pid === undefined) throw new Error(`nothing runs inside ${namespace} yet`);
    return pid;
  });
}

function pidOfTheDead(): number {
  return Number(execaSync('sh', ['-c', 'echo $$']).stdout);
}

function ip(...words: readonly string[]): void {
  execaSync('ip', words);
}
