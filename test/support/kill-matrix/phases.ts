// SPDX-License-Identifier: Apache-2.0
// Brings a run into a phase, and waits for the event that shows it.
import { readFileSync } from 'node:fs';
import { access, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../eventually.ts';
import type { Lab } from '../lab.ts';
import { EVENT_MS } from '../patience.ts';
import { childrenOf, signalProcess } from '../processes.ts';
import type { Running } from '../shell.ts';
import type { Cell } from './cells.ts';
import { commandsOf, type Host, hostsOf, slowStageOf } from './shapes.ts';
import { HEAD, OLD_CONTENT } from './stream.ts';
import { findTarget, stageShell } from './targets.ts';

/** A connection state of /proc/net/tcp. */
const ESTABLISHED = '01';

/** Resolves when the run is in the phase of its cell; throws if the run ended before. */
export async function reachPhase(lab: Lab, cell: Cell, running: Running): Promise<void> {
  const reached = () => isReached(lab, cell, running.pid);
  const endedEarly = running.result.then(async ({ status, stderr }) => {
    if (cell.phase === 'late' && (await holds(reached))) return;
    throw new Error(`the run ended before its phase, with ${status}: ${stderr}`);
  });
  const waiting = isBrief(cell) ? rapidly(reached) : eventually(reached);
  await Promise.race([waiting, endedEarly]);
}

function holds(check: () => Promise<void>): Promise<boolean> {
  return check().then(
    () => true,
    () => false,
  );
}

/** Connecting hops, and the end of a run, take only milliseconds. */
function isBrief({ phase }: Cell): boolean {
  return phase === 'joining' || phase === 'late';
}

/** Like eventually(), but without pauses. */
async function rapidly(check: () => Promise<void>): Promise<void> {
  const deadline = Date.now() + EVENT_MS;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await nextTurn();
  }
}

/** The host whose server is stopped to keep a run in its login. */
export function silentHost({ shape }: Cell): Host {
  const host = hostsOf(shape).findLast((name) => name !== '');
  if (host === undefined) throw new Error('no remote host in this shape');
  return host;
}

async function isReached(lab: Lab, cell: Cell, rdpipe: number): Promise<void> {
  const slow = slowStageOf(cell.shape);
  switch (cell.phase) {
    case 'login':
      return isLoggingIn(lab, cell);
    case 'joining':
      return freezeOneEnd(lab, cell, rdpipe);
    case 'before':
      await Promise.all(commandsOf(cell.shape).map((stage) => access(join(lab.directory, `started.${stage}`))));
      return;
    case 'idle':
    case 'flowing':
      return headArrived(lab, cell);
    case 'blocked':
      return access(join(lab.directory, `waiting.${slow}`));
    case 'draining':
      await access(join(lab.directory, `waiting.${slow}`));
      if (slow !== 1) expect(stageShell(lab.processes(), 1), 'the source').to.equal(undefined);
      return;
    case 'after':
      return access(join(lab.directory, `committed.${slow}`));
    case 'late':
      expect((await lab.read('target')).toString()).not.to.equal(OLD_CONTENT);
      return;
  }
}

/** Checks that every server has a connection; the kernel accepts it for the stopped one. */
function isLoggingIn(lab: Lab, cell: Cell): void {
  for (const name of hostsOf(cell.shape)) {
    if (name === '') continue;
    const host = lab.host(name);
    const connections = name === silentHost(cell) ? connectionsTo(host.port) : childrenOf(host.pid);
    expect(connections, name).to.have.length.at.least(1);
  }
}

/** This machine's established connections to a port, as lines of /proc/net/tcp. */
function connectionsTo(port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = readFileSync('/proc/net/tcp', 'latin1')
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  return rows
    .filter(([, , remote, state]) => remote?.endsWith(suffix) && state === ESTABLISHED)
    .map((row) => row.join(' '));
}

/**
 * Stops an end other than the target as soon as it exists, so that not all hops can connect. Requires --agent-fd:
 * after a program is copied to a host, it is first run as a test.
 */
function freezeOneEnd(lab: Lab, cell: Cell, rdpipe: number): void {
  const ends = lab.processes(cell.target.role === 'rdrecv' ? 'rdsend' : 'rdrecv');
  const frozen = ends.find(({ command }) => command.includes(' --agent-fd '))?.pid;
  if (frozen === undefined) throw new Error('no end of a hop is there yet');
  signalProcess(frozen, 'SIGSTOP');
  findTarget(lab, rdpipe, cell.target);
}

async function headArrived(lab: Lab, { shape }: Cell): Promise<void> {
  if (shape.stages.at(-1)?.kind === 'sink') {
    expect(await bytesInUnnamedFiles(lab)).to.be.at.least(HEAD.length);
    return;
  }
  const seen = await readFile(join(lab.directory, `seen.${shape.stages.length}`), 'latin1').catch(() => '');
  const isProducerAlone = shape.stages.length === 1 && !shape.stdin;
  expect(isProducerAlone || seen.startsWith(HEAD)).to.equal(true);
}

/** Bytes that rdrecv processes have written into files that get their final names at the end. */
async function bytesInUnnamedFiles(lab: Lab): Promise<number> {
  const receivers = lab.processes('rdrecv');
  const sizes = await Promise.all(receivers.map(({ pid }) => bytesInFilesOf(`/proc/${pid}/fd`)));
  return Math.max(0, ...sizes);
}

async function bytesInFilesOf(directory: string): Promise<number> {
  const names = await readdir(directory).catch(() => []);
  const files = await Promise.all(names.map((name) => stat(join(directory, name)).catch(() => undefined)));
  return Math.max(0, ...files.map((file) => (file?.isFile() ? file.size : 0)));
}
