/** Everything the user decided, flags over config file over defaults. Built by config/settings.ts. */
import type { HostRef } from './pipeline.ts';

/** A value for every host, and exceptions by host as written: `h1`, `ann@h1`, `2001:db8::1`; '' is this machine. */
export interface PerHost<T> {
  readonly all: T;
  readonly hosts: ReadonlyMap<string, T>;
}

/** Where other hosts find a host's data ends. */
export interface DataAddress {
  /** Numeric once `loadSettings` has returned. */
  readonly address: string;
  /** Who said so, for people: `--data`, `--hostname`, `config file`. */
  readonly why: string;
}

/** A host that a flag names. Each must stand in the pipeline: anything else is a typing error. */
export interface NamedHost {
  readonly flag: string;
  readonly host: string;
}

export type TransportMode = 'auto' | 'rdma' | 'tcp';
export type EncryptMode = 'auto' | 'always' | 'auth' | 'never';
export type NumaMode = 'auto' | 'off';
export type StderrMode = 'prefix' | 'raw' | 'off';
export type ProgressMode = 'auto' | 'live' | 'plain' | 'none';
export type SshMode = 'auto' | 'openssh' | 'ssh2';

export interface Settings {
  /** 1: summary; 2: what is done, too. */
  readonly verbosity: 0 | 1 | 2;
  readonly quiet: boolean;
  readonly json: boolean;
  readonly dryRun: boolean;
  /** Ports of listening ends; [0, 0]: the kernel chooses. */
  readonly ports: readonly [number, number];
  readonly data: PerHost<DataAddress | undefined>;
  readonly transport: TransportMode;
  readonly encrypt: EncryptMode;
  /** Of zstd, 1 to 19; 0: nothing is compressed. */
  readonly compressLevel: number;
  /** Threads of a hop's end that compress and encrypt; 0: as many as its host has processors, at most 8. */
  readonly jobs: number;
  /** Of every hop's stream; 0: none. */
  readonly limitBytesPerS: number;
  /** `auto`: over RDMA, threads and memory of a hop's end are where its device is. */
  readonly numa: NumaMode;
  readonly bufferBytes: number;
  /** Hops look for messages without ever sleeping. */
  readonly poll: boolean;
  /** Exit statuses that count as success beside 0: of every stage, and of some by number. */
  readonly ok: { readonly all: readonly number[]; readonly stages: ReadonlyMap<number, readonly number[]> };
  readonly lenient: boolean;
  readonly shell: PerHost<string>;
  readonly sudo: PerHost<boolean>;
  /** Path of an agent that is already on the host; undefined: deploy. */
  readonly agent: PerHost<string | undefined>;
  /** `auto`: prefix with two or more stages, else raw. */
  readonly stderr: 'auto' | StderrMode;
  readonly progress: ProgressMode;
  /** Where the run's page goes; it could be written when the settings were read. */
  readonly reportFile: string | undefined;
  readonly sizeBytes: number | undefined;
  /** `none`: the first stage gets end of file at once. */
  readonly stdin: 'auto' | 'none';
  readonly connectTimeoutMs: number;
  readonly stallTimeoutMs: number;
  readonly leaseMs: number;
  readonly timeoutMs: number | undefined;
  readonly ssh: SshMode;
  /** Absolute once `loadSettings` has returned; undefined: the first ssh in PATH. */
  readonly sshProgram: string | undefined;
  /** How long connections of the system's ssh outlive the last run; 0: they end with theirs. */
  readonly persistS: number;
  /** ssh's `-F`. */
  readonly sshConfigFile: string | undefined;
  /** ssh's `-o`, in order: `Port=2222`. */
  readonly sshOptions: readonly string[];
  readonly namedHosts: readonly NamedHost[];
}

/** The value for a host: by user and name, else by name, else the one for all. */
export function forHost<T>(values: PerHost<T>, host: HostRef): T {
  const keys = host.user === undefined ? [host.name] : [`${host.user}@${host.name}`, host.name];
  const key = keys.find((candidate) => values.hosts.has(candidate));
  return key === undefined ? values.all : (values.hosts.get(key) as T);
}

/** The user's choice of ssh, addresses, ports and buffer, and nothing that changes what a pipeline does: for what measures. */
export function forMeasuring(settings: Settings): Settings {
  return {
    ...settings,
    compressLevel: 0,
    limitBytesPerS: 0,
    lenient: false,
    dryRun: false,
    timeoutMs: undefined,
  };
}
