/** The settings of a run: flags over config file over defaults, with types from the option table. */
import type { HostRef } from './host-ref.ts';
import type { OptionRow, OptionValues } from './option-row.ts';
import type { OPTIONS, OptionName } from './options.ts';

type Table = typeof OPTIONS;

/** One value of an option, as its reader returns it. */
type ValueOf<Row extends OptionRow> = Row extends { choices: readonly (infer Choice)[] }
  ? Choice
  : OptionValues[Row['kind']];

/** A value for one host, as a key of settings; `host` undefined: for all hosts. */
export interface HostValue<T> {
  readonly host: string | undefined;
  readonly value: T;
}

type PerHostRow = { config: 'host' | 'both' };

type GivenBy<Row extends OptionRow> = Row extends PerHostRow
  ? readonly HostValue<ValueOf<Row>>[]
  : Row extends { repeats: true }
    ? readonly ValueOf<Row>[]
    : ValueOf<Row>;

/** The values of the flags that were given. */
export type Options = { readonly [Name in OptionName]?: GivenBy<Table[Name]> };

/** The values of the keys in a section of the config file. */
export type SectionValues = { readonly [Name in OptionName]?: ValueOf<Table[Name]> };

/** A value for all hosts, and exceptions by host as written: `h1`, `ann@h1`, `2001:db8::1`; '' is this machine. */
export interface PerHost<T> {
  readonly all: T;
  readonly hosts: ReadonlyMap<string, T>;
}

/** Undefined if the row has no default. */
type Decided<Row extends OptionRow> = Row extends { default: string } | { kind: 'switch' | 'count' }
  ? ValueOf<Row>
  : ValueOf<Row> | undefined;

/** The type of every setting, as the table defines it. */
export type PlainSettings = {
  readonly [Name in OptionName as Table[Name] extends { setting: false } ? never : Name]: Table[Name] extends PerHostRow
    ? PerHost<Decided<Table[Name]>>
    : Table[Name] extends { repeats: true }
      ? readonly ValueOf<Table[Name]>[]
      : Decided<Table[Name]>;
};

/** The address at which other hosts reach a host for data. */
export interface DataAddress {
  /** Numeric once `loadSettings` has returned. */
  readonly address: string;
  /** Further addresses of the host, to be used at the same time; also numeric. */
  readonly others: readonly string[];
  /** The origin of the address, for people: `--data`, `--hostname`, `config file`. */
  readonly why: string;
}

/** A host that a flag names. It must occur in the pipeline: otherwise it is a typing error. */
export interface NamedHost {
  readonly flag: string;
  readonly host: string;
}

/** The settings of the table; four of them need more than a flag, a key or a default. */
export interface Settings extends Omit<PlainSettings, 'ports' | 'data' | 'ok' | 'leaseMs'> {
  /** Ports of listening ends; [0, 0]: the kernel chooses. */
  readonly ports: readonly [number, number];
  readonly data: PerHost<DataAddress | undefined>;
  /** Exit statuses, besides 0, that count as success: for every stage, and by stage number. */
  readonly ok: { readonly all: readonly number[]; readonly stages: ReadonlyMap<number, readonly number[]> };
  readonly leaseMs: number;
  readonly namedHosts: readonly NamedHost[];
  /** Lists of hosts by group name, which stages use as `@rack1`. */
  readonly groups: ReadonlyMap<string, string>;
}

/** The value for a host: by user and name, otherwise by name, otherwise the value for all. */
export function forHost<T>(values: PerHost<T>, host: HostRef): T {
  const keys = host.user === undefined ? [host.name] : [`${host.user}@${host.name}`, host.name];
  const key = keys.find((candidate) => values.hosts.has(candidate));
  return key === undefined ? values.all : (values.hosts.get(key) as T);
}

/** The settings without those that would distort a measurement; choices of ssh, addresses, ports and buffer stay. */
export function forMeasuring(settings: Settings): Settings {
  return {
    ...settings,
    relay: typeof settings.relay === 'string' ? settings.relay : 'never',
    compressLevel: 0,
    limitBytesPerS: 0,
    lenient: false,
    dryRun: false,
    timeoutMs: undefined,
  };
}
