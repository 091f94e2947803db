/** An ssh server in this process that asks every client for secrets, and then runs `sh`. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { execa } from 'execa';
import ssh2, { type AuthContext, type ServerChannel } from 'ssh2';
import { makeKeyPair } from '../../../src/session/ssh2/demo-host.ts';

export interface AskingHost {
  readonly port: number;
  /** Its line for known_hosts. */
  readonly knownHosts: string;
  close(): void;
}

/** Accepts a client that knows the password and then the code, like a bastion with a second factor. */
export async function startAskingHost(password: string, code: string): Promise<AskingHost> {
  const hostKey = makeKeyPair();
  const server = new ssh2.Server({ hostKeys: [hostKey.private] }, (connection) => {
    let knowsPassword = false;
    connection.on('error', () => {});
    connection.on('authentication', (context) => {
      if (context.method === 'password' && context.password === password) {
        knowsPassword = true;
        // The types have one argument, the protocol has a second: this method succeeded, but more are required.
        (context.reject as (left: string[], partial: boolean) => void)(['keyboard-interactive'], true);
      } else if (context.method === 'keyboard-interactive' && knowsPassword) askForCode(context, code);
      else context.reject([knowsPassword ? 'keyboard-interactive' : 'password']);
    });
    connection.on('session', (accept) => {
      accept().on('exec', (acceptExec, _reject, { command }) => runCommand(acceptExec(), command));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { port, knownHosts: `[127.0.0.1]:${port} ${hostKey.public}\n`, close: () => void server.close() };
}

function askForCode(context: Extract<AuthContext, { method: 'keyboard-interactive' }>, code: string): void {
  context.prompt([{ prompt: 'Code \x1b[2J: ', echo: false }], '', 'The second factor', (answers) => {
    if (answers?.[0] === code) context.accept();
    else context.reject(['keyboard-interactive']);
  });
}

function runCommand(channel: ServerChannel, command: string): void {
  const child = execa('sh', ['-c', command], { stdio: ['pipe', 'pipe', 'ignore'], reject: false });
  channel.pipe(child.stdin);
  child.stdout.pipe(channel, { end: false });
  void child.then(({ exitCode = 1 }) => {
    channel.exit(exitCode);
    channel.end();
  });
}
