/** `main` of rdssh: runs the command on its host, or leaves it to ssh; returns the exit status. */
import { appendFileSync } from 'node:fs';
import { loadSettings } from '../config/load.ts';
import { SessionError } from '../model/errors.ts';
import { type CommandStage, forwardPipeline, type HostRef } from '../model/pipeline.ts';
import type { Report } from '../model/report.ts';
import type { SectionValues, Settings } from '../model/settings.ts';
import { parseSshArgv, type SshInvocation } from '../parse/argv.ts';
import { bytesOf, decode, forMessage } from '../parse/binary-string.ts';
import type { Front, UserStreams } from '../run/open-hosts.ts';
import { keepPlainHost, plainHostFile } from '../session/openssh/plain-hosts.ts';
import { locateSsh } from '../session/openssh/program.ts';
import type { SshConfig } from '../session/settings.ts';
import { failureText } from '../ui/terminal/failure.ts';
import { openTerminal, type Terminal } from '../ui/terminal/terminal.ts';
import type { Io } from './io.ts';
import { printInformation } from './print-information.ts';
import { runShown, type ShownRun } from './run-pipeline.ts';
import { runSshItself } from './ssh-itself.ts';
import { startStandbyInLoop } from './standby-place.ts';
import { userStreams } from './user-streams.ts';

/** Runs the command line `words`, binary strings, and returns the exit status. Never throws. */
export async function main(words: readonly string[], io: Io): Promise<number> {
  let mayUseStandby = false;
  const status = await runCommand(words, io, undefined, ({ persistS, verbosity }) => {
    mayUseStandby = persistS > 0 && verbosity === 0;
  });
  if (!mayUseStandby) return status;
  try {
    await startStandbyInLoop();
  } catch {
    // The next command takes longer.
  }
  return status;
}

/** The command line of another process. */
export interface FrontCommand {
  readonly terminal: Terminal;
  readonly streams: UserStreams;
  readonly front: Front;
  /** Called when the command starts: from then on it is not declined. */
  begun(): void;
}

/** The status of a command line of another process that this one cannot run, or that needs that process's terminal. */
export const DECLINED = -1;

/** Runs a command line of this process, or of another one, for which it may return DECLINED. Never throws. */
export async function runCommand(
  words: readonly string[],
  io: Io,
  command?: FrontCommand,
  onSettings: (settings: Settings) => void = () => {},
): Promise<number> {
  let terminal = command?.terminal ?? openTerminal(io.environment);
  try {
    const invocation = parseSshArgv(words);
    if (invocation.kind !== 'ssh') {
      if (command !== undefined) return DECLINED;
      await printInformation(invocation);
      return 0;
    }
    const stageStderr = terminal.write;
    if (invocation.logFile !== '') terminal = logTo(invocation.logFile);
    const read = async () => {
      const run = await readShown(invocation, io, terminal, stageStderr, command);
      onSettings(run.wanted.settings);
      return run;
    };
    return await runShown(false, read, io, terminal);
  } catch (error) {
    if (command !== undefined) return DECLINED;
    terminal.write(failureText(error, undefined, 'rdssh'));
    return FAILED;
  }
}

/** ssh's status for every failure other than the command's own. */
const FAILED = 255;
/** Connections stay open by default, because tools run many small commands. */
const DEFAULTS: SectionValues = { persistS: 60, progress: 'none' };

type Ssh = Extract<SshInvocation, { kind: 'ssh' }>;

async function readShown(
  invocation: Ssh,
  io: Io,
  terminal: Terminal,
  stageStderr: Terminal['write'],
  command: FrontCommand | undefined,
): Promise<ShownRun> {
  const settings = await loadSettings(invocation.options, io.environment, DEFAULTS);
  if (command !== undefined && settings.dryRun) throw new Error('the plan is for the standard output of the front');
  const host = hostOf(invocation.host);
  let config: SshConfig | undefined;
  let hasBegun = false;
  return {
    wanted: {
      // The output of a command that fails must also arrive.
      settings: { ...settings, lenient: true },
      pipeline: invocation.what === 'forward' ? forwardPipeline(host) : { stages: [commandOf(invocation, host)] },
      streams: command === undefined ? userStreams(settings) : streamsOf(command, settings),
      front: command?.front,
      words: { program: 'rdpipe', optionWords: [], stageWords: [] },
      checkConfig(resolved) {
        checkConfig(resolved, host, io.environment);
        if (invocation.what !== 'forward') checkEarlierRuns(resolved, host);
        config = resolved;
      },
    },
    shown: { output: 'unknown', program: 'rdssh', ...(invocation.logFile !== '' && { stageStderr }) },
    adapted: {
      report: asSsh,
      status: () => FAILED,
      begun() {
        hasBegun = true;
        command?.begun();
      },
      instead(error) {
        if (command !== undefined) return hasBegun ? undefined : Promise.resolve(DECLINED);
        const ssh = leftToSsh(error, invocation, settings, config === undefined);
        if (ssh !== undefined && settings.verbosity > 0) terminal.write(failureText(error, undefined, 'rdssh'));
        if (ssh !== undefined && config !== undefined && isOfTheHost(error)) keepPlainHost(config);
        return ssh;
      },
    },
  };
}

function streamsOf({ streams }: FrontCommand, { stdin }: Settings): UserStreams {
  return stdin === 'none' ? { ...streams, stdin: 'null' } : streams;
}

/** @throws SessionError if a run in the last hour left the host to ssh: every run would wait as long as that one. */
function checkEarlierRuns(config: SshConfig, { label }: HostRef): void {
  const file = plainHostFile(config);
  if (file === undefined) return;
  throw new SessionError(
    'no_shell',
    label,
    `an earlier run could not use rdpipe on ${label} (rm ${file} to try again)`,
  );
}

/** True for a lasting failure of the host: not of this machine's programs, nor of a temporarily full disk. */
function isOfTheHost(error: unknown): boolean {
  return error instanceof SessionError && (error.code === 'slow_shell' || error.code === 'no_shell');
}

/** Forwards are not left to ssh: rdforward already holds the ports of -L. */
function leftToSsh(
  error: unknown,
  { what, ...ssh }: Ssh,
  settings: Settings,
  hasNoConfig: boolean,
): Promise<number> | undefined {
  if (what === 'forward' || !(error instanceof SessionError)) return undefined;
  // `ssh -G` rejects some configurations only because it has no command, and reports the other errors best.
  const isRejected = hasNoConfig && error.code === 'unreachable' && locateSsh(settings.sshProgram) !== undefined;
  if (!isRejected && !LEFT_TO_SSH.has(error.code)) return undefined;
  return runSshItself({ ...ssh, what }, settings);
}

/** Hosts that cannot run rdpipe's programs, such as a git service, or whose configuration needs ssh itself. */
const LEFT_TO_SSH: ReadonlySet<string> = new Set(['no_shell', 'slow_shell', 'no_agent', 'agent_protocol']);

function hostOf(word: string): HostRef {
  const name = decode(word) ?? forMessage(word);
  return { name, user: undefined, label: name };
}

function commandOf({ command, what }: Ssh, host: HostRef): CommandStage {
  const subsystem = what === 'subsystem';
  const text = subsystem ? SFTP_SERVER : command.join(' ');
  return {
    kind: 'command',
    number: 1,
    host,
    text: forMessage(subsystem ? 'sftp' : text),
    command: bytesOf(text),
    shell: subsystem ? 'sh' : undefined,
    ok: [0],
  };
}

/** Runs the server named in sshd_config, if that is readable, otherwise one at a usual path. */
const SFTP_SERVER = `set -- $(cat /etc/ssh/sshd_config /etc/ssh/sshd_config.d/*.conf 2>/dev/null |
  sed -n 's/^[[:space:]]*[Ss]ubsystem[[:space:]]\\{1,\\}sftp[[:space:]]\\{1,\\}//p' | sed -n 1p)
[ -x "$1" ] && exec "$@"
[ "$1" = internal-sftp ] && shift || set --
for server in /usr/lib/openssh/sftp-server /usr/libexec/openssh/sftp-server /usr/lib/ssh/sftp-server \\
  /usr/libexec/sftp-server /usr/lib/sftp-server; do
  [ -x "$server" ] && exec "$server" "$@"
done
echo 'rdssh: sftp-server not found on this host' >&2
exit 127`;

/** @throws SessionError if the host's configuration requires something that only ssh does. */
function checkConfig(config: SshConfig, { label }: HostRef, { DISPLAY = '' }: NodeJS.ProcessEnv): void {
  const isUnused = (name: string) =>
    (name === 'ForwardX11' && DISPLAY === '') || (name === 'PermitLocalCommand' && !config.has('localcommand'));
  const keyword = Object.keys(PLAIN).find(
    (name) => !isUnused(name) && !(PLAIN[name] ?? []).includes(config.get(name.toLowerCase())?.[0] ?? ''),
  );
  if (keyword === undefined) return;
  throw new SessionError('no_shell', label, `only ssh supports ${keyword} in the configuration of ${label}`);
}

/** Values with which rdssh can run a command; '' if ssh does not print the keyword. */
const PLAIN: Readonly<Record<string, readonly string[]>> = {
  SessionType: ['', 'default'],
  RemoteCommand: ['', 'none'],
  Tunnel: ['', 'no', 'false'],
  RequestTTY: ['', 'auto', 'no', 'false'],
  ForkAfterAuthentication: ['', 'no'],
  StdinNull: ['', 'no'],
  ForwardX11: ['', 'no'],
  PermitLocalCommand: ['', 'no'],
  VisualHostKey: ['', 'no'],
};

/** ssh prints nothing about a failed command, and exits with 255 if a signal ended the command or ssh itself. */
function asSsh(report: Report): Report {
  if (report.cause === 'signal') return { ...report, status: FAILED, message: null };
  if (report.cause !== 'stage' && report.cause !== null) return { ...report, status: FAILED };
  const status = report.stages[0]?.code ?? FAILED;
  return { ...report, status, cause: null, causeStage: null, message: null };
}

/** ssh's -E appends, and does not include the command's own stderr. */
function logTo(file: string): Terminal {
  return { isTerminal: false, stream: undefined, color: false, write: (text) => appendFileSync(file, text) };
}
