/** The one table of rdpipe's options: what is accepted, what help says, how each value is read. */
import { UsageError } from '../model/errors.ts';
import type { EncryptMode, NumaMode, ProgressMode, SshMode, StderrMode, TransportMode } from '../model/settings.ts';
import { hostKey, parseHostRef } from './host-ref.ts';
import {
  readAddress,
  readBuffer,
  readChoice,
  readCompress,
  readJobs,
  readLimit,
  readPersist,
  readPlain,
  readPorts,
  readRounds,
  readSeconds,
  readSize,
  readStallTimeout,
  readStatuses,
} from './values.ts';

/** What flags said; nothing else is decided here. */
export interface Options {
  readonly verbose?: number;
  readonly quiet?: boolean;
  readonly dryRun?: boolean;
  readonly port?: readonly [number, number];
  readonly hostname?: string;
  readonly data?: readonly HostValue[];
  readonly transport?: TransportMode;
  readonly encrypt?: EncryptMode;
  readonly compress?: number;
  readonly jobs?: number;
  readonly limit?: number;
  readonly numa?: NumaMode;
  readonly buffer?: number;
  readonly poll?: boolean;
  readonly ok?: readonly OkRule[];
  readonly lenient?: boolean;
  readonly shell?: readonly HostValue[];
  readonly sudo?: readonly string[];
  readonly stderr?: StderrMode;
  readonly progress?: ProgressMode;
  readonly report?: string;
  readonly size?: number;
  /** Of `rdpipe bench`. */
  readonly rounds?: number;
  readonly stdin?: 'auto' | 'none';
  readonly json?: boolean;
  readonly connectTimeout?: number;
  readonly stallTimeout?: number;
  readonly lease?: number;
  readonly timeout?: number;
  readonly ssh?: SshMode;
  readonly sshProgram?: string;
  readonly persist?: number;
  /** ssh's `-F` and `-o`; they have no long form. */
  readonly F?: string;
  readonly o?: readonly string[];
  readonly agent?: string;
  readonly config?: string;
  readonly version?: boolean;
  readonly help?: boolean;
}

/** A value for one host; `host` undefined: for all. */
export interface HostValue {
  readonly host: string | undefined;
  readonly value: string;
}

/** Exit statuses that are success; `stage` undefined: of every stage. */
export interface OkRule {
  readonly stage: number | undefined;
  readonly statuses: readonly number[];
}

export interface OptionRow {
  readonly short?: string;
  readonly long?: string;
  /** What the user fills in, as help shows it. Absent: a plain switch. */
  readonly value?: string;
  readonly help: string;
  /** The value, or for a repeatable option the list so far with this one. */
  readonly read?: (text: string, before: unknown) => unknown;
  /** A switch whose repetitions count. */
  readonly counts?: boolean;
}

export const TRANSPORT_MODES = ['auto', 'rdma', 'tcp'] as const;
export const ENCRYPT_MODES = ['auto', 'always', 'auth', 'never'] as const;
export const NUMA_MODES = ['auto', 'off'] as const;
export const STDERR_MODES = ['prefix', 'raw', 'off'] as const;
export const PROGRESS_MODES = ['auto', 'live', 'plain', 'none'] as const;
export const SSH_MODES = ['auto', 'openssh', 'ssh2'] as const;
export const STDIN_MODES = ['auto', 'none'] as const;

/** In the order in which help shows them. */
export const OPTION_TABLE: readonly OptionRow[] = [
  {
    short: '-v',
    long: '--verbose',
    help: 'summary of every hop and stage at the end; twice: log what is done',
    counts: true,
  },
  { short: '-q', long: '--quiet', help: "only the stages' own stderr and a failure's line" },
  { short: '-n', long: '--dry-run', help: 'open sessions, print the plan, start nothing' },
  {
    short: '-p',
    long: '--port',
    value: 'PORT[-PORT]',
    help: 'ports of listening ends (default: any free one)',
    read: readPorts,
  },
  {
    short: '-H',
    long: '--hostname',
    value: 'NAME',
    help: 'address under which other hosts reach this machine',
    read: readAddress,
  },
  { long: '--data', value: 'HOST=ADDR', help: "address that others use for HOST's data", read: list(readHostAddress) },
  {
    long: '--transport',
    value: 'auto|rdma|tcp',
    help: 'auto: RDMA where both ends can, else TCP (default: auto)',
    read: choice(TRANSPORT_MODES),
  },
  {
    long: '--encrypt',
    value: 'auto|always|auth|never',
    help: 'auth: in clear, changes are noticed; never: only accidents are (default: auto: TCP always, RDMA auth)',
    read: choice(ENCRYPT_MODES),
  },
  {
    long: '--compress',
    value: 'zstd[:LEVEL]|none',
    help: 'compress what hops carry, LEVEL 1 to 19 (default: none; of zstd: 1)',
    read: readCompress,
  },
  {
    long: '--jobs',
    value: 'N',
    help: "threads of a hop's end that compress and encrypt (default: 0, a processor each, at most 8)",
    read: readJobs,
  },
  {
    long: '--limit',
    value: 'RATE|none',
    help: 'of every hop: 200M (bytes a second), 200MiB/s, 1Gbit/s',
    read: readLimit,
  },
  { long: '--buffer', value: 'SIZE', help: "a hop's window, 64KiB to 1GiB (default: 8MiB)", read: readBuffer },
  { long: '--poll', help: 'hops spin instead of sleeping: less delay, a busy CPU at each end' },
  {
    long: '--numa',
    value: 'auto|off',
    help: "auto: over RDMA, a hop's ends are where their devices are (default: auto)",
    read: choice(NUMA_MODES),
  },
  {
    long: '--ok',
    value: '[STAGE=]STATUS,...',
    help: 'exit statuses that count as success beside 0',
    read: list(readOkRule),
  },
  { long: '--lenient', help: 'a failing stage still gives the next one a clean end of file' },
  {
    long: '--shell',
    value: '[HOST=]SHELL',
    help: 'shell that runs the commands (default: sh)',
    read: list(readHostShell),
  },
  { long: '--sudo', value: 'HOST', help: "run that host's agent by sudo -n", read: list(hostKeyOf) },
  {
    long: '--stdin',
    value: 'auto|none',
    help: 'none: the first stage gets end of file at once',
    read: choice(STDIN_MODES),
  },
  {
    long: '--stderr',
    value: 'prefix|raw|off',
    help: "stages' stderr: prefixed by host, as it is, dropped",
    read: choice(STDERR_MODES),
  },
  {
    long: '--progress',
    value: 'auto|live|plain|none',
    help: 'live rows, or a line every 10 s',
    read: choice(PROGRESS_MODES),
  },
  { long: '--size', value: 'BYTES', help: 'expected size of the stream, for percentage and ETA', read: readSize },
  { long: '--json', help: 'events as JSON lines on stderr in place of all text' },
  { long: '--report', value: 'FILE', help: 'write a page of HTML about the run', read: plain('file name') },
  {
    long: '--connect-timeout',
    value: 'S',
    help: 'seconds to connect, to log in, to start the agent, each (default: 10)',
    read: readSeconds,
  },
  { long: '--stall-timeout', value: 'S', help: 'seconds of a silent peer (default: 60)', read: readStallTimeout },
  {
    long: '--lease',
    value: 'S',
    help: 'seconds of a silent control connection (default: stall + 30)',
    read: readSeconds,
  },
  { long: '--timeout', value: 'S', help: 'seconds for the whole run (default: none)', read: readSeconds },
  {
    long: '--ssh',
    value: 'auto|openssh|ssh2',
    help: 'the control connection (default: auto)',
    read: choice(SSH_MODES),
  },
  { long: '--ssh-program', value: 'PATH', help: 'the ssh to run (default: the first in PATH)', read: plain('path') },
  { long: '--persist', value: 'S', help: 'seconds that ssh connections outlive a run (default: 0)', read: readPersist },
  { short: '-F', value: 'FILE', help: "ssh's configuration file, as for ssh(1)", read: plain('file name') },
  { short: '-o', value: 'OPTION=VALUE', help: "an option of ssh's, as for ssh(1)", read: list(plain('ssh option')) },
  { long: '--agent', value: 'PATH', help: 'an agent that is already on the hosts', read: plain('path') },
  {
    long: '--config',
    value: 'FILE',
    help: 'config file (default: $XDG_CONFIG_HOME/rdpipe/config.toml)',
    read: plain('file name'),
  },
  { short: '-V', long: '--version', help: 'print the version' },
  { short: '-h', long: '--help', help: 'print this help' },
];

const WAY_OPTIONS = ['--transport', '--port', '--hostname', '--data'].map(row);
const CONTROL_OPTIONS = ['--ssh', '--ssh-program', '-F', '-o', '--agent', '--config', '--help'].map(row);

/** What of these `rdpipe doctor` takes, in its own order; some have another meaning there. */
export const DOCTOR_OPTION_TABLE: readonly OptionRow[] = [
  { ...row('--verbose'), help: 'log what is done' },
  { ...row('--quiet'), help: 'only what is wrong' },
  { ...row('--json'), help: 'one JSON object on standard output in place of all text' },
  ...WAY_OPTIONS,
  { ...row('--sudo'), help: 'try sudo there, and run its agent by it' },
  row('--connect-timeout'),
  ...CONTROL_OPTIONS,
];

/** What `rdpipe bench` takes. */
export const BENCH_OPTION_TABLE: readonly OptionRow[] = [
  { long: '--size', value: 'BYTES', help: 'of every stream (default: what takes a way 2 seconds)', read: readSize },
  { long: '--rounds', value: 'N', help: 'rounds of all ways (default: 5)', read: readRounds },
  { long: '--report', value: 'FILE', help: 'write a page of HTML with plots', read: plain('file name') },
  { ...row('--verbose'), help: 'log what is done' },
  { ...row('--quiet'), help: 'no progress' },
  { ...row('--json'), help: 'one JSON object on standard output in place of the table' },
  ...WAY_OPTIONS,
  row('--jobs'),
  row('--numa'),
  row('--buffer'),
  row('--poll'),
  { ...row('--sudo'), help: 'run its agent by sudo' },
  row('--connect-timeout'),
  row('--stall-timeout'),
  row('--lease'),
  ...CONTROL_OPTIONS,
];

function row(name: string): OptionRow {
  const found = OPTION_TABLE.find(({ short, long }) => (long ?? short) === name);
  if (found === undefined) throw new Error(`no option is called ${name}`);
  return found;
}

/** `[host=]shell`; an empty host is this machine. */
function readHostShell(text: string): HostValue {
  const equals = text.indexOf('=');
  const host = equals < 0 ? undefined : hostKey(parseHostRef(text.slice(0, equals)));
  return { host, value: readPlain('shell', text.slice(equals + 1)) };
}

function readHostAddress(text: string): HostValue {
  const equals = text.indexOf('=');
  if (equals < 0) throw new UsageError(`'${text}' is not HOST=ADDR`);
  if (equals === 0) throw new UsageError(`'${text}' names no host (--hostname is for this machine)`);
  return { host: hostKeyOf(text.slice(0, equals)), value: readAddress(text.slice(equals + 1)) };
}

/** A host as written, as a key of settings. */
export function hostKeyOf(text: string): string {
  if (text === '') throw new UsageError('the host is empty');
  return hostKey(parseHostRef(text));
}

function readOkRule(text: string): OkRule {
  const equals = text.indexOf('=');
  if (equals < 0) return { stage: undefined, statuses: readStatuses(text) };
  const stage = text.slice(0, equals);
  if (!/^[1-9]\d{0,5}$/.test(stage)) throw new UsageError(`'${stage}' is not the number of a stage`);
  return { stage: Number(stage), statuses: readStatuses(text.slice(equals + 1)) };
}

function choice<const Choice extends string>(choices: readonly Choice[]): (text: string) => Choice {
  return (text) => readChoice(choices, text);
}

function plain(what: string): (text: string) => string {
  return (text) => readPlain(what, text);
}

/** A repeatable option: every value is kept, in order. */
function list<Value>(read: (text: string) => Value): (text: string, before: unknown) => readonly Value[] {
  return (text, before) => [...((before as readonly Value[] | undefined) ?? []), read(text)];
}
