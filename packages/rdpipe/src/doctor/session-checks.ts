/** Checks of a host's ssh, sudo, agent and disk. Pure. */

import type { SessionErrorCode } from '../model/errors.ts';
import type { Finding } from '../model/examination.ts';
import { formatBytes } from '../model/units.ts';
import { type CacheFacts, type HostFacts, isTrouble, known } from './facts.ts';
import { fail, ok, warn } from './finding.ts';

/** Checks the connection over ssh or another launcher; no finding for this machine. */
export function checkSsh({ label, launcher, ssh }: HostFacts): readonly Finding[] {
  if (launcher !== undefined) return [checkLauncher(launcher, label, ssh)];
  if (isTrouble(ssh)) return [fail('ssh', ssh.message, sshFix(ssh.code, label))];
  if (ssh.client === 'local') return [];
  const client = ssh.client === 'openssh' ? "the system's ssh" : 'the built-in client, ssh2';
  if (ssh.took === undefined) return [ok('ssh', `${client}, over a connection that was already open`)];
  return [ok('ssh', `${client}, connected in ${seconds(ssh.took.connectMs)}, login in ${seconds(ssh.took.loginMs)}`)];
}

function checkLauncher(launcher: string, label: string, ssh: HostFacts['ssh']): Finding {
  if (isTrouble(ssh)) return fail('launcher', ssh.message, launcherFix(launcher, label));
  return ok('launcher', `${launcher}, a shell in ${seconds(ssh.took?.connectMs ?? 0)}`);
}

function launcherFix(launcher: string, label: string): string {
  switch (launcher) {
    case 'slurm':
      return 'run rdpipe inside an allocation (salloc -N 2); to list its nodes, run scontrol show hostnames';
    case 'podman':
    case 'docker':
      return `run ${launcher} ps to check that ${label} is running; it also needs sh`;
    case 'kubectl':
      return `run kubectl get pods to check that ${label} is running; it needs sh, and you need permission to exec`;
    case 'lxc':
      return `run lxc list to check that ${label} is running`;
    default:
      return 'run the command by hand; it must start a shell that reads its standard input';
  }
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

function sshFix(code: SessionErrorCode | undefined, label: string): string {
  switch (code) {
    case 'unknown_host':
      return 'add it to ~/.ssh/config, /etc/hosts or DNS';
    case 'authentication':
      return `run ssh-copy-id ${label} to install your key`;
    case 'login_timeout':
      return `run ssh -v ${label} to see where login hangs; often DNS, PAM or a directory server`;
    case 'host_key':
      return `compare its key with the expected one, then connect once by hand: ssh ${label}`;
    default:
      return 'check that the host is up, sshd is reachable, and HostName, Port and ProxyJump in ~/.ssh/config are right';
  }
}

/** Checks the result of `sudo -n true`; no finding if it was not run. */
export function checkSudo({ system }: HostFacts): readonly Finding[] {
  const sudo = known(system)?.sudo ?? null;
  if (sudo === null) return [];
  if (sudo.ok) return [ok('sudo', 'sudo -n works')];
  return [
    fail('sudo', sudo.words, 'add a NOPASSWD rule for rdstage to /etc/sudoers.d/, so that sudo asks for no password'),
  ];
}

/** Checks the agent; no finding if the host was not reached. */
export function checkAgent({ label, hello, agentStartMs, system }: HostFacts): readonly Finding[] {
  if (hello === undefined) return [];
  if (isTrouble(hello)) return [fail('agent', hello.message, agentFix(hello.code, label))];
  const { agentDirectory = null, programs = null } = known(system) ?? {};
  const where = agentDirectory === null ? '' : ` in ${withoutDigest(agentDirectory)}`;
  const kind = programs === 'dynamic' ? ", with programs that use the host's libraries" : '';
  const started = agentStartMs === undefined ? '' : `, started in ${seconds(agentStartMs)}`;
  return [ok('agent', `${hello.version}${where}, ${hello.os} ${hello.cpu}${kind}${started}`)];
}

/** The first version that uses wide AES instructions. */
const OPENSSL_WITH_WIDE_AES = [3, 1];

/** Checks the OpenSSL of encrypted hops; no finding if it is unknown. */
export function checkEncryption({ system }: HostFacts): readonly Finding[] {
  const { openssl = null, wideAes = false } = known(system) ?? {};
  if (openssl === null) return [];
  const [major = 0, minor = 0] = openssl.split('.').map(Number);
  const [leastMajor = 0, leastMinor = 0] = OPENSSL_WITH_WIDE_AES;
  const isOld = major < leastMajor || (major === leastMajor && minor < leastMinor);
  if (!isOld || !wideAes) return [ok('encryption', `OpenSSL ${openssl}`)];
  const slow = 'a later one encrypts up to four times as fast on this CPU';
  const next = 'install a package of rdpipe, which has one: npm run dist in its checkout makes it';
  return [ok('encryption', `OpenSSL ${openssl}; ${slow} (${next})`)];
}

function agentFix(code: SessionErrorCode | undefined, label: string): string {
  switch (code) {
    case 'slow_shell':
      return `run time ssh ${label} true, and check the rc files there (~/.bashrc); or wait longer with --connect-timeout`;
    case 'no_shell':
      return 'allow the account to run commands; command= in its authorized_keys, ForceCommand or its shell may forbid it';
    default:
      return 'free space or allow programs in ~/.cache, or install rdstage, rdhop and rdtree and use --agent PATH';
  }
}

/** The directory without its last part, a digest that is different for each version. */
function withoutDigest(directory: string): string {
  return directory.replace(/\/[0-9a-f]{64}$/, '');
}

/** Reports unknown system facts, without which disk, pipes and interfaces are not checked. */
export function checkSystem({ system }: HostFacts): readonly Finding[] {
  if (!isTrouble(system)) return [];
  return [fail('system', system.message, 'run echo uptime | ssh HOST sh to check that scripts run there')];
}

/** Space for another version of the programs. */
const ROOM_KIB = 32 * 1024;

/** Checks the cache directory: free space, and whether programs can run from it; no finding if unknown. */
export function checkDisk({ hello, system }: HostFacts): readonly Finding[] {
  const { cache = null, agentDirectory = null } = known(system) ?? {};
  if (cache === null) return [];
  if (cache.noexec) return [noexec(cache, known(hello) === undefined ? null : agentDirectory)];
  const free = `${formatBytes(cache.freeKib * 1024)} free in ${cache.directory}`;
  if (cache.freeKib >= ROOM_KIB) return [ok('disk', free)];
  return [
    warn('disk', free, `free some space: a version of rdpipe's programs takes up to ${formatBytes(ROOM_KIB * 1024)}`),
  ];
}

function noexec({ directory, mountPoint }: CacheFacts, agentDirectory: string | null): Finding {
  const found = `programs cannot run from ${directory} (${mountPoint} is mounted noexec)`;
  const fix = `run mount -o remount,exec ${mountPoint}, or install the programs elsewhere and use --agent PATH`;
  if (agentDirectory === null) return fail('disk', found, fix);
  return warn(
    'disk',
    `${found}: the agent is kept in ${withoutDigest(agentDirectory)}`,
    `no action needed; to keep it in the cache directory, ${fix}`,
  );
}
