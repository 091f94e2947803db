// SPDX-License-Identifier: Apache-2.0
// The lab of a benchmark: command lines on its hosts, and on this machine inside its network.
import { spawn } from 'node:child_process';
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

  /** What a command line of bash prints on both outputs; rejected unless it ends with status 0. */
  async run(on: Part['on'], command: string, input = ''): Promise<string> {
    const script = `set -o pipefail; ${command}`;
    const words = on === 'here' ? ['bash', '-c', script] : [...lastingSsh(this.place), '-T', on, script];
    const [program = '', ...rest] = [...inside(this.place.namespace), ...words];
    const child = spawn(program, rest, { cwd: ROOT, timeout: LONGEST_MS });
    child.stdin.on('error', ignoreClosedReader);
    child.stdin.end(input);
    const chunks: Buffer[] = [];
    for (const output of [child.stdout, child.stderr]) output.on('data', (chunk: Buffer) => chunks.push(chunk));
    const [status, signal] = await once(child, 'close');
    const text = Buffer.concat(chunks).toString();
    if (status !== 0)
      throw new Error(`${on}: ${command}: ${signal ?? `status ${status}`}: ${text.trim().slice(-LAST_WORDS)}`);
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

/** Who ends without having read all says so by its status. */
function ignoreClosedReader(): void {}
