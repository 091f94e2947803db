/** Leaves a command to the system's ssh, with this process's standard input, output and error. */
import { dirname, join } from 'node:path';
import { chooseLocalAgent } from '../agent/local-agent.ts';
import { SessionError } from '../model/errors.ts';
import type { Settings } from '../model/settings.ts';
import { decode } from '../parse/binary-string.ts';
import { locateSsh } from '../session/openssh/program.ts';
import { startProgram } from '../session/start-program.ts';

export interface SshCommand {
  readonly what: 'command' | 'subsystem';
  /** The file of -E; empty: none. */
  readonly logFile: string;
  /** Binary strings. */
  readonly host: string;
  readonly command: readonly string[];
}

/**
 * Runs ssh in this process's session and returns its exit status. The terminal sends its signals directly to ssh; other
 * signals are passed on. ssh ends if this process is killed.
 * @throws SessionError if there is no ssh, or if a word is not UTF-8, which node cannot pass as an argument.
 */
export async function runSshItself(wanted: SshCommand, settings: Settings): Promise<number> {
  const { what, logFile, host, command } = wanted;
  const ssh = locateSsh(settings.sshProgram);
  const agent = await chooseLocalAgent();
  const log = logFile === '' ? [] : ['-E', logFile];
  const words = [...log, ...(what === 'subsystem' ? ['-s'] : []), '--', host, ...command].map(decode);
  if (ssh === undefined || agent === undefined || words.includes(undefined)) {
    const reason = ssh === undefined ? 'ssh is not installed on this machine' : 'the command is not valid UTF-8';
    throw new SessionError('no_shell', host, `cannot run ssh for ${host}: ${reason}`);
  }
  const child = startProgram(
    [
      ...[join(dirname(agent), 'rdhop'), 'rdssh', '--die-with-parent', ssh.path],
      ...optionsOf(settings),
      ...words.filter((word) => word !== undefined),
    ],
    ['inherit', 'inherit', 'inherit'],
    ssh.env,
    { detached: false },
  );
  const passOn = (signal: NodeJS.Signals) => child.kill(signal);
  for (const signal of PASSED_ON) process.on(signal, passOn);
  return new Promise((resolve) => {
    child.once('error', () => resolve(255));
    child.once('exit', (code) => resolve(code ?? 255));
  });
}

const PASSED_ON = ['SIGTERM', 'SIGHUP', 'SIGINT'] as const;

function optionsOf({ sshConfigFile, sshOptions, stdin, quiet, verbosity }: Settings): readonly string[] {
  return [
    ...(sshConfigFile === undefined ? [] : ['-F', sshConfigFile]),
    ...sshOptions.flatMap((option) => ['-o', option]),
    ...(stdin === 'none' ? ['-n'] : []),
    ...(quiet ? ['-q'] : []),
    ...Array.from({ length: verbosity }, () => '-v'),
  ];
}
