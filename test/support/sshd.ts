// SPDX-License-Identifier: Apache-2.0
// Starts real OpenSSH servers as hosts with their own homes, on 127/8 or in networks of a test.
// Writes an ssh_config for them.
import { appendFileSync, chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { type Started, startProgram } from './start-program.ts';

export interface HostSpec {
  /** The alias in the ssh configuration. */
  readonly name: string;
  /** The alias of the host to jump through. */
  readonly jump?: string;
  /** Lines of its sshd_config; they take precedence over the fixture's. */
  readonly server?: readonly string[];
  /** Lines of its block in the ssh configuration; they take precedence over the fixture's. */
  readonly client?: readonly string[];
  /** The network of its server; default: this machine's loopback. */
  readonly network?: HostNetwork;
  /** Client and server agree on a key as OpenSSH does by default. Otherwise by the exchange that costs the least. */
  readonly defaultKeyExchange?: boolean;
}

export interface HostNetwork {
  /** Prefix of a command line that runs it in the network; it must exec its command. */
  readonly through: readonly string[];
  readonly address: string;
}

export interface SshHost {
  readonly name: string;
  readonly address: string;
  readonly port: number;
  /** $HOME of its sessions. */
  readonly home: string;
  /** The pid of its server. */
  readonly pid: number;
}

export interface SshHosts {
  readonly configFile: string;
  readonly hosts: ReadonlyMap<string, SshHost>;
  /** Idempotent. */
  close(): Promise<void>;
}

const SSHD = '/usr/sbin/sshd';
/** The port of a server in a network of its own. */
const SSH_PORT = 2222;
/** A login takes 60 ms of processor time with it, and 160 with OpenSSH's default, sntrup761. */
const QUICK_KEY_EXCHANGE = 'KexAlgorithms curve25519-sha256';

/** All files are in `directory`; `environment` is set in every session. */
export async function startSshHosts(
  directory: string,
  specs: readonly HostSpec[],
  environment: Readonly<Record<string, string>> = {},
): Promise<SshHosts> {
  makeKey(join(directory, 'key'));
  copyFileSync(join(directory, 'key.pub'), join(directory, 'authorized_keys'));
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true });
  const servers: Started[] = [];
  const hosts = new Map<string, SshHost>();
  for (const [index, spec] of specs.entries()) {
    const address = spec.network?.address ?? `127.0.0.${index + 2}`;
    const { server, port } = await startServer(directory, spec, address, environment);
    servers.push(server);
    hosts.set(spec.name, { name: spec.name, address, port, home: join(directory, spec.name), pid: server.pid });
  }
  return { configFile: writeClientConfig(directory, specs, hosts), hosts, close: () => endAll(servers) };
}

async function startServer(
  directory: string,
  spec: HostSpec,
  address: string,
  environment: Readonly<Record<string, string>>,
): Promise<{ readonly server: Started; readonly port: number }> {
  const home = join(directory, spec.name);
  mkdirSync(home);
  makeKey(join(directory, `${spec.name}.host`));
  const configFile = join(directory, `${spec.name}.sshd_config`);
  const logFile = join(directory, `${spec.name}.log`);
  const through = spec.network?.through ?? [];
  for (;;) {
    const port = spec.network === undefined ? await freePort(address) : SSH_PORT;
    writeFileSync(configFile, serverConfig(directory, spec, address, port, { HOME: home, ...environment }));
    const server = startProgram([...through, SSHD, '-D', '-E', logFile, '-f', configFile], { stdio: 'ignore' });
    const isTaken = await eventually(() => {
      const log = readFileSync(logFile, 'utf8');
      if (spec.network === undefined && log.includes('Address already in use')) return true;
      expect(log).to.include(`Server listening on ${address} port ${port}`);
      return false;
    });
    if (!isTaken) return { server, port };
    // Another process has taken the port since it was free.
    await server.ended;
    rmSync(logFile);
  }
}

function serverConfig(
  directory: string,
  spec: HostSpec,
  address: string,
  port: number,
  environment: Readonly<Record<string, string>>,
): string {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  const lines = [
    ...(spec.server ?? []),
    ...(spec.defaultKeyExchange ? [] : [QUICK_KEY_EXCHANGE]),
    `Port ${port}`,
    `ListenAddress ${address}`,
    `HostKey ${join(directory, `${spec.name}.host`)}`,
    `AuthorizedKeysFile ${join(directory, 'authorized_keys')}`,
    `SetEnv ${variables.join(' ')}`,
    'StrictModes no',
    'UsePAM no',
    'PidFile none',
    'Subsystem sftp internal-sftp',
    'PermitRootLogin yes',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    ...penaltyLines(join(directory, `${spec.name}.penalties`)),
  ];
  return `${lines.join('\n')}\n`;
}

let penaltyLinesOfThisServer: readonly string[] | undefined;

/** Disables penalties: OpenSSH 9.8 and later block an address after failed logins, which some tests cause. */
function penaltyLines(scratchFile: string): readonly string[] {
  if (penaltyLinesOfThisServer !== undefined) return penaltyLinesOfThisServer;
  writeFileSync(scratchFile, 'PerSourcePenalties no\n');
  const { stderr } = execaSync(SSHD, ['-t', '-f', scratchFile], { reject: false });
  penaltyLinesOfThisServer = stderr.includes('Bad configuration option') ? [] : ['PerSourcePenalties no'];
  return penaltyLinesOfThisServer;
}

function writeClientConfig(directory: string, specs: readonly HostSpec[], hosts: ReadonlyMap<string, SshHost>): string {
  const configFile = join(directory, 'ssh_config');
  const blocks = specs.map((spec) => clientBlock(spec, hosts.get(spec.name)));
  const common = [
    'Host *',
    `User ${userInfo().username}`,
    `IdentityFile ${join(directory, 'key')}`,
    'IdentitiesOnly yes',
    'IdentityAgent none',
    `UserKnownHostsFile ${join(directory, 'known_hosts')}`,
    'GlobalKnownHostsFile /dev/null',
  ];
  writeFileSync(configFile, `${[...blocks.flat(), ...common].join('\n')}\n`);
  writeFileSync(join(directory, 'known_hosts'), '');
  for (const host of hosts.values()) {
    const key = readFileSync(join(directory, `${host.name}.host.pub`), 'utf8');
    appendFileSync(join(directory, 'known_hosts'), `${host.name},[${host.address}]:${host.port} ${key}`);
  }
  return configFile;
}

function clientBlock(spec: HostSpec, host: SshHost | undefined): string[] {
  const own = [...(spec.client ?? []), `HostName ${host?.address}`, `Port ${host?.port}`];
  return [`Host ${spec.name}`, ...own, ...(spec.jump === undefined ? [] : [`ProxyJump ${spec.jump}`])];
}

function makeKey(path: string): void {
  execaSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'rdpipe-test', '-f', path]);
  chmodSync(path, 0o600);
}

/** Sessions of a server end on their own with their clients. */
async function endAll(servers: readonly Started[]): Promise<void> {
  for (const { child } of servers) child.kill('SIGTERM');
  await Promise.all(servers.map(({ ended }) => ended));
}
