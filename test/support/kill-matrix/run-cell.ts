// SPDX-License-Identifier: Apache-2.0
// Runs one cell of the kill matrix: reaches the phase, kills the process, checks the outcome.
import { constants, type FileHandle, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { execaSync } from 'execa';
import { eventually } from '../eventually.ts';
import type { Lab } from '../lab.ts';
import { signalProcess } from '../processes.ts';
import { connectSoon, limitWords, NEVER, type RunLimits } from '../run-limits.ts';
import type { Running } from '../shell.ts';
import { type Cell, isHidden } from './cells.ts';
import { checkDelivered, checkFailed, checkNothingLeft, checkSucceeded } from './checks.ts';
import { reachPhase, silentHost } from './phases.ts';
import { courseOf, OLD_CONTENT, restBytes, sourceBytes, sourceWaits, stageWords } from './stream.ts';
import { findTarget, lookForTarget } from './targets.ts';

/** The number of lines for the gates; each gate reads one. */
const GATES_MAX = 4;

export async function runCell(lab: Lab, cell: Cell): Promise<void> {
  const place = await prepare(lab, cell);
  try {
    await killAndCheck(lab, cell, place);
    if (isHidden(cell) || cell.phase === 'late') endBackground(lab);
    wakeServers(lab);
    await checkNothingLeft(lab);
  } finally {
    wakeServers(lab);
    for (const { pid } of lab.processes()) signalProcess(pid, 'SIGKILL');
    await Promise.all([place.gate.close(), place.source?.close()]);
  }
}

async function killAndCheck(lab: Lab, cell: Cell, place: Place): Promise<void> {
  const running = begin(lab, cell);
  await feed(running, cell, place);
  await reachPhase(lab, cell, running);
  if (cell.phase === 'late') return killLate(lab, cell, running);
  process.kill(await eventually(() => findTarget(lab, running.pid, cell.target)), cell.signal);
  if (isHidden(cell)) await letGoOn(lab, place, running, cell);
  const result = await running.result;
  await (isHidden(cell) ? checkSucceeded(lab, cell, result) : checkFailed(lab, cell, result));
}

/** Kills the target unless it has ended already. */
async function killLate(lab: Lab, cell: Cell, running: Running): Promise<void> {
  const target = lookForTarget(lab, running.pid, cell.target);
  if (target !== undefined) signalProcess(target, cell.signal);
  await checkDelivered(lab, cell, await running.result);
}

interface Place {
  /** Opened for reading and writing: a process that waits for a line continues when the test writes one. */
  readonly gate: FileHandle;
  /** The fifo that is the pipeline's source, if the source must wait. */
  readonly source: FileHandle | undefined;
}

async function prepare(lab: Lab, cell: Cell): Promise<Place> {
  const { phase } = cell;
  await mkdir(join(lab.directory, 'run'), { mode: 0o700 });
  await lab.write('target', Buffer.from(OLD_CONTENT));
  const waits = sourceWaits(cell);
  if (!waits) await lab.write('source', sourceBytes(cell));
  if (phase === 'login') signalProcess(lab.host(silentHost(cell)).pid, 'SIGSTOP');
  const source = waits ? await openFifo(lab, 'source') : undefined;
  return { gate: await openFifo(lab, 'gate'), source };
}

/** Non-blocking: a write to a full fifo whose reader has ended would block forever and could not be cancelled. */
async function openFifo(lab: Lab, name: string): Promise<FileHandle> {
  const path = join(lab.directory, name);
  execaSync('mkfifo', [path]);
  return open(path, constants.O_RDWR | constants.O_NONBLOCK);
}

function begin(lab: Lab, cell: Cell): Running {
  const { shape, session } = cell;
  const client = session === 'ssh2' ? '--ssh ssh2' : '';
  const stages = stageWords(cell, lab.directory);
  const output = shape.stdout ? '' : '> /dev/null';
  return lab.start(`exec rdpipe ${limitWords(limitsOf(cell))} --stderr off ${client} ${stages} ${output}`, {
    stdin: shape.stdin ? 'open' : 'empty',
    env: { XDG_RUNTIME_DIR: join(lab.directory, 'run') },
  });
}

/** rdpipe retries a server that drops a login, so the silent host's time limit ends the run. Others end immediately. */
function limitsOf({ phase, target }: Cell): RunLimits {
  return phase === 'login' && target.role === 'sshd' ? connectSoon() : NEVER;
}

async function feed(running: Running, cell: Cell, { source }: Place): Promise<void> {
  if (source !== undefined) await Promise.race([writeAll(source, sourceBytes(cell)), running.result]);
  if (!cell.shape.stdin) return;
  running.write(sourceBytes(cell).toString('latin1'));
  const { gateBefore, gateAfterHead } = courseOf(cell);
  if (!gateBefore && !gateAfterHead) running.closeInput();
}

/** Writes more than the fifo holds, as fast as a reader empties it. */
async function writeAll(fifo: FileHandle, bytes: Buffer): Promise<void> {
  for (let rest = bytes; rest.length > 0; ) {
    try {
      const { bytesWritten } = await fifo.write(rest);
      rest = rest.subarray(bytesWritten);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error;
      await delay(5);
    }
  }
}

/** Opens all gates: the run continues to its end. */
async function letGoOn(lab: Lab, { gate, source }: Place, running: Running, cell: Cell): Promise<void> {
  wakeServers(lab);
  for (const { pid } of lab.processes()) signalProcess(pid, 'SIGCONT');
  await lab.write('open', Buffer.alloc(0));
  await gate.write('\n'.repeat(GATES_MAX));
  const rest = restBytes(cell);
  if (cell.shape.stdin && rest.length > 0) {
    running.write(rest.toString());
    running.closeInput();
  }
  if (source !== undefined) {
    await source.write(rest);
    await source.close();
  }
}

/** Resumes the server that was stopped to keep the run in its login. */
function wakeServers(lab: Lab): void {
  for (const name of ['h1', 'h2', 'h3']) signalProcess(lab.host(name).pid, 'SIGCONT');
}

/** Ends the background processes of commands, which outlive a successful run. */
function endBackground(lab: Lab): void {
  for (const { pid, command } of lab.processes()) if (command.startsWith('sleep 90')) signalProcess(pid, 'SIGKILL');
}
