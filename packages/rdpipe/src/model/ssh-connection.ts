/** The addresses of the ssh connection in which an agent was started. */
import type { AgentHello } from './protocol.ts';

export interface SshConnection {
  readonly client: string;
  /** Of the host itself. */
  readonly server: string;
}

/** Parses `SSH_CONNECTION`: client address, client port, server address, server port. */
export function sshConnectionOf({ ssh_connection }: Pick<AgentHello, 'ssh_connection'>): SshConnection | undefined {
  const [client, , server] = ssh_connection?.split(' ').map((word) => word.replace(/^::ffff:(?=\d+\.)/, '')) ?? [];
  return client === undefined || server === undefined ? undefined : { client, server };
}
