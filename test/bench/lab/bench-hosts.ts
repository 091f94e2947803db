// SPDX-License-Identifier: Apache-2.0
// The lab of a benchmark: command lines on its hosts, and on this machine inside its network.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Place } from '../../lab/place.ts';
import { lastingSsh } from '../../lab/ssh-files.ts';
import { eventually } from '../../support/eventually.ts';
import { inside } from '../../support/namespaces.ts';
import { ROOT } from '../../support/root.ts';
import type { Host, Listening, Part } from '../case.ts';

const LISTENS_MS = 20_000;
const LONGEST_MS = 120_000;
const LAST_WORDS = 1000;

export class BenchHosts {
  readonly place: Place;

  constructor(place: Place) {
    this.place = place;
  }

  /** Returns what a command line of bash prints on both outputs; rejected unless it ends with status 0. */
  async run(on: Part['on'], command: string, input = ''): Promise<string> {
    const script = `set -o pipefail; ${command}`;
    const words = on === 'here' ? ['bash', '-c', script] : [...lastingSsh(this.place), '-T', on, script];
    const [program = '', ...rest] = [...inside(this.place.namespace), ...words];
    const child = spawn(program, rest, { cwd: ROOT, detached: true });
    child.stdin.on('error', ignoreClosedReader);
    child.stdin.end(input);
    const chunks: Buffer[] = [];
    for (const output of [child.stdout, child.stderr]) output.on('data', (chunk: Buffer) => chunks.push(chunk));
    const end = await endOf(child);
    const text = Buffer.concat(chunks).toString();
    if (end !== 'status 0') throw new Error(`${on}: ${command}: ${end}: ${text.trim().slice(-LAST_WORDS)}`);
    return text;
  }

  /** Returns once something listens at this port. */
  async listens(host: Host, { transport, port }: Listening): Promise<void> {
    const list = transport === 'rdma' ? 'rdma resource show cm_id' : 'ss -Hltn';
    const listener = new RegExp(`\\bLISTEN\\b.*:${port}\\b`);
    await eventually(async () => {
      if (!listener.test(await this.run(host, list)))
        throw new Error(`${host}: nothing listens at port ${port} over ${transport}`);
    }, LISTENS_MS);
  }
}

/**
 * In words. When it takes too long it is killed, and not waited for: what it started may hold its outputs, here or on
 * a host.
 */
async function endOf(child: ChildProcess): Promise<string> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), LONGEST_MS);
  try {
    const [status, signal] = await once(child, 'close', { signal: late.signal });
    return signal ?? `status ${status}`;
  } catch (error) {
    if (!late.signal.aborted) throw error;
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
    return `not ended within ${LONGEST_MS / 1000} s`;
  } finally {
    clearTimeout(timer);
  }
}

/** A program that ends without having read all reports it by its status. */
function ignoreClosedReader(): void {}
