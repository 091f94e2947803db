// SPDX-License-Identifier: Apache-2.0
// Endless messages of a hostile host. In each flood it is the second of two hosts,
// and its stage runs.
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import type { Behaviour, HostileAgent } from '../../support/hostile-agent.ts';
import { gaveUp, type HostileLab } from './hostile-lab.ts';

export interface Flood {
  readonly name: string;
  /** The actions of the agent after it has sent `prepared`. */
  readonly behaviour: Behaviour;
  /** The message with which rdpipe gives the host up; absent: rdpipe withstands the flood. */
  readonly why?: RegExp;
}

export const FLOODS: readonly Flood[] = [
  flood('keepalives', { event: 'alive' }),
  flood('counters', counters()),
  flood('sizes', { event: 'size', link: 2, bytes: 5 }),
  flood('broken connections', { event: 'broken', link: 1, end: 'recv', message: 'x'.repeat(1000) }),
  flood('failed dials', { event: 'dial_failed', link: 1, end: 'recv', code: 'internal', message: 'x'.repeat(1000) }),
  flood('stderr of its stage', { event: 'stderr', stage: 2, data: '6a'.repeat(16_384) }),
  flood('single bytes of stderr', { event: 'stderr', stage: 2, data: '6a' }),
  flood(
    'stderr without reading acknowledgements',
    { event: 'stderr', stage: 2, data: '6a'.repeat(16_384) },
    undefined,
    'deaf',
  ),
  flood('failures', { event: 'failed', stage: 2, code: 'internal', message: 'x'.repeat(8000) }, /x{1000}/),
  flood(
    'reports of processes',
    { event: 'left_behind', pid: 7, command: 'x'.repeat(8000) },
    /too many left_behind events/,
  ),
  {
    name: 'bytes of one line',
    behaviour: async (agent) => {
      for (;;) await trickle(agent);
    },
  },
];

function counters(): object {
  return {
    event: 'counters',
    link: 1,
    end: 'recv',
    bytes: 1,
    wire_bytes: 0,
    input_ms: 0,
    limit_ms: 0,
    worker_ms: 0,
    wire_ms: 0,
    output_ms: 0,
    send_buffer_ms: 0,
    receive_window_ms: 0,
    sent_again: 0,
    streams: 1,
    rtt_us: 1,
  };
}

/** A `deaf` agent reads nothing while it sends. */
function flood(name: string, event: object, why?: RegExp, ears: 'open' | 'deaf' = 'open'): Flood {
  const bytes = Buffer.from(`${JSON.stringify(event)}\n`.repeat(Math.max(1, Math.floor(32_768 / 100))));
  const behaviour: Behaviour = async (agent) => {
    if (ears === 'deaf') agent.goDeaf();
    for (;;) await agent.write(bytes);
  };
  return why === undefined ? { name, behaviour } : { name, behaviour, why };
}

async function begin(agent: HostileAgent): Promise<void> {
  await agent.hello();
  await agent.asked('prepare');
  await agent.say({ event: 'prepared', segment: 1 });
}

async function trickle(agent: HostileAgent): Promise<void> {
  await agent.write('x');
  await new Promise(setImmediate);
}

/** The memory of node with this program, plus the garbage of a second of flood. */
const KIB_MAX = 160 * 1024;
const LASTS_MS = 3000;

/**
 * Checks that rdpipe's memory does not grow during the flood; then the host hangs up, and rdpipe ends. If rdpipe is to
 * give the host up (`why`), that alone must end the flood.
 */
export async function expectFloodBorne(hostile: HostileLab, { behaviour, why }: Flood, options: string): Promise<void> {
  let begun = false;
  hostile.behave(async (agent) => {
    await begin(agent);
    begun = true;
    await behaviour(agent);
  });
  const running = hostile.start(`${options} -q --stderr off h1:'sleep 1000' h2:cat`);
  if (why !== undefined) return gaveUp(await running.result, why);
  const ended = running.result.then(({ status, stderr }) => expect.fail(`ended with ${status}: ${stderr}`));
  await Promise.race([ended, eventually(() => expect(begun).to.equal(true))]);
  let mostKib = 0;
  for (const until = Date.now() + LASTS_MS; Date.now() < until; ) {
    await Promise.race([ended, delay(20)]);
    mostKib = Math.max(mostKib, residentKib(running.pid));
  }
  hostile.hangUp();
  gaveUp(await running.result);
  expect(mostKib)
    .to.be.greaterThan(20 * 1024)
    .and.lessThan(KIB_MAX);
}

function residentKib(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}
