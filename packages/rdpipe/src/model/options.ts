/** The option table: flags, config keys, defaults, help, manual and completion come from its rows. */
import type { OptionRow } from './option-row.ts';

/** By name of the setting, in the order in which help and manual show them. */
export const OPTIONS = {
  /** 1: summary; 2: what is done, too. */
  verbosity: {
    short: '-v',
    long: '--verbose',
    kind: 'count',
    help: 'summary of every hop and stage at the end; twice: log what is done',
    config: 'defaults',
    doctor: { help: 'log what is done' },
    bench: { help: 'log what is done' },
  },
  quiet: {
    short: '-q',
    long: '--quiet',
    kind: 'switch',
    help: "only the stages' own stderr and a failure's line",
    config: 'defaults',
    doctor: { help: 'problems only' },
    bench: { help: 'no progress' },
  },
  dryRun: { short: '-n', long: '--dry-run', kind: 'switch', help: 'open sessions, print the plan, start nothing' },
  /** Ports of listening ends. */
  ports: {
    short: '-p',
    long: '--port',
    kind: 'ports',
    value: 'PORT[-PORT]',
    help: 'ports of listening ends',
    unset: 'any free one',
    config: 'defaults',
    doctor: {},
    bench: {},
  },
  hostname: {
    short: '-H',
    long: '--hostname',
    kind: 'address',
    value: 'NAME',
    help: 'address under which other hosts reach this machine',
    setting: false,
    config: 'defaults',
    doctor: {},
    bench: {},
  },
  data: {
    long: '--data',
    kind: 'address',
    value: 'HOST=ADDR',
    help: "address that others use for HOST's data",
    flagHost: 'required',
    withoutHost: '--hostname is for this machine',
    config: 'host',
    doctor: {},
    bench: {},
  },
  transport: {
    long: '--transport',
    kind: 'choice',
    choices: ['auto', 'rdma', 'tcp'],
    help: 'auto: RDMA where both ends can, else TCP',
    default: 'auto',
    config: 'defaults',
    doctor: {},
    bench: {},
  },
  encrypt: {
    long: '--encrypt',
    kind: 'choice',
    choices: ['auto', 'always', 'auth', 'never'],
    help: 'auto: always over TCP, auth over RDMA; auth: in clear, changes are noticed; never: only accidents are',
    default: 'auto',
    config: 'defaults',
  },
  /** Of zstd, 1 to 19; 0: nothing is compressed. */
  compressLevel: {
    long: '--compress',
    kind: 'compression',
    value: 'zstd[:LEVEL]|none',
    help: 'compress what hops carry, LEVEL 1 to 19, 1 where none is given',
    default: 'none',
    config: 'defaults',
  },
  /** Threads of a hop's end that compress and encrypt. */
  jobs: {
    long: '--jobs',
    kind: 'number',
    of: 'threads',
    least: '0',
    most: '64',
    value: 'N',
    help: "threads of a hop's end that compress and encrypt; 0: as many as its host has processors, up to 8",
    default: '0',
    config: 'defaults',
    bench: {},
  },
  /** Of every hop's stream; 0: none. */
  limitBytesPerS: {
    long: '--limit',
    kind: 'rate',
    value: 'RATE|none',
    help: 'of every hop: 200M (bytes a second), 200MiB/s, 1Gbit/s',
    default: 'none',
    config: 'defaults',
  },
  bufferBytes: {
    long: '--buffer',
    kind: 'size',
    // The smallest window that holds a frame or two, and the largest that a hop may lock in memory.
    least: '64KiB',
    most: '1GiB',
    value: 'SIZE',
    help: "a hop's window",
    default: '8MiB',
    config: 'defaults',
    bench: {},
  },
  poll: {
    long: '--poll',
    kind: 'switch',
    help: 'hops spin instead of sleeping: less delay, a busy CPU at each end',
    config: 'defaults',
    bench: {},
  },
  /** `auto`: over RDMA, threads and memory of a hop's end are where its device is. */
  numa: {
    long: '--numa',
    kind: 'choice',
    choices: ['auto', 'off'],
    help: "auto: over RDMA, a hop's ends are where their devices are",
    default: 'auto',
    config: 'defaults',
    bench: {},
  },
  ok: {
    long: '--ok',
    kind: 'statuses',
    value: '[STAGE=]STATUS[,...]',
    help: 'exit statuses that count as success beside 0',
    repeats: true,
  },
  lenient: {
    long: '--lenient',
    kind: 'switch',
    help: 'a failing stage still gives the next one a clean end of file',
    config: 'defaults',
  },
  shell: {
    long: '--shell',
    kind: 'shell',
    value: '[HOST=]SHELL',
    help: 'shell that runs the commands',
    default: 'sh',
    flagHost: 'optional',
    config: 'both',
  },
  sudo: {
    long: '--sudo',
    kind: 'switch',
    value: 'HOST',
    help: "run that host's agent by sudo -n",
    flagHost: 'required',
    config: 'host',
    doctor: { help: "try sudo there, and run that host's agent by it" },
    bench: { help: "run that host's agent by sudo" },
  },
  /** `none`: the first stage gets end of file at once. */
  stdin: {
    long: '--stdin',
    kind: 'choice',
    choices: ['auto', 'none'],
    help: 'none: the first stage gets end of file at once',
    default: 'auto',
    config: 'defaults',
  },
  /** `auto`: prefix with two or more stages, else raw. */
  stderr: {
    long: '--stderr',
    kind: 'choice',
    choices: ['auto', 'prefix', 'raw', 'off'],
    help: "stages' stderr: each line with its host (auto: with two stages or more), as it is, dropped",
    default: 'auto',
    config: 'defaults',
  },
  progress: {
    long: '--progress',
    kind: 'choice',
    choices: ['auto', 'live', 'plain', 'none'],
    help: 'live rows, a line every 10 s (plain), or neither',
    default: 'auto',
    config: 'defaults',
  },
  sizeBytes: {
    long: '--size',
    kind: 'size',
    value: 'BYTES',
    help: 'expected size of the stream, for percentage and ETA',
    bench: { help: 'of every stream', unset: 'about 2 seconds of each way' },
  },
  rounds: {
    long: '--rounds',
    kind: 'number',
    of: 'rounds',
    least: '1',
    most: '1000',
    value: 'N',
    help: 'rounds of all ways',
    default: '5',
    run: false,
    bench: {},
  },
  json: {
    long: '--json',
    kind: 'switch',
    help: 'events as JSON lines on stderr in place of all text',
    doctor: { help: 'one JSON object on standard output in place of all text' },
    bench: { help: 'one JSON object on standard output in place of the table' },
  },
  /** Where the run's page goes; it could be written when the settings were read. */
  reportFile: {
    long: '--report',
    kind: 'file',
    value: 'FILE',
    help: 'write a page of HTML about the run',
    config: 'defaults',
    bench: { help: 'write a page of HTML with plots' },
  },
  connectTimeoutMs: {
    long: '--connect-timeout',
    kind: 'seconds',
    value: 'SECONDS',
    help: 'to connect, to log in and to start the agent, each',
    default: '10',
    config: 'defaults',
    doctor: {},
    bench: {},
  },
  stallTimeoutMs: {
    long: '--stall-timeout',
    kind: 'seconds',
    // rdsend and rdrecv take no less: a PING could not be answered in time.
    least: '2',
    value: 'SECONDS',
    help: 'until a silent peer is given up',
    default: '60',
    config: 'defaults',
    bench: {},
  },
  leaseMs: {
    long: '--lease',
    kind: 'seconds',
    value: 'SECONDS',
    help: 'until a silent control connection is given up',
    unset: 'stall + 30',
    config: 'defaults',
    bench: {},
  },
  timeoutMs: {
    long: '--timeout',
    kind: 'seconds',
    value: 'SECONDS',
    help: 'for the whole run',
    unset: 'none',
    config: 'defaults',
  },
  ssh: {
    long: '--ssh',
    kind: 'choice',
    choices: ['auto', 'openssh', 'ssh2'],
    help: 'the control connection',
    default: 'auto',
    config: 'defaults',
    doctor: {},
    bench: {},
  },
  /** Absolute once `loadSettings` has returned; undefined: the first ssh in PATH. */
  sshProgram: {
    long: '--ssh-program',
    kind: 'program',
    value: 'PATH',
    help: 'the ssh to run',
    unset: 'the first in PATH',
    config: 'defaults',
    doctor: {},
    bench: {},
  },
  /** How long connections of the system's ssh outlive the last run; 0: they end with theirs. */
  persistS: {
    long: '--persist',
    kind: 'wholeSeconds',
    value: 'SECONDS',
    help: 'to keep ssh connections after a run',
    default: '0',
    config: 'defaults',
  },
  /** ssh's `-F`. */
  sshConfigFile: {
    short: '-F',
    kind: 'file',
    value: 'FILE',
    help: "ssh's configuration file, as for ssh(1)",
    doctor: {},
    bench: {},
  },
  /** ssh's `-o`, in order: `Port=2222`. */
  sshOptions: {
    short: '-o',
    kind: 'sshOption',
    value: 'OPTION=VALUE',
    help: "an option of ssh's, as for ssh(1)",
    repeats: true,
    doctor: {},
    bench: {},
  },
  /** Path of an agent that is already on the host; undefined: deploy. */
  agent: {
    long: '--agent',
    kind: 'remotePath',
    value: 'PATH',
    help: 'an agent that is already on the hosts',
    config: 'both',
    doctor: {},
    bench: {},
  },
  configFile: {
    long: '--config',
    kind: 'file',
    value: 'FILE',
    help: 'config file',
    unset: '$XDG_CONFIG_HOME/rdpipe/config.toml',
    setting: false,
    doctor: {},
    bench: {},
  },
  version: { short: '-V', long: '--version', kind: 'switch', help: 'print the version', setting: false },
  help: { short: '-h', long: '--help', kind: 'switch', help: 'print this help', setting: false, doctor: {}, bench: {} },
} as const satisfies Readonly<Record<string, OptionRow>>;

export type OptionName = keyof typeof OPTIONS;

export const OPTION_ROWS = Object.entries(OPTIONS) as readonly (readonly [OptionName, OptionRow])[];

export type Topic = 'run' | 'doctor' | 'bench';

/** The rows of a command, with what they mean there. */
export function optionsOf(topic: Topic): readonly (readonly [OptionName, OptionRow])[] {
  if (topic === 'run') return OPTION_ROWS.filter(([, { run }]) => run !== false);
  return OPTION_ROWS.flatMap(([name, row]) => {
    const other = row[topic];
    return other === undefined ? [] : [[name, { ...row, ...other }] as const];
  });
}
