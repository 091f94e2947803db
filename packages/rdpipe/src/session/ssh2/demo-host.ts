/** A throwaway SSH server in this process that runs real commands, for `rdpipe demo`. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import ssh2, { type AuthContext, type Connection, type ParsedKey, type ServerChannel } from 'ssh2';
import { type PipedProgram, startPiped } from '../start-program.ts';

export interface KeyPair {
  /** In OpenSSH's format. */
  readonly private: string;
  /** `ssh-ed25519 AAAA…`. */
  readonly public: string;
}

export interface DemoHost {
  readonly address: string;
  readonly port: number;
  /** Ends connections and commands. Takes a bounded time. */
  close(): Promise<void>;
}

export interface DemoHostOptions {
  readonly address: string;
  readonly hostKey: KeyPair;
  /** The only key that may log in. */
  readonly userKey: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** Returns an ECDSA key pair, not ed25519: about one in 230 ed25519 pairs from ssh2 1.17 is malformed. */
export function makeKeyPair(): KeyPair {
  return ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256 });
}

/** Starts a server on a free port of a loopback address. */
export async function startDemoHost(options: DemoHostOptions): Promise<DemoHost> {
  const allowed = parsePublicKey(options.userKey);
  const connections = new Set<Connection>();
  const children = new Set<PipedProgram>();
  const server = new ssh2.Server({ hostKeys: [options.hostKey.private] }, (connection) => {
    connections.add(connection);
    connection.on('close', () => connections.delete(connection)).on('error', () => {});
    connection.on('authentication', (attempt) => authenticate(attempt, allowed));
    const environment = { ...options.environment, SSH_CONNECTION: sshConnection(options.address, server) };
    connection.on('session', (accept) => serveSession(accept(), environment, children));
  });
  server.listen(0, options.address);
  await once(server, 'listening');
  return {
    address: options.address,
    port: portOf(server),
    async close() {
      server.close();
      for (const connection of connections) connection.end();
      await endChildren(children);
    },
  };
}

function parsePublicKey(text: string): ParsedKey {
  const key = ssh2.utils.parseKey(text);
  if (key instanceof Error) throw key;
  return key;
}

/** Without a signature, the client only asks whether the key is acceptable. */
function authenticate(attempt: AuthContext, allowed: ParsedKey): void {
  const isAllowed =
    attempt.method === 'publickey' &&
    attempt.key.data.equals(allowed.getPublicSSH()) &&
    (attempt.signature === undefined ||
      (attempt.blob !== undefined && allowed.verify(attempt.blob, attempt.signature, attempt.hashAlgo)));
  if (isAllowed) attempt.accept();
  else attempt.reject(['publickey']);
}

function sshConnection(address: string, server: ssh2.Server): string {
  return `${address} 0 ${address} ${portOf(server)}`;
}

function portOf(server: ssh2.Server): number {
  return (server.address() as AddressInfo).port;
}

function serveSession(session: ssh2.Session, environment: NodeJS.ProcessEnv, children: Set<PipedProgram>): void {
  session.on('env', (accept) => accept?.());
  session.on('exec', (accept, _reject, { command }) => runCommand(accept(), command, environment, children));
}

function runCommand(
  channel: ServerChannel,
  command: string,
  environment: NodeJS.ProcessEnv,
  children: Set<PipedProgram>,
): void {
  const child = startPiped(['sh', '-c', command], environment);
  children.add(child);
  for (const stream of [channel, child.stdin, child.stdout, child.stderr]) stream.on('error', () => {});
  channel.pipe(child.stdin);
  child.stdout.pipe(channel, { end: false });
  child.stderr.pipe(channel.stderr, { end: false });
  channel.on('close', () => child.stdin.destroy());
  child.on('error', () => children.delete(child));
  child.on('close', (code, signal) => {
    children.delete(child);
    if (signal === null) channel.exit(code ?? 1);
    else channel.exit(signal.slice('SIG'.length), false, '');
    channel.end();
  });
}

const END_LIMIT_MS = 5000;

/** Commands end when their input closes, as on any host; those that do not are killed. */
async function endChildren(children: Set<PipedProgram>): Promise<void> {
  const ended = Promise.all([...children].map((child) => once(child, 'close')));
  for (const child of children) child.stdin.destroy();
  const done = new AbortController();
  await Promise.race([ended, delay(END_LIMIT_MS, undefined, { signal: done.signal }).catch(() => {})]);
  done.abort();
  for (const child of children) killGroup(child);
}

function killGroup({ pid }: PipedProgram): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // No process of the group is left: while one lives, and holds the pipes open, no other group can have its number.
  }
}
