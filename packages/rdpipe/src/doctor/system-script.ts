/** The script for facts that the agent's hello lacks, for any POSIX sh, and the decoder of its answer. */

import { runScript } from '../agent/remote-script.ts';
import { SessionError } from '../model/errors.ts';
import { printable, shorten } from '../model/text.ts';
import type { HostSession } from '../session/host-session.ts';
import type { CacheFacts, InterfaceSettings, SystemFacts } from './facts.ts';

export interface SystemQuestions {
  /** The running agent's pid, to find its directory. */
  readonly agentPid: number | undefined;
  /** Whether to try `sudo -n true`. */
  readonly sudo: boolean;
}

export interface AskOptions {
  /** The longest wait for the answer. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Runs the script. @throws SessionError if the answer is late, incomplete or invalid; the signal's reason. */
export async function askSystem(
  session: HostSession,
  questions: SystemQuestions,
  { timeoutMs, signal }: AskOptions,
): Promise<SystemFacts> {
  const what = `cannot examine ${session.label}`;
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const answer = await runScript(session, systemScript(questions), AbortSignal.any([signal, timeout]), what);
    const facts = decodeSystem(answer.text);
    if (facts === undefined) throw new SessionError('agent_protocol', session.label, `${what}: its answer is invalid`);
    return facts;
  } catch (error) {
    signal.throwIfAborted();
    if (!timeout.aborted) throw error;
    throw new SessionError('agent_protocol', session.label, `${what}: no answer within ${timeoutMs / 1000} s`);
  }
}

/** A script that prints one line per fact, all encoded in hexadecimal because `say` accepts only one line. */
export function systemScript({ agentPid, sudo }: SystemQuestions): string {
  return `tell_kernel() {
  grep . /proc/sys/fs/pipe-max-size /proc/sys/fs/pipe-user-pages-soft
  grep . /proc/sys/net/ipv4/conf/*/arp_ignore /proc/sys/net/ipv4/conf/*/arp_announce /proc/sys/net/ipv4/conf/*/rp_filter
}
tell_tcp() {
  set -- $(cat /proc/sys/net/ipv4/tcp_wmem)
  echo "send_buffer $3"
}
tell_cache() {
  cache=$HOME/.cache
  there=$cache
  until [ -d "$there" ]; do there=\${there%/*}; there=\${there:-/}; done
  set -- $(df -Pk "$there" | tail -n 1)
  free=$4
  shift 5
  while read -r _ where _ options _; do
    [ "$where" = "$*" ] && case ,$options, in *,noexec,*) noexec=1 ;; *) noexec=0 ;; esac
  done </proc/mounts
  echo "cache $free \${noexec:-0} $*"
  echo "cache_directory $cache"
}
tell_agent() {
  agent=$(readlink "/proc/$1/exe") || return
  directory=\${agent%/*}
  directory=\${directory%/dynamic}
  echo "agent $directory"
  if "$directory/dynamic/rdhop" --version >/dev/null; then echo 'programs dynamic'; else echo 'programs static'; fi
  program=$directory/static/rdhop
  [ -x "$program" ] || program=$directory/rdhop
  "$program" rdsend --version -v | while read -r name version _; do
    [ "$name" != OpenSSL ] || echo "openssl $version"
  done
}
tell_cpu() {
  while read -r name _ flags; do
    case $name$flags in flags*' avx512f '*' vaes '*) echo 'wide_aes 1'; return ;; esac
  done </proc/cpuinfo
}
tell_sudo() {
  if answer=$(sudo -n true 2>&1); then echo 'sudo 1'; else echo "sudo 0 $answer" | tr '\\n' ' '; echo; fi
}
tell() {
  tell_kernel
  tell_tcp
  tell_cpu
  case $HOME in /*) tell_cache ;; esac
  ${agentPid === undefined ? '' : `tell_agent ${agentPid}`}
  ${sudo ? 'tell_sudo' : ''}
  echo end
}
say ok "$(tell 2>/dev/null | od -An -v -tx1 | tr -d ' \\n')"`;
}

/** The facts in the script's answer; undefined if it is invalid or incomplete. */
export function decodeSystem(words: string): SystemFacts | undefined {
  if (!/^(?:[0-9a-f]{2})*$/.test(words)) return undefined;
  const lines = Buffer.from(words, 'hex').toString('utf8').split('\n');
  if (lines.at(-2) !== 'end') return undefined;
  const answer = new Map(lines.flatMap(keyAndValue));
  return {
    agentDirectory: textOf(answer.get('agent')),
    programs: programsOf(answer.get('programs')),
    openssl: versionOf(answer.get('openssl')),
    wideAes: answer.has('wide_aes'),
    pipeMostBytes: numberOf(answer.get('/proc/sys/fs/pipe-max-size')),
    pipeUserPages: numberOf(answer.get('/proc/sys/fs/pipe-user-pages-soft')),
    sendBufferBytes: numberOf(answer.get('send_buffer')),
    interfaces: interfacesOf(answer),
    cache: cacheOf(answer.get('cache'), answer.get('cache_directory')),
    sudo: sudoOf(answer.get('sudo')),
  };
}

/** Lines like `agent /home/ann/…` of the script, and `/proc/sys/fs/pipe-max-size:1048576` of grep. */
function keyAndValue(line: string): (readonly [string, string])[] {
  const match = /^([a-z_]+) (.*)$/.exec(line) ?? /^(\/proc\/sys\/\S+):(\d+)$/.exec(line);
  return match === null ? [] : [[match[1] ?? '', match[2] ?? '']];
}

function interfacesOf(answer: ReadonlyMap<string, string>): ReadonlyMap<string, InterfaceSettings> {
  const names = [...answer.keys()].flatMap(
    (key) => /^\/proc\/sys\/net\/ipv4\/conf\/(.*)\/rp_filter$/.exec(key)?.[1] ?? [],
  );
  return new Map(
    names.map((name) => {
      const setting = (key: string) => numberOf(answer.get(`/proc/sys/net/ipv4/conf/${name}/${key}`)) ?? 0;
      return [
        name,
        { arpIgnore: setting('arp_ignore'), arpAnnounce: setting('arp_announce'), rpFilter: setting('rp_filter') },
      ];
    }),
  );
}

function cacheOf(value: string | undefined, directory: string | undefined): CacheFacts | null {
  const match = /^(\d{1,15}) ([01]) (\/.*)$/.exec(value ?? '');
  if (match === null || directory === undefined) return null;
  const [, free, noexec, mountPoint = ''] = match;
  return {
    directory: printable(directory),
    mountPoint: printable(mountPoint),
    freeKib: Number(free),
    noexec: noexec === '1',
  };
}

/** The longest message of sudo that is shown, in characters. */
const WORDS_MAX = 200;

function sudoOf(value: string | undefined): SystemFacts['sudo'] {
  const match = /^([01]) ?(.*)$/.exec(value ?? '');
  return match === null
    ? null
    : { ok: match[1] === '1', words: shorten(printable((match[2] ?? '').trim()), WORDS_MAX) };
}

function programsOf(value: string | undefined): SystemFacts['programs'] {
  return value === 'dynamic' || value === 'static' ? value : null;
}

function versionOf(value: string | undefined): string | null {
  return value !== undefined && /^\d{1,3}(?:\.\d{1,3}){1,2}$/.test(value) ? value : null;
}

function textOf(value: string | undefined): string | null {
  return value === undefined || value === '' ? null : printable(value);
}

function numberOf(value: string | undefined): number | null {
  return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : null;
}
