/** `rdpipe bench`: measures RDMA, TCP and ssh between two hosts, in rounds of all methods. */
import { randomUUID } from 'node:crypto';
import type { Benchmark, MethodName, MethodResult, MissingMethod, Sample } from '../model/benchmark.ts';
import { RdpipeError, UsageError } from '../model/errors.ts';
import type { Emit, RunEvent, Watcher } from '../model/events.ts';
import { commandStage, type HostRef, type Pipeline, THIS_MACHINE } from '../model/pipeline.ts';
import type { Report } from '../model/report.ts';
import type { Settings } from '../model/settings.ts';
import { type Installation, sessionSettings } from '../run/open-hosts.ts';
import { attempt, runTrial } from '../run/trial.ts';
import { openSessions, type Sessions } from '../session/open.ts';
import { controllingTerminal } from '../session/prompts/terminal.ts';
import { pingPongPipeline, readTripUs } from './ping-pong.ts';
import { methodSettings, type RdpipeMethod, rdpipeMethods, sampleOf, streamPipeline } from './rdpipe-methods.ts';
import { loginCommand, readSshSample, type SshRoute, streamCommand } from './ssh-method.ts';

export interface BenchInput {
  readonly from: HostRef;
  readonly to: HostRef;
  readonly rounds: number;
  /** The bytes of each stream; undefined: enough for about two seconds with each method. */
  readonly bytes: number | undefined;
  readonly settings: Settings;
  readonly installation: Installation;
}

/**
 * Measures RDMA (if both hosts support it), unencrypted and encrypted TCP, and ssh, in rounds of all methods.
 * @throws RdpipeError if a host cannot be reached; the signal's reason.
 */
export async function bench(input: BenchInput, watcher: Watcher, signal: AbortSignal): Promise<Benchmark> {
  const { from, to, settings, installation } = input;
  watcher.doing(`connecting to ${from.label} and ${to.label}`);
  const wanted = { ...sessionSettings(settings), ...installation, emit: watcher.emit, signal };
  const sessions = await openSessions([from, to, THIS_MACHINE], wanted, controllingTerminal());
  try {
    if (sessions.idOf(from) === sessions.idOf(to))
      throw new UsageError(`${from.label} and ${to.label} are the same host: there is nothing to measure between them`);
    return await benchInSessions({ ...input, sessions, watcher, signal });
  } finally {
    await sessions.close();
  }
}

/** The size of each method's first stream, which is not part of the result, and the minimum for the others. */
const FIRST_BYTES = 32 * 1024 ** 2;
const AIM_S = 2;
const BYTES_MAX = 16 * 1024 ** 3;

interface Context extends BenchInput {
  readonly sessions: Sessions;
  readonly watcher: Watcher;
  readonly signal: AbortSignal;
}

/** A method that works, with a function to send a stream. */
interface Method {
  readonly name: MethodName;
  readonly carrier: string;
  readonly send: (bytes: number) => Promise<Sample>;
}

/** The reason why a method cannot be used. */
type Unavailable = Omit<MissingMethod, 'method'>;

interface PreparedMethod {
  readonly method: Method;
  readonly bytes: number;
  readonly samples: Sample[];
}

async function benchInSessions(context: Context): Promise<Benchmark> {
  const { from, to, rounds, watcher } = context;
  const missing: MissingMethod[] = [];
  const ready: PreparedMethod[] = [];
  for (const name of [...rdpipeMethods(context.settings.transport), 'ssh'] as const) {
    watcher.doing(`trying ${name} from ${from.label} to ${to.label}`);
    const prepared = await prepare(name, context, missing);
    if (prepared !== undefined) ready.push(prepared);
  }
  const working = new Set(ready);
  for (let round = 1; round <= rounds; round += 1) {
    for (const prepared of shuffled([...working])) {
      watcher.doing(`round ${round} of ${rounds}: ${prepared.method.name} from ${from.label} to ${to.label}`);
      const sample = await attempt(context, () => prepared.method.send(prepared.bytes));
      if (sample instanceof Error) {
        working.delete(prepared);
        missing.push({ method: prepared.method.name, why: sample.message, failed: true });
      } else prepared.samples.push(sample);
    }
  }
  const methods = ready.filter((one) => working.has(one)).map(resultOf);
  const status = missing.some(({ failed }) => failed) ? 125 : 0;
  return { v: 1, status, from: from.label, to: to.label, rounds, methods, missing };
}

function resultOf({ method, samples }: PreparedMethod): MethodResult {
  return { method: method.name, carrier: method.carrier, samples };
}

/** Sets up a method, tries it, and chooses the size of its streams. */
async function prepare(
  name: MethodName,
  context: Context,
  missing: MissingMethod[],
): Promise<PreparedMethod | undefined> {
  const method = name === 'ssh' ? await findSsh(context) : await findRdpipe(name, context);
  if ('why' in method) {
    missing.push({ method: name, ...method });
    return undefined;
  }
  const first = await attempt(context, () => method.send(context.bytes ?? FIRST_BYTES));
  if (first instanceof Error) {
    missing.push({ method: name, why: first.message, failed: true });
    return undefined;
  }
  return { method, bytes: context.bytes ?? bytesFor(first), samples: [] };
}

function bytesFor({ bytesPerSecond }: Sample): number {
  const bytes = Math.min(Math.max(bytesPerSecond * AIM_S, FIRST_BYTES), BYTES_MAX);
  return Math.round(bytes / 1024 ** 2) * 1024 ** 2;
}

/** A missing method is a failure only if --transport requests it. */
async function findRdpipe(name: RdpipeMethod, context: Context): Promise<Method | Unavailable> {
  const { from, to } = context;
  const settings = methodSettings(context.settings, name);
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
  const send = async (bytes: number) => {
    const sample = sampleOf(await run(context, streamPipeline(from, to, bytes), settings), bytes);
    return { ...sample, pingPongUs: await pingPong(context, settings) };
  };
  return { name, carrier: why, send };
}

async function pingPong(context: Context, settings: Settings): Promise<number> {
  const { from, to } = context;
  const pipeline = pingPongPipeline(from, to, `/tmp/rdpipe-bench-${randomUUID()}`);
  const { report, stderr } = await runForStderr(context, pipeline, settings);
  if (report.status !== 0) throw new RdpipeError('bench', 125, 'rdpipe', `ping-pong: ${report.message}`);
  return readTripUs(stderr);
}

/** ssh from host to host if that works, otherwise through this machine. */
async function findSsh(context: Context): Promise<Method | Unavailable> {
  const { from, to, settings } = context;
  // This machine needs no login.
  const direct = to.name === '' ? THIS_MACHINE : from;
  const refused = await tryLogin(context, { at: direct, from, to, settings });
  if (refused === undefined) return sshMethod(context, { at: direct, from, to, settings }, `ssh on ${direct.label}`);
  if (direct.name === '') return { why: refused, failed: false };
  const through: SshRoute = { at: THIS_MACHINE, from, to, settings };
  const refusal = `${from.label} cannot log in to ${to.label}: ${refused}`;
  const why = await tryLogin(context, through);
  if (why !== undefined) return { why: `${refusal}; this machine: ${why}`, failed: false };
  return sshMethod(context, through, `ssh through this machine (${refusal})`);
}

/** ssh's message about the failed login; undefined: it works. */
async function tryLogin(context: Context, route: SshRoute): Promise<string | undefined> {
  const { report, stderr } = await runAlone(context, route.at, loginCommand(route));
  if (report.status === 0) return undefined;
  return stderr.trim().split('\n').at(-1) || (report.message ?? 'refused');
}

function sshMethod(context: Context, route: SshRoute, carrier: string): Method {
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

const STDERR_MAX_CHARACTERS = 64 * 1024;

/** Runs a command on one host and returns its report and its standard error. */
function runAlone(context: Context, host: HostRef, command: string) {
  const settings = methodSettings(context.settings, 'tcp');
  return runForStderr(context, { stages: [commandStage(1, host, command)] }, settings);
}

async function runForStderr(context: Context, pipeline: Pipeline, settings: Settings) {
  let stderr = '';
  const listen = (event: RunEvent) => {
    if (event.kind === 'stderr') stderr = (stderr + Buffer.from(event.data).toString()).slice(-STDERR_MAX_CHARACTERS);
  };
  const report = await run(context, pipeline, settings, listen);
  return { report, stderr };
}

async function run(context: Context, pipeline: Pipeline, settings: Settings, listen: Emit = () => {}): Promise<Report> {
  return runTrial(pipeline, settings, context, (event) => {
    listen(event);
    context.watcher.emit(event);
  });
}

/** Random order, so that periodic changes of load do not always affect the same method. */
function shuffled<Item>(items: Item[]): Item[] {
  for (let index = items.length - 1; index > 0; index -= 1) {
    const other = Math.floor(Math.random() * (index + 1));
    [items[index], items[other]] = [items[other] as Item, items[index] as Item];
  }
  return items;
}
