import type { Benchmark, Sample, WayMissing, WayName, WayResult } from '../model/benchmark.ts';
import { RdpipeError, UsageError } from '../model/errors.ts';
import type { Emit, RunEvent, Watcher } from '../model/events.ts';
import { commandStage, type HostRef, type Pipeline } from '../model/pipeline.ts';
import type { Report } from '../model/report.ts';
import type { Settings } from '../model/settings.ts';
import { type Installation, sessionSettings } from '../run/open-hosts.ts';
import { attempt, runTrial } from '../run/trial.ts';
import { openSessions, type Sessions } from '../session/open.ts';
import { controllingTerminal } from '../session/terminal.ts';
import { loginCommand, readSshSample, type SshRoute, streamCommand } from './ssh-way.ts';
import { type OwnWay, ownWays, sampleOf, streamPipeline, waySettings } from './ways.ts';

export interface BenchInput {
  readonly from: HostRef;
  readonly to: HostRef;
  readonly rounds: number;
  /** Of every stream; undefined: what takes each way some two seconds. */
  readonly bytes: number | undefined;
  readonly settings: Settings;
  readonly installation: Installation;
}

/**
 * Measures what lies between two hosts: RDMA where both can, TCP in clear and encrypted, and ssh, in rounds of all of them.
 * @throws RdpipeError when a host cannot be reached; the signal's reason.
 */
export async function bench(input: BenchInput, watcher: Watcher, signal: AbortSignal): Promise<Benchmark> {
  const { from, to, settings, installation } = input;
  watcher.doing(`connecting to ${from.label} and ${to.label}`);
  const wanted = { ...sessionSettings(settings), ...installation, emit: watcher.emit, signal };
  const sessions = await openSessions([from, to, THIS_MACHINE], wanted, controllingTerminal());
  try {
    if (sessions.idOf(from) === sessions.idOf(to))
      throw new UsageError(`${from.label} and ${to.label} are one host: there is nothing between them`);
    return await benchInSessions({ ...input, sessions, watcher, signal });
  } finally {
    await sessions.close();
  }
}

const THIS_MACHINE: HostRef = { name: '', user: undefined, label: 'this machine' };
/** A first, short stream of each way, which no figure is taken of. */
const FIRST_BYTES = 32 * 1024 ** 2;
const AIM_S = 2;
const MOST_BYTES = 16 * 1024 ** 3;

interface Context extends BenchInput {
  readonly sessions: Sessions;
  readonly watcher: Watcher;
  readonly signal: AbortSignal;
}

/** A way that works, and how a stream is sent by it. */
interface Way {
  readonly name: WayName;
  readonly carrier: string;
  readonly send: (bytes: number) => Promise<Sample>;
}

/** Why a way cannot be gone. */
type NoWay = Omit<WayMissing, 'way'>;

interface Prepared {
  readonly way: Way;
  readonly bytes: number;
  readonly samples: Sample[];
}

async function benchInSessions(context: Context): Promise<Benchmark> {
  const { from, to, rounds, watcher } = context;
  const missing: WayMissing[] = [];
  const ready: Prepared[] = [];
  for (const name of [...ownWays(context.settings.transport), 'ssh'] as const) {
    watcher.doing(`trying ${name} from ${from.label} to ${to.label}`);
    const prepared = await prepare(name, context, missing);
    if (prepared !== undefined) ready.push(prepared);
  }
  const working = new Set(ready);
  for (let round = 1; round <= rounds; round += 1) {
    for (const prepared of shuffled([...working])) {
      watcher.doing(`round ${round} of ${rounds}: ${prepared.way.name} from ${from.label} to ${to.label}`);
      const sample = await attempt(context, () => prepared.way.send(prepared.bytes));
      if (sample instanceof Error) {
        working.delete(prepared);
        missing.push({ way: prepared.way.name, why: sample.message, failed: true });
      } else prepared.samples.push(sample);
    }
  }
  const ways = ready.filter((one) => working.has(one)).map(resultOf);
  const status = missing.some(({ failed }) => failed) ? 125 : 0;
  return { v: 1, status, from: from.label, to: to.label, rounds, ways, missing };
}

function resultOf({ way, samples }: Prepared): WayResult {
  return { way: way.name, carrier: way.carrier, samples };
}

/** Finds a way, tries it, and chooses how much is sent by it. */
async function prepare(name: WayName, context: Context, missing: WayMissing[]): Promise<Prepared | undefined> {
  const way = name === 'ssh' ? await findSsh(context) : await findOwn(name, context);
  if ('why' in way) {
    missing.push({ way: name, ...way });
    return undefined;
  }
  const first = await attempt(context, () => way.send(context.bytes ?? FIRST_BYTES));
  if (first instanceof Error) {
    missing.push({ way: name, why: first.message, failed: true });
    return undefined;
  }
  return { way, bytes: context.bytes ?? bytesFor(first), samples: [] };
}

function bytesFor({ bytesPerSecond }: Sample): number {
  const bytes = Math.min(Math.max(bytesPerSecond * AIM_S, FIRST_BYTES), MOST_BYTES);
  return Math.round(bytes / 1024 ** 2) * 1024 ** 2;
}

/** What cannot be is no failure, unless it was asked for. */
async function findOwn(name: OwnWay, context: Context): Promise<Way | NoWay> {
  const { from, to } = context;
  const settings = waySettings(context.settings, name);
  let why = '';
  const listen = (event: RunEvent) => {
    if (event.kind !== 'planned') return;
    const link = event.plan.segments[0]?.links.find(({ number }) => number === 1);
    why = link?.kind === 'hop' ? link.why : '';
  };
  const plan = await attempt(context, () =>
    run(context, streamPipeline(from, to, 1), { ...settings, dryRun: true }, listen),
  );
  if (plan instanceof Error) {
    const failed = context.settings.transport !== 'auto' || plan.code !== 'no_route';
    return { why: plan.message, failed };
  }
  if (plan.message !== null) return { why: plan.message, failed: true };
  const send = async (bytes: number) => sampleOf(await run(context, streamPipeline(from, to, bytes), settings), bytes);
  return { name, carrier: why, send };
}

/** From host to host where that works, else through this machine. */
async function findSsh(context: Context): Promise<Way | NoWay> {
  const { from, to, settings } = context;
  // Nobody logs in on this machine.
  const direct = to.name === '' ? THIS_MACHINE : from;
  const refused = await tryLogin(context, { at: direct, from, to, settings });
  if (refused === undefined) return sshWay(context, { at: direct, from, to, settings }, `ssh of ${direct.label}`);
  if (direct.name === '') return { why: refused, failed: false };
  const through: SshRoute = { at: THIS_MACHINE, from, to, settings };
  const refusal = `${from.label} cannot log in on ${to.label}: ${refused}`;
  const why = await tryLogin(context, through);
  if (why !== undefined) return { why: `${refusal}; this machine: ${why}`, failed: false };
  return sshWay(context, through, `ssh through this machine (${refusal})`);
}

/** Why not, in words of ssh. */
async function tryLogin(context: Context, route: SshRoute): Promise<string | undefined> {
  const { report, stderr } = await runAlone(context, route.at, loginCommand(route));
  if (report.status === 0) return undefined;
  return stderr.trim().split('\n').at(-1) || (report.message ?? 'refused');
}

function sshWay(context: Context, route: SshRoute, carrier: string): Way {
  return {
    name: 'ssh',
    carrier,
    async send(bytes) {
      const { report, stderr } = await runAlone(context, route.at, streamCommand(route, bytes));
      if (report.status !== 0) throw new RdpipeError('bench', 125, 'rdpipe', `ssh: ${report.message}`);
      const [stage] = report.stages;
      return readSshSample(stderr, route, bytes, ((stage?.userMs ?? 0) + (stage?.systemMs ?? 0)) / 1000);
    },
  };
}

const STDERR_MOST_CHARACTERS = 64 * 1024;

/** A command on one host, and what it said. */
async function runAlone(context: Context, host: HostRef, command: string) {
  let stderr = '';
  const listen = (event: RunEvent) => {
    if (event.kind === 'stderr') stderr = (stderr + Buffer.from(event.data).toString()).slice(-STDERR_MOST_CHARACTERS);
  };
  const settings = waySettings(context.settings, 'tcp');
  const report = await run(context, { stages: [commandStage(1, host, command)] }, settings, listen);
  return { report, stderr };
}

async function run(context: Context, pipeline: Pipeline, settings: Settings, listen: Emit = () => {}): Promise<Report> {
  return runTrial(pipeline, settings, context, (event) => {
    listen(event);
    context.watcher.emit(event);
  });
}

/** So that what changes meanwhile does not always meet the same way. */
function shuffled<Item>(items: Item[]): Item[] {
  for (let index = items.length - 1; index > 0; index -= 1) {
    const other = Math.floor(Math.random() * (index + 1));
    [items[index], items[other]] = [items[other] as Item, items[index] as Item];
  }
  return items;
}
