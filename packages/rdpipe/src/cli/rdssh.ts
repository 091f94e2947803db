/** `main` of rdssh: runs a command of ssh's on its host, or leaves it to ssh; returns the exit status. */
import { appendFileSync } from 'node:fs';
import { loadSettings } from '../config/load.ts';
import { SessionError } from '../model/errors.ts';
import { type CommandStage, forwardPipeline, type HostRef } from '../model/pipeline.ts';
import type { Report } from '../model/report.ts';
import type { SectionValues, Settings } from '../model/settings.ts';
import { parseSshArgv, type SshInvocation } from '../parse/argv.ts';
import { bytesOf, decode, forMessage } from '../parse/binary-string.ts';
import { keepPlainHost, plainHostFile } from '../session/openssh/plain-hosts.ts';
import type { SshConfig } from '../session/settings.ts';
import { failureText } from '../ui/terminal/failure.ts';
import { openTerminal, type Terminal } from '../ui/terminal/terminal.ts';
import type { Io } from './io.ts';
import { printInformation } from './print-information.ts';
import { runShown, type ShownRun } from './run-pipeline.ts';
import { runSshItself } from './ssh-itself.ts';
import { userStreams } from './user-streams.ts';

/** Runs the command line `words`, binary strings, and returns the exit status. Never throws. */
export async function main(words: readonly string[], io: Io): Promise<number> {
  let terminal = openTerminal(io.environment);
  try {
    const invocation = parseSshArgv(words);
    if (invocation.kind !== 'ssh') {
      await printInformation(invocation);
      return 0;
    }
    const stageStderr = terminal.write;
    if (invocation.logFile !== '') terminal = logTo(invocation.logFile);
    return await runShown(false, () => readShown(invocation, io, terminal, stageStderr), io, terminal);
  } catch (error) {
    terminal.write(failureText(error, undefined, 'rdssh'));
    return FAILED;
  }
}

/** As ssh's, of all that is not the command's own end. */
const FAILED = 255;
/** Connections are kept so long by default: tools run many small commands. */
const DEFAULTS: SectionValues = { persistS: 60, progress: 'none' };

type Ssh = Extract<SshInvocation, { kind: 'ssh' }>;

async function readShown(
  invocation: Ssh,
  io: Io,
  terminal: Terminal,
  stageStderr: Terminal['write'],
): Promise<ShownRun> {
  const settings = await loadSettings(invocation.options, io.environment, DEFAULTS);
  const host = hostOf(invocation.host);
  let config: SshConfig | undefined;
  return {
    wanted: {
      // The output of a command that fails arrives, too.
      settings: { ...settings, lenient: true },
      pipeline: invocation.what === 'forward' ? forwardPipeline(host) : { stages: [commandOf(invocation, host)] },
      streams: userStreams(settings),
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
      instead(error) {
        const ssh = leftToSsh(error, invocation, settings);
        if (ssh !== undefined && settings.verbosity > 0) terminal.write(failureText(error, undefined, 'rdssh'));
        if (ssh !== undefined && config !== undefined && isOfTheHost(error)) keepPlainHost(config);
        return ssh;
      },
    },
  };
}

/** @throws SessionError where a run of the last hour had to leave the host to ssh: each would wait as long as that. */
function checkEarlierRuns(config: SshConfig, { label }: HostRef): void {
  const file = plainHostFile(config);
  if (file === undefined) return;
  throw new SessionError(
    'no_shell',
    label,
    `${label} is for ssh itself, as an earlier run found (rm ${file} to retry)`,
  );
}

/** Not of this machine's programs, or of a disk there that is full for now. */
function isOfTheHost(error: unknown): boolean {
  return error instanceof SessionError && (error.code === 'slow_shell' || error.code === 'no_shell');
}

/** rdforward has taken the ports of -L by then: it needs a host where it can run. */
function leftToSsh(error: unknown, { what, ...ssh }: Ssh, settings: Settings): Promise<number> | undefined {
  if (what === 'forward' || !(error instanceof SessionError) || !LEFT_TO_SSH.has(error.code)) return undefined;
  return runSshItself({ ...ssh, what }, settings);
}

/** A host where nothing of ours runs, as one of a git service; and one whose configuration asks for more than that. */
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

/** Becomes the server that sshd_config names, where that may be read, else one at a usual place. */
const SFTP_SERVER = `set -- $(cat /etc/ssh/sshd_config /etc/ssh/sshd_config.d/*.conf 2>/dev/null |
  sed -n 's/^[[:space:]]*[Ss]ubsystem[[:space:]]\\{1,\\}sftp[[:space:]]\\{1,\\}//p' | sed -n 1p)
[ -x "$1" ] && exec "$@"
[ "$1" = internal-sftp ] && shift || set --
for server in /usr/lib/openssh/sftp-server /usr/libexec/openssh/sftp-server /usr/lib/ssh/sftp-server \\
  /usr/libexec/sftp-server /usr/lib/sftp-server; do
  [ -x "$server" ] && exec "$server" "$@"
done
echo 'rdssh: there is no sftp-server on this host' >&2
exit 127`;

/** @throws SessionError where the host's configuration asks for what only ssh does. */
function checkConfig(config: SshConfig, { label }: HostRef, { DISPLAY = '' }: NodeJS.ProcessEnv): void {
  const value = (keyword: string) => config.get(keyword)?.[0] ?? '';
  const isForSsh =
    !['', 'default'].includes(value('sessiontype')) ||
    !['', 'none'].includes(value('remotecommand')) ||
    !['', 'no', 'false'].includes(value('tunnel')) ||
    ['force', 'yes', 'true'].includes(value('requesttty')) ||
    value('forkafterauthentication') === 'yes' ||
    value('stdinnull') === 'yes' ||
    (value('forwardx11') === 'yes' && DISPLAY !== '');
  if (isForSsh) throw new SessionError('no_shell', label, `the configuration of ${label} is for ssh itself`);
}

/** ssh prints nothing about a command that failed, and ends with 255 when a signal ended the command or itself. */
function asSsh(report: Report): Report {
  if (report.cause === 'signal') return { ...report, status: FAILED, message: null };
  if (report.cause !== 'stage' && report.cause !== null) return { ...report, status: FAILED };
  const status = report.stages[0]?.code ?? FAILED;
  return { ...report, status, cause: null, causeStage: null, message: null };
}

/** ssh's -E appends, and is not for what the command writes. */
function logTo(file: string): Terminal {
  return { isTerminal: false, stream: undefined, color: false, write: (text) => appendFileSync(file, text) };
}
