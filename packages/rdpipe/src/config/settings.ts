/** Decides every setting: flags over config file over defaults. */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { UsageError } from '../model/errors.ts';
import type { DataAddress, NamedHost, PerHost, Settings } from '../model/settings.ts';
import type { HostValue, Options } from '../parse/options.ts';
import { type ConfigFile, readConfigFile } from './file.ts';
import { findProgram } from './program.ts';
import { checkWritable } from './writable.ts';

export type { Settings } from '../model/settings.ts';

/**
 * Settings from the flags and the config file they name (or the default one): host names of data addresses looked up,
 * the report's file found writable, the ssh program executable.
 * @throws UsageError
 */
export async function loadSettings(options: Options, environment: NodeJS.ProcessEnv): Promise<Settings> {
  const settings = makeSettings(options, await readConfigFile(options.config, environment));
  if (settings.reportFile !== undefined) checkWritable(settings.reportFile);
  const { sshProgram: named } = settings;
  const sshProgram = named && (await findProgram('ssh program', named));
  return { ...settings, sshProgram, data: await withNumericAddresses(settings.data) };
}

const STALL_TIMEOUT_MS = 60_000;
/** The lease outlives a stall by this much, so that a stalled hop is reported by its own ends first. */
const LEASE_MARGIN_MS = 30_000;

/** @throws UsageError when two settings contradict each other. */
export function makeSettings(options: Options, file: ConfigFile): Settings {
  const { defaults } = file;
  const stallTimeoutMs = options.stallTimeout ?? defaults['stall-timeout'] ?? STALL_TIMEOUT_MS;
  const leaseMs = options.lease ?? defaults.lease ?? stallTimeoutMs + LEASE_MARGIN_MS;
  if (leaseMs <= stallTimeoutMs) throw new UsageError('--lease must be longer than --stall-timeout');
  const ssh = options.ssh ?? defaults.ssh ?? 'auto';
  if (ssh === 'ssh2' && (options.persist ?? 0) > 0) {
    throw new UsageError("--persist needs the system's ssh: --ssh ssh2 keeps no connections");
  }
  return {
    ...loudness(options, file),
    json: options.json ?? false,
    dryRun: options.dryRun ?? false,
    ports: options.port ?? defaults.port ?? [0, 0],
    data: dataAddresses(options, file),
    transport: options.transport ?? defaults.transport ?? 'auto',
    encrypt: options.encrypt ?? defaults.encrypt ?? 'auto',
    compressLevel: options.compress ?? defaults.compress ?? 0,
    jobs: options.jobs ?? defaults.jobs ?? 0,
    limitBytesPerS: options.limit ?? defaults.limit ?? 0,
    numa: options.numa ?? defaults.numa ?? 'auto',
    bufferBytes: options.buffer ?? defaults.buffer ?? 8 * 1024 * 1024,
    poll: options.poll ?? defaults.poll ?? false,
    ok: allowedStatuses(options),
    lenient: options.lenient ?? defaults.lenient ?? false,
    shell: shells(options, file),
    sudo: sudoHosts(options, file),
    agent: agents(options, file),
    stderr: options.stderr ?? defaults.stderr ?? 'auto',
    progress: options.progress ?? defaults.progress ?? 'auto',
    reportFile: options.report ?? defaults.report,
    sizeBytes: options.size,
    stdin: options.stdin ?? defaults.stdin ?? 'auto',
    connectTimeoutMs: options.connectTimeout ?? defaults['connect-timeout'] ?? 10_000,
    stallTimeoutMs,
    leaseMs,
    timeoutMs: options.timeout ?? defaults.timeout,
    ssh,
    sshProgram: options.sshProgram ?? defaults['ssh-program'],
    persistS: options.persist ?? defaults.persist ?? 0,
    sshConfigFile: options.F,
    sshOptions: options.o ?? [],
    namedHosts: namedHosts(options),
  };
}

/** A flag wins over both keys of the config file: the two exclude each other. */
function loudness(options: Options, { defaults }: ConfigFile): Pick<Settings, 'verbosity' | 'quiet'> {
  const isSaid = options.verbose !== undefined || options.quiet === true;
  const { verbose = 0, quiet = false } = isSaid ? options : defaults;
  return { verbosity: verbosityOf(verbose), quiet };
}

function verbosityOf(count: number): Settings['verbosity'] {
  if (count === 0) return 0;
  return count === 1 ? 1 : 2;
}

function dataAddresses(options: Options, { defaults, hosts }: ConfigFile): Settings['data'] {
  const inFile = fromFile(hosts, ({ data }) => data).map(
    ([host, address]) => [host, { address, why: 'config file' }] as const,
  );
  const inFlags = (options.data ?? []).map(
    ({ host = '', value }) => [host, { address: value, why: '--data' }] as const,
  );
  const own = ownAddress(options.hostname, '--hostname') ?? ownAddress(defaults.hostname, 'config file');
  return {
    all: undefined,
    hosts: new Map<string, DataAddress>([...inFile, ...inFlags, ...(own === undefined ? [] : [own])]),
  };
}

function ownAddress(address: string | undefined, why: string): readonly [string, DataAddress] | undefined {
  return address === undefined ? undefined : ['', { address, why }];
}

function shells(options: Options, { defaults, hosts }: ConfigFile): PerHost<string> {
  const flags = options.shell ?? [];
  const all = flags.findLast(({ host }) => host === undefined)?.value;
  const inFile = fromFile(hosts, ({ shell }) => shell);
  // A flag for all hosts wins over the config file's word for one: flags win.
  return {
    all: all ?? defaults.shell ?? 'sh',
    hosts: new Map([...(all === undefined ? inFile : []), ...byHost(flags)]),
  };
}

function sudoHosts(options: Options, { hosts }: ConfigFile): PerHost<boolean> {
  const inFlags = (options.sudo ?? []).map((host) => [host, true] as const);
  return { all: false, hosts: new Map([...fromFile(hosts, ({ sudo }) => sudo), ...inFlags]) };
}

function agents(options: Options, { defaults, hosts }: ConfigFile): PerHost<string | undefined> {
  if (options.agent !== undefined) return { all: options.agent, hosts: new Map() };
  return { all: defaults.agent, hosts: new Map(fromFile(hosts, ({ agent }) => agent)) };
}

function allowedStatuses(options: Options): Settings['ok'] {
  const rules = options.ok ?? [];
  const all = rules.flatMap(({ stage, statuses }) => (stage === undefined ? statuses : []));
  const stages = new Map<number, readonly number[]>();
  for (const { stage, statuses } of rules) {
    if (stage !== undefined) stages.set(stage, [...(stages.get(stage) ?? []), ...statuses]);
  }
  return { all, stages };
}

function namedHosts(options: Options): readonly NamedHost[] {
  const named = (flag: string, values: readonly HostValue[] | undefined) =>
    byHost(values ?? []).map(([host]) => ({ flag, host }));
  const sudo = (options.sudo ?? []).map((host) => ({ flag: '--sudo', host }));
  return [...named('--data', options.data), ...named('--shell', options.shell), ...sudo];
}

type HostSection = ConfigFile['hosts'] extends ReadonlyMap<string, infer Section> ? Section : never;

function fromFile<Value>(
  hosts: ConfigFile['hosts'],
  pick: (section: HostSection) => Value | undefined,
): readonly (readonly [string, Value])[] {
  return [...hosts].flatMap(([host, section]) => {
    const value = pick(section);
    return value === undefined ? [] : [[host, value] as const];
  });
}

function byHost(values: readonly HostValue[]): readonly (readonly [string, string])[] {
  return values.flatMap(({ host, value }) => (host === undefined ? [] : [[host, value] as const]));
}

/** The programs dial numeric addresses only; names are looked up once, here. */
async function withNumericAddresses(data: Settings['data']): Promise<Settings['data']> {
  const entries = [...data.hosts].map(async ([host, value]) => [host, await numeric(host, value)] as const);
  return { all: undefined, hosts: new Map(await Promise.all(entries)) };
}

async function numeric(host: string, value: DataAddress | undefined): Promise<DataAddress | undefined> {
  if (value === undefined || isIP(value.address) !== 0) return value;
  try {
    const { address } = await lookup(value.address);
    return { ...value, address, why: `${value.why} ${value.address}` };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const place = host === '' ? 'this machine' : host;
    throw new UsageError(`${value.why}: cannot look up ${value.address}, the data address of ${place} (${code})`);
  }
}
