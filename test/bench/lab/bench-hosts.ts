// SPDX-License-Identifier: Apache-2.0
// The lab of a benchmark: runs command lines on its hosts, and on this machine inside its network.
import { setTimeout as delay } from 'node:timers/promises';
import type { Place } from '../../lab/place.ts';
import { lastingSsh } from '../../lab/ssh-files.ts';
import { eventually } from '../../support/eventually.ts';
import { inside } from '../../support/namespaces.ts';
import { ROOT } from '../../support/root.ts';
import { type Started, startProgram } from '../../support/start-program.ts';
import type { Host, Listening, Part } from '../case.ts';

const LISTENS_MS = 20_000;
const LONGEST_MS = 120_000;
const LAST_WORDS = 1000;

export class BenchHosts {
  readonly place: Place;

  constructor(place: Place) {
    this.place = place;
  }

  /** Returns the output and standard error of a bash command line; rejects unless its status is 0. */
  async run(on: Part['on'], command: string, input = ''): Promise<string> {
    const script = `set -o pipefail; ${command}`;
    const words = on === 'here' ? ['bash', '-c', script] : [...lastingSsh(this.place), '-T', on, script];
    const started = startProgram([...inside(this.place.namespace), ...words], { cwd: ROOT, detached: true, input });
    const end = await endOf(started);
    const text = started.outputs();
    if (end !== 'status 0') throw new Error(`${on}: ${command}: ${end}: ${text.trim().slice(-LAST_WORDS)}`);
    return text;
  }

  /** Resolves when a program listens at this port. */
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
 * Describes the end of the program. After LONGEST_MS, kills it without waiting for its end: its children may keep its
 * outputs open, here or on a host.
 */
async function endOf(started: Started): Promise<string> {
  const over = new AbortController();
  const ended = started.ended.then(({ status, signal }) => signal ?? `status ${status}`);
  const late = delay(LONGEST_MS, undefined, { signal: over.signal }).then(() => giveUp(started));
  return await Promise.race([ended, late]).finally(() => over.abort());
}

function giveUp({ child, pid }: Started): string {
  if (child.exitCode === null) process.kill(-pid, 'SIGKILL');
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
  return `not ended within ${LONGEST_MS / 1000} s`;
}
