/** Decides every setting: flags override the config file, which overrides defaults. */
import { UsageError } from '../model/errors.ts';
import { flagName, type OptionRow } from '../model/option-row.ts';
import { OPTION_ROWS, type OptionName } from '../model/options.ts';
import type { Relay } from '../model/pipeline.ts';
import type {
  DataAddress,
  HostValue,
  NamedHost,
  Options,
  PlainSettings,
  SectionValues,
  Settings,
} from '../model/settings.ts';
import { hostKey } from '../parse/host-ref.ts';
import { readValue } from '../parse/values.ts';
import type { ConfigFile } from './file.ts';

/** The lease is longer than the stall timeout, so that the ends of a stalled hop report it first. */
const LEASE_MARGIN_MS = 30_000;

/** Combines flags, config file and defaults. @throws UsageError if two settings contradict each other. */
export function makeSettings(options: Options, file: ConfigFile): Settings {
  const plain = plainSettings(options, file);
  const leaseMs = plain.leaseMs ?? plain.stallTimeoutMs + LEASE_MARGIN_MS;
  if (leaseMs <= plain.stallTimeoutMs) throw new UsageError('--lease must be longer than --stall-timeout');
  if (plain.ssh === 'ssh2' && (options.persistS ?? 0) > 0) {
    throw new UsageError("--persist cannot be used with --ssh ssh2 (it needs the system's ssh)");
  }
  return {
    ...plain,
    ...verbositySettings(options, file),
    ports: plain.ports ?? [0, 0],
    data: dataAddresses(options, file),
    ok: allowedStatuses(options),
    leaseMs,
    namedHosts: namedHosts(options, plain.relay),
    groups: file.groups ?? new Map(),
  };
}

/** The value of every row: the flag, otherwise the config file, otherwise the default. */
function plainSettings(options: Options, file: ConfigFile): PlainSettings {
  const rows = OPTION_ROWS.filter(([, { setting }]) => setting !== false);
  return Object.fromEntries(rows.map(([name, row]) => [name, plainSetting(name, row, options, file)])) as PlainSettings;
}

function plainSetting(name: OptionName, row: OptionRow, options: Options, { defaults, hosts }: ConfigFile): unknown {
  const inFile = defaults[name] ?? defaultOf(row);
  if (row.config !== 'host' && row.config !== 'both') return options[name] ?? inFile;
  const flags = (options[name] ?? []) as readonly HostValue<unknown>[];
  const all = flags.filter(({ host }) => host === undefined).at(-1)?.value;
  // Flags override the file: a flag for all hosts overrides even the file's value for one host.
  const sections = all === undefined ? fromSections(hosts, name) : [];
  return { all: all ?? inFile, hosts: new Map([...sections, ...byHost(flags)]) };
}

function defaultOf(row: OptionRow): unknown {
  if (row.kind === 'switch') return row.default === 'yes';
  if (row.kind === 'count') return 0;
  if (row.default !== undefined) return readValue(row, row.default);
  return row.repeats === true ? [] : undefined;
}

/** The two exclude each other: the flag of one also overrides the config file's key of the other. */
function verbositySettings(options: Options, { defaults }: ConfigFile): Pick<Settings, 'verbosity' | 'quiet'> {
  const verbosity = options.verbosity ?? (options.quiet === true ? undefined : defaults.verbosity);
  const quiet = options.quiet ?? (options.verbosity === undefined ? defaults.quiet : undefined);
  return { verbosity: verbosity ?? 0, quiet: quiet ?? false };
}

function dataAddresses(options: Options, { defaults, hosts }: ConfigFile): Settings['data'] {
  const from = (values: readonly (readonly [string, readonly string[]])[], why: string) =>
    values.map(([host, [address = '', ...others]]) => [host, { address, others, why }] as const);
  const own = ownAddress(options.hostname, '--hostname') ?? ownAddress(defaults.hostname, 'config file');
  return {
    all: undefined,
    hosts: new Map<string, DataAddress>([
      ...from(fromSections(hosts, 'data'), 'config file'),
      ...from(byHost(options.data ?? []), '--data'),
      ...(own === undefined ? [] : [own]),
    ]),
  };
}

function ownAddress(address: string | undefined, why: string): readonly [string, DataAddress] | undefined {
  return address === undefined ? undefined : ['', { address, others: [], why }];
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

/** Hosts that flags name, except the relay host, which has no stage of the user's. */
function namedHosts(options: Options, relay: Relay): readonly NamedHost[] {
  const relays = typeof relay === 'string' ? [] : [relay.name, hostKey(relay)];
  return OPTION_ROWS.flatMap(([name, row]) => {
    if (row.flagHost === undefined) return [];
    const flags = (options[name] ?? []) as readonly HostValue<unknown>[];
    const hosts = byHost(flags).map(([host]) => host);
    return hosts.filter((host) => !relays.includes(host)).map((host) => ({ flag: flagName(row), host }));
  });
}

function fromSections<Name extends OptionName>(
  hosts: ConfigFile['hosts'],
  name: Name,
): readonly (readonly [string, NonNullable<SectionValues[Name]>])[] {
  return [...hosts].flatMap(([host, values]) => {
    const value = values[name];
    return value === undefined ? [] : [[host, value] as const];
  });
}

function byHost<Value>(values: readonly HostValue<Value>[]): readonly (readonly [string, Value])[] {
  return values.flatMap(({ host, value }) => (host === undefined ? [] : [[host, value] as const]));
}
