// SPDX-License-Identifier: Apache-2.0
// Slow and silent sources and sinks: rdpipe does not treat them as stalled.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { useFaultyFs } from '../support/faulty-fs.ts';
import { type Lab, useLab } from '../support/lab.ts';
import { COMMAND_MS, TEST_MS } from '../support/patience.ts';
import { signalProcess } from '../support/processes.ts';
import { expiring, limitWords, NEVER } from '../support/run-limits.ts';
import { succeeded } from '../support/shell.ts';

/** More than all buffers between the commands hold. */
const LAST_LINE = 1_000_000;
const MUCH = `seq ${LAST_LINE}`;

/** Runs all cases at once, each of which waits this many seconds on a fast machine. */
export function describePatience(fastSeconds: number): void {
  const seconds = expiring(fastSeconds);
  describe(`is waited for, ${seconds} s long:`, () => {
    const longestMs = seconds * 1000 + COMMAND_MS;
    const lab = useLab({ longestMs });
    const options = `${limitWords({ ...NEVER, stall: expiring(5), lease: expiring(7) })} --buffer 1MiB`;
    const faulty = useFaultyFs();

    it('a slow source or sink, and a silent one', async function () {
      this.timeout(longestMs + TEST_MS);
      const digest = digestOfMuch();
      const digests = (script: string) => expectOutput(lab, script, `${digest}  -\n`);
      // fsync of this file takes 8 s.
      const slowFile = `${faulty.directory('slow')}/target`;
      const slowly = `for i in $(seq ${seconds}); do dd bs=1024 count=1 status=none; sleep 1; done; cat`;
      await Promise.all([
        digests(`rdpipe ${options} h1:'${MUCH}' h2:'{ ${slowly}; } | md5sum'`),
        digests(`rdpipe ${options} --ssh ssh2 h1:'${MUCH}' h2:'sleep ${seconds}; md5sum'`),
        digests(`rdpipe ${options} h1:'${MUCH}' h2:cat | { sleep ${seconds}; md5sum; }`),
        expectOutput(lab, `rdpipe ${options} h1:'echo 1; sleep ${seconds}; echo 2' h2:cat`, '1\n2\n'),
        expectOutput(lab, `{ echo 1; sleep ${seconds}; echo 2; } | rdpipe ${options} h1:cat h2:rev`, '1\n2\n'),
        digests(`rdpipe ${options} h1:'${MUCH}' h2:'> ${slowFile}' && md5sum < ${slowFile}`),
        stoppedCommand(lab, options, seconds, digest),
      ]);
    });
  });
}

function digestOfMuch(): string {
  const hash = createHash('md5');
  for (let line = 1; line <= LAST_LINE; line++) hash.update(`${line}\n`);
  return hash.digest('hex');
}

async function expectOutput(lab: Lab, script: string, text: string): Promise<void> {
  succeeded(await lab.sh(script), text);
}

async function stoppedCommand(lab: Lab, options: string, seconds: number, digest: string): Promise<void> {
  const pidFile = `${lab.directory}/pid`;
  const command = `cd ${lab.directory}; echo $$ > pid; until test -e stopped; do sleep 0.05; done; exec md5sum`;
  const running = lab.start(`exec rdpipe ${options} h1:'${MUCH}' h2:'${command}'`);
  const pid = await eventually(() => {
    const number = Number(readFileSync(pidFile, 'utf8'));
    expect(number).to.be.greaterThan(0);
    return number;
  });
  signalProcess(pid, 'SIGSTOP');
  await lab.write('stopped', Buffer.alloc(0));
  await delay(seconds * 1000); // the command is stopped for this long
  signalProcess(pid, 'SIGCONT');
  succeeded(await running.result, `${digest}  -\n`);
}
