/** The shape of a row of the option table: flag, kind of value, config key, default, help. */
import type { Relay } from './host-ref.ts';
import type { Launcher } from './launcher.ts';

/** The type of each kind of value after parse/values.ts has read it. Completion offers words by kind. */
export interface OptionValues {
  /** Takes no value. */
  readonly switch: boolean;
  /** A switch whose repetitions count, up to two. */
  readonly count: 0 | 1 | 2;
  /** One of the row's `choices`. */
  readonly choice: string;
  /** A whole number within the row's bounds. */
  readonly number: number;
  /** Bytes. */
  readonly size: number;
  /** Bytes per second; 0 for `none`. */
  readonly rate: number;
  /** Milliseconds; the user writes seconds, with or without decimals. */
  readonly seconds: number;
  /** 0 for `auto`. */
  readonly numberOrAuto: number;
  /** Seconds; 0: none. */
  readonly wholeSeconds: number;
  /** A level of zstd; 0 for `none`. */
  readonly compression: number;
  /** The first and the last port. */
  readonly ports: readonly [number, number];
  readonly address: string;
  /** At least one. */
  readonly addresses: readonly string[];
  readonly file: string;
  /** A program on this machine. */
  readonly program: string;
  /** A path on the hosts. */
  readonly remotePath: string;
  readonly shell: string;
  readonly sshOption: string;
  readonly launcher: Launcher;
  readonly relay: Relay;
  /** The number of hosts that must succeed. */
  readonly enough: 'all' | 'any' | number;
  readonly statuses: StatusRule;
  readonly exclude: PatternRule;
  readonly include: PatternRule;
  readonly excludeFrom: PatternRule;
}

export type OptionKind = keyof OptionValues;

/** Exit statuses that count as success; `stage` undefined: for every stage. */
export interface StatusRule {
  readonly stage: number | undefined;
  readonly statuses: readonly number[];
}

/** A pattern in gitignore syntax, a binary string; or a file of patterns, one per line. */
export type PatternRule =
  | { readonly kind: 'exclude' | 'include'; readonly pattern: string }
  | { readonly kind: 'file'; readonly file: string };

export interface OptionRow {
  readonly short?: `-${string}` | undefined;
  readonly long?: `--${string}`;
  readonly kind: OptionKind;
  readonly choices?: readonly string[];
  /** Bounds of a number, a size or seconds, as the user would type them. */
  readonly least?: string;
  readonly most?: string;
  /** The noun for the things counted, for messages: `threads`. */
  readonly of?: string;
  /** The placeholder in help and manual, with the user's part in capitals. Absent: the choices, or none. */
  readonly value?: string;
  /** The help text, to which bounds and default are added; begins with an imperative verb. */
  readonly help: string;
  /** The value without the option, as the user would type it. */
  readonly default?: string;
  /** A phrase for the behaviour without the option, if no value describes it. */
  readonly unset?: string;
  /** The option may be repeated, and every value counts. */
  readonly repeats?: true;
  /** The setting to which the values are appended, so that options that share it keep their order. */
  readonly gatheredIn?: string;
  /** The flag is for one host, `HOST=VALUE` (a switch: `HOST`); if `HOST=` is optional, without it for all hosts. */
  readonly flagHost?: 'required' | 'optional';
  /** The advice if the flag's host is missing. */
  readonly withoutHost?: string;
  /** The sections of the config file that accept the key: `[defaults]`, `[host.NAME]`. */
  readonly config?: 'defaults' | 'host' | 'both';
  /** The value goes to both ends of each hop, as this field of `open`: a number, or a boolean. */
  readonly hop?: string;
  /** The value goes to each program of a copy, as this field of its settings: a number, or a boolean. */
  readonly tree?: string;
  /** The option is not part of a run's settings: its value is used elsewhere. */
  readonly setting?: false;
  /** Help lists only the flags: the manual has the text. */
  readonly brief?: true;
  /** The option is accepted only from habit, and ignored: what to use, or why it is not needed, for -v. */
  readonly ignored?: string;
  /** Pipelines do not accept the option. */
  readonly run?: false;
  /** Subcommands, rdcp and rdssh, if they accept the option, with the texts that differ there. */
  readonly copy?: OtherMeaning & { readonly brief?: true };
  readonly doctor?: OtherMeaning;
  readonly bench?: OtherMeaning;
  /** `short: undefined`: rdssh does not accept a letter that has another meaning in ssh. */
  readonly ssh?: OtherMeaning & { readonly brief?: true; readonly short?: undefined; readonly default?: string };
}

type OtherMeaning = Pick<OptionRow, 'unset'> & { readonly help?: string };

/** True if the flag takes a value; a switch takes one only to name a host. */
export function takesValue({ kind, flagHost }: OptionRow): boolean {
  return (kind !== 'switch' && kind !== 'count') || flagHost !== undefined;
}

/** The value in help and manual: `FILE`, `auto|rdma|tcp`; undefined for a switch. */
export function valueText({ value, choices }: OptionRow): string | undefined {
  return value ?? choices?.join('|');
}

/** True if a flag `--no-…` exists: a switch that the config file may set, or that is on, can be turned off. */
export function isNegatable({ kind, config, default: initial, flagHost }: OptionRow): boolean {
  return kind === 'switch' && (config !== undefined || initial === 'yes') && flagHost === undefined;
}

/** The flags as help and manual show them: `-q`, `--[no-]quiet`. */
export function flagTexts(row: OptionRow): readonly string[] {
  const long = isNegatable(row) ? row.long?.replace('--', '--[no-]') : row.long;
  return [row.short, long].filter((flag) => flag !== undefined);
}

/** For messages: `--port`, `-F`. */
export function flagName({ long, short }: OptionRow): string {
  return long ?? short ?? '';
}

/** The key in the config file of a row with `config`. */
export function configKey({ long }: OptionRow): string {
  return long?.slice(2) ?? '';
}
