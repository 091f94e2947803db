// SPDX-License-Identifier: Apache-2.0
// Slow and silent sources and sinks: waiting for them is no stall.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { type FaultyFs, useFaultyFs } from '../support/faulty-fs.ts';
import { type Lab, useLab } from '../support/lab.ts';
import { signalProcess } from '../support/processes.ts';
import { succeeded } from '../support/shell.ts';

/** More than all buffers on its way hold. */
const LAST_LINE = 4_000_000;
const MUCH = `seq ${LAST_LINE}`;
const OPTIONS = '--stall-timeout 3 --lease 4';

/** Everything at once, each waited for during so many seconds. */
export function describePatience(seconds: number): void {
  describe(`is waited for, ${seconds} s long:`, () => {
    const lab = useLab({ longestMs: (seconds + 100) * 1000 });
    const faulty = useFaultyFs();

    it('a slow source or sink, and a silent one', async function () {
      this.timeout((seconds + 120) * 1000);
      const digest = digestOfMuch();
      const digests = (script: string) => expectOutput(lab, script, `${digest}  -\n`);
      const slowly = `for i in $(seq ${seconds}); do dd bs=1024 count=1 status=none; sleep 1; done; cat`;
      await Promise.all([
        digests(`rdpipe ${OPTIONS} h1:'${MUCH}' h2:'{ ${slowly}; } | md5sum'`),
        digests(`rdpipe ${OPTIONS} --ssh ssh2 h1:'${MUCH}' h2:'sleep ${seconds}; md5sum'`),
        digests(`rdpipe ${OPTIONS} h1:'${MUCH}' h2:cat | { sleep ${seconds}; md5sum; }`),
        expectOutput(lab, `rdpipe ${OPTIONS} h1:'echo 1; sleep ${seconds}; echo 2' h2:cat`, '1\n2\n'),
        expectOutput(lab, `{ echo 1; sleep ${seconds}; echo 2; } | rdpipe ${OPTIONS} h1:cat h2:rev`, '1\n2\n'),
        digests(slowDisk(faulty)),
        stoppedCommand(lab, seconds, digest),
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

/** It takes 8 s to make a file permanent: more than twice the stall timeout. */
function slowDisk(faulty: FaultyFs): string {
  const target = `${faulty.folder('slow')}/target`;
  return `rdpipe ${OPTIONS} h1:'${MUCH}' h2:'> ${target}' && md5sum < ${target}`;
}

async function stoppedCommand(lab: Lab, seconds: number, digest: string): Promise<void> {
  const pidFile = `${lab.folder}/pid`;
  const running = lab.start(`exec rdpipe ${OPTIONS} h1:'${MUCH}' h2:'echo $$ > ${pidFile}; exec md5sum'`);
  const pid = await eventually(() => {
    const number = Number(readFileSync(pidFile, 'utf8'));
    expect(number).to.be.greaterThan(0);
    return number;
  }, 30_000);
  signalProcess(pid, 'SIGSTOP');
  await delay(seconds * 1000); // this long it is to stand still
  signalProcess(pid, 'SIGCONT');
  succeeded(await running.result, `${digest}  -\n`);
}
