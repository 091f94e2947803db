/** The shape of a row of the option table: flag, kind of value, config key, default, help. */
import type { Launcher } from './launcher.ts';
import type { Relay } from './pipeline.ts';

/** The type that each kind of value has once it was read (parse/values.ts). Completion offers words by kind. */
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
  /** Bytes a second; 0 for `none`. */
  readonly rate: number;
  /** Milliseconds, of seconds with or without decimals. */
  readonly seconds: number;
  /** Seconds, 0 for none. */
  readonly wholeSeconds: number;
  /** A level of zstd; 0 for `none`. */
  readonly compression: number;
  /** The first and the last one. */
  readonly ports: readonly [number, number];
  readonly address: string;
  readonly file: string;
  /** A program on this machine. */
  readonly program: string;
  /** A path on the hosts. */
  readonly remotePath: string;
  readonly shell: string;
  readonly sshOption: string;
  readonly launcher: Launcher;
  readonly relay: Relay;
  /** How many hosts are enough. */
  readonly enough: 'all' | 'any' | number;
  readonly statuses: StatusRule;
  readonly exclude: PatternRule;
  readonly include: PatternRule;
  readonly excludeFrom: PatternRule;
}

export type OptionKind = keyof OptionValues;

/** Exit statuses that are success; `stage` undefined: of every stage. */
export interface StatusRule {
  readonly stage: number | undefined;
  readonly statuses: readonly number[];
}

/** Of gitignore's syntax, in binary strings; or a file that holds such, a line each. */
export type PatternRule =
  | { readonly kind: 'exclude' | 'include'; readonly pattern: string }
  | { readonly kind: 'file'; readonly file: string };

export interface OptionRow {
  readonly short?: `-${string}` | undefined;
  readonly long?: `--${string}`;
  readonly kind: OptionKind;
  readonly choices?: readonly string[];
  /** Bounds as the user would type them, of a number, a size or seconds. */
  readonly least?: string;
  readonly most?: string;
  /** The things that a number counts. */
  readonly of?: string;
  /** The placeholder in help and manual, capitals for what the user fills in. Absent: the choices, or nothing. */
  readonly value?: string;
  /** For help, which adds bounds and default: it begins with a verb in the imperative. */
  readonly help: string;
  /** The value without the option, as the user would type it. */
  readonly default?: string;
  /** A phrase for what happens without the option, if no value describes it. */
  readonly unset?: string;
  /** It may be given more than once, and every value counts. */
  readonly repeats?: true;
  /** Its values are appended to those of that setting, so that their order stays. */
  readonly gatheredIn?: string;
  /** A value of the flag is for one host, `HOST=VALUE` (a switch: `HOST`), or for all where `HOST=` is optional. */
  readonly flagHost?: 'required' | 'optional';
  /** The advice for a flag whose host is missing. */
  readonly withoutHost?: string;
  /** The sections of the config file where it is a key: `[defaults]`, `[host.NAME]`. */
  readonly config?: 'defaults' | 'host' | 'both';
  /** It decides nothing of a run by itself. */
  readonly setting?: false;
  /** Help shows only its flags: the manual has the rest. */
  readonly brief?: true;
  /** Pipelines do not take it. */
  readonly run?: false;
  /** Subcommands and rdcp, if they take it, with the texts that differ there. */
  readonly copy?: OtherMeaning & { readonly brief?: true };
  readonly doctor?: OtherMeaning;
  readonly bench?: OtherMeaning;
  /** rdssh does not take a letter that has another meaning for ssh. */
  readonly ssh?: OtherMeaning & { readonly brief?: true; readonly short?: undefined; readonly default?: string };
}

type OtherMeaning = Pick<OptionRow, 'unset'> & { readonly help?: string };

export function takesValue({ kind, flagHost }: OptionRow): boolean {
  return (kind !== 'switch' && kind !== 'count') || flagHost !== undefined;
}

/** As help and manual show it: `FILE`, `auto|rdma|tcp`; of a switch undefined. */
export function valueText({ value, choices }: OptionRow): string | undefined {
  return value ?? choices?.join('|');
}

/** A switch that the config file may set has a flag `--no-…` that turns it off. */
export function isNegatable({ kind, config, flagHost }: OptionRow): boolean {
  return kind === 'switch' && config !== undefined && flagHost === undefined;
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

/** Its key of the config file, which a row with `config` has. */
export function configKey({ long }: OptionRow): string {
  return long?.slice(2) ?? '';
}
