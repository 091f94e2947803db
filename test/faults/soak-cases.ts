// SPDX-License-Identifier: Apache-2.0
// Long streams, many runs and much standard error: memory does not grow, and nothing is left open.
import { readdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { expectFlat, FootprintLog, type Growth } from '../support/footprint.ts';
import { type Lab, useLab } from '../support/lab.ts';
import { patience } from '../support/patience.ts';
import { childrenOf, type MarkedProcess } from '../support/processes.ts';
import { limitWords, NEVER } from '../support/run-limits.ts';
import { type Result, type Running, succeeded } from '../support/shell.ts';

export interface SoakSize {
  /** Length of the stream through one hop. */
  readonly streamGib: number;
  /** Length of the stream through an encrypted hop. */
  readonly sealedGib: number;
  readonly stderrMib: number;
  /** Time between two measurements of memory. */
  readonly lookEveryMs: number;
  readonly runsInTurn: number;
  readonly runsAtOnce: number;
  readonly longestMinutes: number;
}

const KIB_PER_MIB = 1024;
const BUFFER_MIB = 8;
const NATIVE_MAX_KIB = (24 + BUFFER_MIB) * KIB_PER_MIB;
const NATIVE_SLACK_KIB = KIB_PER_MIB;
const NODE_MAX_KIB = 300 * KIB_PER_MIB;
/** The heap of node grows and shrinks. */
const NODE_SLACK_KIB = 48 * KIB_PER_MIB;
const NATIVE = ['rdsend', 'rdrecv', 'rdstage'];

export function describeSoak(size: SoakSize): void {
  describe('for a long time', () => {
    const longestMs = patience(size.longestMinutes * 60_000);
    const lab = useLab({ longestMs });

    for (const [gib, encrypt] of [
      [size.streamGib, 'never'],
      [size.sealedGib, 'always'],
    ] as const)
      it(`${gib} GiB pass a hop in constant memory, --encrypt ${encrypt}`, async function () {
        this.timeout(longestMs);
        const words = `h1:'head -c ${gib}G /dev/zero; ${untilSeen(lab)}' h2:'> /dev/null'`;
        const { result, growths } = await watched(
          lab,
          size.lookEveryMs,
          `exec rdpipe --json --encrypt ${encrypt} ${words}`,
        );
        expect(result.status, result.stderr.slice(-1000)).to.equal(0);
        expect(result.stderr).to.include(`"bytes":${gib * 2 ** 30},`);
        expectFlatRun(growths);
      });

    it(`${size.stderrMib} MiB of standard error are passed on in constant memory`, async function () {
      this.timeout(longestMs);
      const words = `h1:'yes | head -c ${size.stderrMib}M >&2; ${untilSeen(lab)}' h2:'cat'`;
      const { result, growths } = await watched(
        lab,
        size.lookEveryMs,
        `rdpipe --stderr raw ${words} 2>&1 > /dev/null | wc -c`,
      );
      succeeded(result, `${size.stderrMib * 2 ** 20}\n`);
      expectFlatRun(growths);
    });

    it(`${size.runsInTurn} runs one after another leave nothing`, async function () {
      this.timeout(longestMs);
      await expectNothingNew(lab, async (env) => {
        const loop = `for i in $(seq ${size.runsInTurn}); do rdpipe h1:"echo $i" h2:cat h3:"> $PWD/last" || exit; done`;
        succeeded(await lab.sh(`${loop}; cat last; rm last`, env), `${size.runsInTurn}\n`);
      });
    });

    it(`${size.runsAtOnce} runs at once leave nothing`, async function () {
      this.timeout(longestMs);
      await expectNothingNew(lab, async (env) => {
        const numbers = Array.from({ length: size.runsAtOnce }, (_, index) => index + 1);
        const line = (number: number) => `exec rdpipe ${limitWords(NEVER)} h1:'echo ${number}' h2:cat`;
        const results = await Promise.all(numbers.map((number) => lab.sh(line(number), env)));
        for (const [index, result] of results.entries()) succeeded(result, `${index + 1}\n`);
      });
    });
  });
}

/** Shell commands with which a stage waits until memory was measured often enough. */
function untilSeen(lab: Lab): string {
  return `until test -e ${lab.directory}/seen; do sleep 0.1; done`;
}

/** Runs the script and repeatedly measures its processes. */
async function watched(lab: Lab, everyMs: number, script: string): Promise<{ result: Result; growths: Growth[] }> {
  const log = new FootprintLog();
  const running: Running = lab.start(script);
  const over = new AbortController();
  const result = running.result.finally(() => over.abort());
  while (!over.signal.aborted) {
    const ours = lab.processes().filter(isOurs);
    const isEnough = log.look(ours) && ours.some(({ program }) => program === 'rdrecv');
    if (isEnough) await lab.write('seen', Buffer.alloc(0));
    await delay(everyMs, undefined, { signal: over.signal }).catch(() => {});
  }
  return { result: await result, growths: log.growths() };
}

function isOurs({ program }: MarkedProcess): boolean {
  return program === 'node' || NATIVE.includes(program);
}

function expectFlatRun(growths: readonly Growth[]): void {
  if (process.env.RDPIPE_SOAK_TELL) for (const growth of growths) console.log(`      ${JSON.stringify(growth)}`);
  const [node, native] = [true, false].map((isNode) =>
    growths.filter(({ name }) => name.startsWith('node ') === isNode),
  );
  expectFlat(native ?? [], NATIVE_MAX_KIB, NATIVE_SLACK_KIB);
  expectFlat(node ?? [], NODE_MAX_KIB, NODE_SLACK_KIB);
}

/**
 * Compares, before and after: files and sockets of rdpipe on this machine, files on the hosts, and what their servers
 * hold.
 */
async function expectNothingNew(lab: Lab, body: (env: NodeJS.ProcessEnv) => Promise<void>): Promise<void> {
  const runtime = join(lab.directory, 'run');
  await mkdir(runtime);
  const env = { XDG_RUNTIME_DIR: runtime };
  succeeded(await lab.sh('rdpipe h1:true h2:true h3:true', env), ''); // copies the agent first
  const before = holdings(lab, runtime);
  await body(env);
  await lab.expectNothingLeft();
  expect(holdings(lab, runtime)).to.deep.equal(before);
}

function holdings(lab: Lab, runtime: string): unknown {
  const servers = ['h1', 'h2', 'h3'].map((name) => lab.host(name));
  return {
    here: [readdirSync(runtime), readdirSync(join(lab.homes, '../tmp'))],
    homes: servers.map(({ home }) => readdirSync(home, { recursive: true }).sort()),
    descriptors: servers.map(({ pid }) => readdirSync(`/proc/${pid}/fd`).length),
    children: servers.map(({ pid }) => childrenOf(pid)),
  };
}
