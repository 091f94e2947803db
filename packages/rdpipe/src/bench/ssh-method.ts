/** The benchmark method of ssh: the same stream, sent as a user without rdpipe would send it. Pure.
 *
 * From host to host if the first can log in to the second without a question, otherwise through this machine. The ssh
 * commands run in an ordinary run, which ends every process that it starts.
 */

import type { Sample } from '../model/benchmark.ts';
import { RdpipeError } from '../model/errors.ts';
import type { HostRef } from '../model/pipeline.ts';
import type { Settings } from '../model/settings.ts';
import { quoteForSh } from '../model/shell-quote.ts';

/** The host on which ssh runs, and the two ends of the stream. */
export interface SshRoute {
  readonly at: HostRef;
  readonly from: HostRef;
  readonly to: HostRef;
  /** Options for ssh on this machine. */
  readonly settings: Pick<Settings, 'sshProgram' | 'sshConfigFile' | 'sshOptions' | 'connectTimeoutMs'>;
}

/** A command that succeeds if every login for the stream works without a question. */
export function loginCommand(route: SshRoute): string {
  return [route.from, route.to]
    .filter((host) => !isSame(host, route.at))
    .map((host) => ssh(route, host, 'true'))
    .join(' && ');
}

/** A command that sends `bytes`, and prints start and end times of login and transfer on standard error. */
export function streamCommand(route: SshRoute, bytes: number): string {
  const { at, from, to } = route;
  const source = isSame(from, at) ? `head -c ${bytes} /dev/zero` : remote(route, from, sendScript(bytes));
  const sink = isSame(to, at) ? `sh -c ${quoteForSh(RECEIVE_SCRIPT)}` : remote(route, to, RECEIVE_SCRIPT);
  const login = ssh(route, isSame(to, at) ? from : to, 'true');
  return [
    `read a _ < /proc/uptime; ${login}; read b _ < /proc/uptime; echo "${MARK} login $a $b" >&2`,
    `${source} | ${sink}`,
  ].join('; ');
}

/**
 * The sample of a finished stream.
 * @param stderr the complete standard error of the command
 * @param stageCpuS CPU seconds of all processes on the host on which ssh ran
 * @throws RdpipeError if the times are missing.
 */
export function readSshSample(stderr: string, route: SshRoute, bytes: number, stageCpuS: number): Sample {
  const wordsOf = (what: string) => stderr.match(new RegExp(`^${MARK} ${what} (.*)$`, 'm'))?.[1]?.split(' ') ?? [];
  const [began, ended] = wordsOf('took').map(Number);
  const [asked, answered] = wordsOf('login').map(Number);
  const seconds = (ended ?? Number.NaN) - (began ?? Number.NaN);
  if (!(seconds > 0)) {
    throw new RdpipeError(
      'bench',
      125,
      'rdpipe',
      `ssh reported no time for ${bytes} bytes: too few (use a larger --size), or a host without /proc`,
    );
  }
  const login = (answered ?? Number.NaN) - (asked ?? Number.NaN);
  return {
    bytes,
    seconds,
    bytesPerSecond: bytes / seconds,
    fromCpuS: isSame(route.from, route.at) ? stageCpuS : serverCpuS(stderr, 'from'),
    toCpuS: isSame(route.to, route.at) ? stageCpuS : serverCpuS(stderr, 'to'),
    roundTripUs: login >= 0 ? Math.round(login * 1e6) : null,
    pingPongUs: null,
  };
}

/** The first word of the lines that these commands print. */
const MARK = 'rdpipe-bench';

/** No questions, new known hosts or shared connections; the user's configuration adds no commands or forwards. */
const OPTIONS = [
  'BatchMode=yes',
  'StrictHostKeyChecking=yes',
  'UpdateHostKeys=no',
  'ControlMaster=no',
  'ControlPath=none',
  'ClearAllForwardings=yes',
  'PermitLocalCommand=no',
  'RemoteCommand=none',
  'RequestTTY=no',
];

/**
 * Scripts must not contain apostrophes, because they are passed to login shells between apostrophes. /proc/uptime has
 * hundredths of seconds on every Linux.
 */
const COUNT = (end: string) =>
  `echo "${MARK} ${end} $(getconf CLK_TCK 2>/dev/null || echo 100)" >&2; sed "s/^/${MARK} ${end}-stat /" /proc/$PPID/stat /proc/$$/stat >&2`;
const RECEIVE_SCRIPT = `head -c 1 >/dev/null; read a _ < /proc/uptime; cat >/dev/null; read b _ < /proc/uptime; echo "${MARK} took $a $b" >&2; ${COUNT('to')}`;

function sendScript(bytes: number): string {
  return `head -c ${bytes} /dev/zero; ${COUNT('from')}`;
}

/** `sh` replaces the login shell, so that its parent is sshd. */
function remote(route: SshRoute, host: HostRef, script: string): string {
  return ssh(route, host, `exec sh -c '${script}'`);
}

function ssh({ at, settings }: SshRoute, host: HostRef, command: string): string {
  const own = at.name === '' ? ownOptions(settings) : [];
  const options = [...OPTIONS, `ConnectTimeout=${Math.ceil(settings.connectTimeoutMs / 1000)}`];
  const name = host.user === undefined ? host.name : `${host.user}@${host.name}`;
  const program = (at.name === '' ? settings.sshProgram : undefined) ?? 'ssh';
  const words = [
    program,
    '-T',
    '-x',
    '-a',
    ...options.flatMap((option) => ['-o', option]),
    ...own,
    '--',
    name,
    command,
  ];
  return `${words.map(quoteForSh).join(' ')}${command === 'true' ? ' </dev/null' : ''}`;
}

function ownOptions({ sshConfigFile, sshOptions }: SshRoute['settings']): readonly string[] {
  const file = sshConfigFile === undefined ? [] : ['-F', sshConfigFile];
  return [...file, ...sshOptions.flatMap((option) => ['-o', option])];
}

/** CPU seconds of sshd and the commands in a login, from /proc/PID/stat, whose fields after the name are used. */
function serverCpuS(stderr: string, end: 'from' | 'to'): number | null {
  const ticks = Number(stderr.match(new RegExp(`^${MARK} ${end} (\\d+)$`, 'm'))?.[1]);
  const stats = [...stderr.matchAll(new RegExp(`^${MARK} ${end}-stat \\d+ \\((.*)\\) (.*)$`, 'gm'))];
  const [server, shell] = stats.map(([, name = '', fields = '']) => ({ name, fields: fields.split(' ').map(Number) }));
  if (!(ticks > 0) || server === undefined || shell === undefined || !server.name.startsWith('sshd')) return null;
  const used = (server.fields[USER] ?? 0) + (server.fields[SYSTEM] ?? 0);
  const usedByChildren = (shell.fields[CHILDREN_USER] ?? 0) + (shell.fields[CHILDREN_SYSTEM] ?? 0);
  return (used + usedByChildren) / ticks;
}

const USER = 11;
const SYSTEM = 12;
const CHILDREN_USER = 13;
const CHILDREN_SYSTEM = 14;

function isSame(one: HostRef, other: HostRef): boolean {
  return one.name === other.name && one.user === other.user;
}
