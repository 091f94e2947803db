import { expect } from 'chai';
import { spreadOf } from '../../src/model/statistics.ts';
import { describePlan } from '../../src/plan/describe.ts';
import { LOCAL, type PlanInput } from '../../src/plan/facts.ts';
import { withGathers } from '../../src/plan/gather-stages.ts';
import { partsOf } from '../../src/plan/parts.ts';
import { makePlan } from '../../src/plan/plan.ts';
import { createEventCheck } from '../../src/run/event-check.ts';
import { makeKeys, prepareRequest } from '../../src/run/prepare-request.ts';
import { createRecord } from '../../src/run/record.ts';
import { parse } from '../parse/helpers.ts';
import { hello, inputFor, nic, SESSIONS, settingsWith, withHello } from './helpers.ts';

const OPEN = { run: 'r1', lenient: false, lease_ms: 90_000, connect_timeout_ms: 10_000 };

/** Hosts on a common network, and on a second one that is faster. */
function inputOf(words: readonly string[]): PlanInput {
  const pipeline = withGathers(
    parse([...words]),
    { stdout: 'arrive' },
    { gather: 'lines', fold: false, prefix: true, failFast: false },
  );
  const names = new Map<string, string>([['', LOCAL]]);
  const stageSessions = pipeline.stages.map(({ host }) => {
    const id = names.get(host.name) ?? `${names.size}`;
    names.set(host.name, id);
    return id;
  });
  const sessions = [...names].map(([name, id], index) => {
    if (id === LOCAL) return [id, SESSIONS.local] as const;
    const own = `${index >> 8}.${index & 255}`;
    const addresses = [nic('eth0', `10.0.${own}/16`), nic('eth1', `10.1.${own}/16`, { speed_mbps: 100_000 })];
    const facts = { id, label: name, hello: hello(`boot-${id}`, `10.0.255.1 999 10.0.${own} 22`), forwards: true };
    return [id, withHello(facts, { addresses })] as const;
  });
  const given = new Map([['n7', { address: '10.1.0.7', others: [], why: '--data' }]]);
  const settings = settingsWith({ data: { all: undefined, hosts: given } });
  return inputFor(['h1:true'], { pipeline, stageSessions, sessions: new Map(sessions), stdout: 'arrive', settings });
}

function plan(input: PlanInput): void {
  describePlan(makePlan(input));
}

/**
 * Does everything that the controller does with a plan except sending: builds the requests and checks the events of
 * every end.
 */
function run(input: PlanInput): void {
  const made = makePlan(input);
  const check = createEventCheck(made);
  const record = createRecord(
    made,
    false,
    () => {},
    () => {},
  );
  for (const segment of made.segments) {
    const keys = makeKeys(segment);
    for (const [session, part] of partsOf(segment)) {
      prepareRequest(part, session, keys, { settings: OPEN, label: (id) => id });
      check(session, { event: 'prepared', segment: segment.number });
      for (const { number } of part.links) {
        for (const end of ['send', 'recv'] as const) {
          const waits = { input_ms: 1, limit_ms: 0, worker_ms: 0, wire_ms: 2, output_ms: 3, rtt_us: 90 };
          const limits = { send_buffer_ms: 0, receive_window_ms: 0, sent_again: 0, streams: 1 };
          const amounts = { bytes: 1, wire_bytes: 1, ...limits };
          const counted = { event: 'counters', link: number, end, ...amounts, ...waits } as const;
          if (check(session, counted) === undefined) record.receive(session, counted);
        }
      }
    }
  }
}

/** CPU time: other processes may use the CPU as well. */
function millisecondsOf(job: () => void): number {
  const began = process.cpuUsage();
  job();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1000;
}

/** The large job has this many times as many hosts as the small one. */
const TIMES = 10;
const FEW = 50;
/** A time that grows with the square of the number of hosts grows by `TIMES` squared. */
const TIMES_MAX = 3 * TIMES;

describe('the time for many hosts', () => {
  for (const [what, stagesOf] of [
    ['a chain', (width: number) => ['h1:< x', `n[1-${width}]:> y`]],
    ['a gathering', (width: number) => [`n[1-${width}]:uptime`]],
    ['a stage on many hosts to another', (width: number) => [`n[1-${width}]:cat`, `m[1-${width}]:> y`]],
  ] as const) {
    for (const [work, job] of [
      ['to plan', plan],
      ['to run the plan', run],
    ] as const) {
      it(`${work} ${what} grows linearly with their number`, () => {
        const [few, many] = [inputOf(stagesOf(FEW)), inputOf(stagesOf(FEW * TIMES))];
        // Alternating, and about equally long, so that a disturbance affects both.
        const ratios = Array.from({ length: 3 }, () => {
          const small = millisecondsOf(() => {
            for (let time = 0; time < TIMES; time += 1) job(few);
          });
          return (millisecondsOf(() => job(many)) * TIMES) / small;
        });
        if (process.env.RDPIPE_TEST_FIGURES) console.log(`      ${ratios.map((ratio) => ratio.toFixed(1)).join(' ')}`);
        expect(spreadOf(ratios)?.median).to.be.lessThan(TIMES_MAX);
      });
    }
  }
});
