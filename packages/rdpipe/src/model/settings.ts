/** The settings of a run: flags over config file over defaults, with types from the option table. */
import type { OptionRow, OptionValues } from './option-row.ts';
import type { OPTIONS, OptionName } from './options.ts';
import type { HostRef } from './pipeline.ts';

type Table = typeof OPTIONS;

/** One value of an option, as its reader gives it. */
type ValueOf<Row extends OptionRow> = Row extends { choices: readonly (infer Choice)[] }
  ? Choice
  : OptionValues[Row['kind']];

/** A value for one host as a settings key; `host` undefined: for all. */
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

/** A value for every host, and exceptions by host as written: `h1`, `ann@h1`, `2001:db8::1`; '' is this machine. */
export interface PerHost<T> {
  readonly all: T;
  readonly hosts: ReadonlyMap<string, T>;
}

/** Undefined where the row has no default. */
type Decided<Row extends OptionRow> = Row extends { default: string } | { kind: 'switch' | 'count' }
  ? ValueOf<Row>
  : ValueOf<Row> | undefined;

/** The value of every setting by the table alone. */
export type PlainSettings = {
  readonly [Name in OptionName as Table[Name] extends { setting: false } ? never : Name]: Table[Name] extends PerHostRow
    ? PerHost<Decided<Table[Name]>>
    : Table[Name] extends { repeats: true }
      ? readonly ValueOf<Table[Name]>[]
      : Decided<Table[Name]>;
};

/** Where other hosts find a host's data ends. */
export interface DataAddress {
  /** Numeric once `loadSettings` has returned. */
  readonly address: string;
  /** Where it stands, for people: `--data`, `--hostname`, `config file`. */
  readonly why: string;
}

/** A host that a flag names. Each must stand in the pipeline: anything else is a typing error. */
export interface NamedHost {
  readonly flag: string;
  readonly host: string;
}

/** The settings of the table; four of them take more than a flag, a key or a default. */
export interface Settings extends Omit<PlainSettings, 'ports' | 'data' | 'ok' | 'leaseMs'> {
  /** Ports of listening ends; [0, 0]: the kernel chooses. */
  readonly ports: readonly [number, number];
  readonly data: PerHost<DataAddress | undefined>;
  /** Exit statuses that count as success beside 0: of every stage, and of some by number. */
  readonly ok: { readonly all: readonly number[]; readonly stages: ReadonlyMap<number, readonly number[]> };
  readonly leaseMs: number;
  readonly namedHosts: readonly NamedHost[];
  /** Lists of hosts by the names that stages may use: `@rack1`. */
  readonly groups: ReadonlyMap<string, string>;
}

/** The value for a host: by user and name, else by name, else the one for all. */
export function forHost<T>(values: PerHost<T>, host: HostRef): T {
  const keys = host.user === undefined ? [host.name] : [`${host.user}@${host.name}`, host.name];
  const key = keys.find((candidate) => values.hosts.has(candidate));
  return key === undefined ? values.all : (values.hosts.get(key) as T);
}

/** The user's choice of ssh, addresses, ports and buffer, without the options that would distort a measurement. */
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
