// SPDX-License-Identifier: Apache-2.0
// The checks that hold in every cell of the kill matrix.
import { expect } from 'chai';
import { eventually } from '../eventually.ts';
import type { Lab } from '../lab.ts';
import { childrenOf } from '../processes.ts';
import type { Result } from '../shell.ts';
import { expectedEnd } from './causes.ts';
import type { Cell } from './cells.ts';
import { commandsOf, type Shape } from './shapes.ts';
import { endSeenBy, HEAD, OLD_CONTENT } from './stream.ts';

/** Access to the traces of a run: processes on this machine, and files in the directory of its stages. */
export interface Traces {
  processes(): readonly unknown[];
  read(name: string): Promise<Buffer>;
  list(): Promise<readonly string[]>;
}

/** Checks that the run failed for the right reason, and no consumer mistook a truncated stream for a complete one. */
export async function checkFailed(lab: Traces, cell: Cell, result: Result): Promise<void> {
  const { status, signal, words } = expectedEnd(cell);
  expect({ status: result.status, signal: result.signal }, result.stderr).to.deep.equal({ status, signal });
  if (words === undefined) expect(result.stderr).to.equal('');
  else {
    expect(result.stderr, result.stderr).to.match(words);
    expect(result.stderr.trimEnd().split('\n'), result.stderr).to.have.length(1);
  }
  await eventually(() => expect(lab.processes()).to.deep.equal([]));
  await checkCommitted(
    lab,
    cell.shape,
    readersOf(cell.shape).filter((stage) => stage > 1 || !hasUsersInput(cell.shape)),
  );
  expect((await lab.read('target')).toString(), 'the file that was to be replaced').to.equal(OLD_CONTENT);
}

/** Checks a run that did not depend on the target: every byte was delivered. */
export async function checkSucceeded(lab: Lab, { shape }: Cell, result: Result): Promise<void> {
  expect({ status: result.status, signal: result.signal, stderr: result.stderr }).to.deep.equal({
    status: 0,
    signal: null,
    stderr: '',
  });
  const committed = await checkCommitted(lab, shape, readersOf(shape));
  expect(committed).to.deep.equal(readersOf(shape));
  if (shape.stages.at(-1)?.kind === 'sink')
    expectWhole((await lab.read('target')).toString('latin1'), shape.stages.length, shape);
  if (shape.stdout) expectWhole(result.stdout.toString('latin1'), shape.stages.length + 1, shape);
}

/** Checks a kill after every byte was delivered: the run may fail or succeed, but the output is complete. */
export async function checkDelivered(lab: Lab, cell: Cell, result: Result): Promise<void> {
  if (result.status === 0) return checkSucceeded(lab, cell, result);
  expect(result.stderr).to.match(result.signal === null ? /^rdpipe: .*\n$/ : /^$/);
  expectWhole((await lab.read('target')).toString('latin1'), cell.shape.stages.length, cell.shape);
}

/** Checks that no process, no session of a server and no file in rdpipe's private directory is left. */
export async function checkNothingLeft(lab: Lab): Promise<void> {
  await lab.expectNothingLeft();
  const hosts = ['h1', 'h2', 'h3'];
  await eventually(() => {
    for (const host of hosts) expect(childrenOf(lab.host(host).pid), `sessions of ${host}`).to.deep.equal([]);
  });
  await eventually(async () => expect(await lab.list('run')).to.deep.equal([]));
}

/** Returns the commands that marked their input as complete; checks that it was. */
async function checkCommitted(lab: Traces, shape: Shape, stages: readonly number[]): Promise<number[]> {
  const names = await lab.list();
  const committed = stages.filter((stage) => names.includes(`committed.${stage}`));
  for (const stage of committed) expectWhole((await lab.read(`seen.${stage}`)).toString('latin1'), stage, shape);
  return committed;
}

function expectWhole(bytes: string, stage: number, shape: Shape): void {
  const end = endSeenBy(stage, shape);
  expect(bytes.slice(0, HEAD.length), `beginning of what stage ${stage} read`).to.equal(HEAD);
  expect(bytes.slice(-end.length), `end of ${bytes.length} bytes what stage ${stage} read`).to.equal(end);
}

/** The first command reads the user's own descriptor, on which a truncation cannot be recognized. */
function hasUsersInput({ stages, stdin }: Shape): boolean {
  return stdin && stages[0]?.host === '';
}

function readersOf(shape: Shape): number[] {
  return commandsOf(shape).filter((stage) => stage > 1 || shape.stdin);
}
