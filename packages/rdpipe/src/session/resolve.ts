/** Resolves a host, including its jump hosts, with ssh's configuration. */
import { type Destination, jumpDestination } from './destination.ts';
import { sessionError } from './errors.ts';

/** A host as ssh resolves it, and the jump host that leads to it. */
export interface Target {
  readonly destination: Destination;
  readonly hostname: string;
  readonly user: string;
  readonly port: number;
  /** The jump host through which the connection goes. */
  readonly via: Target | undefined;
  /** Expanded by ssh; undefined if the user does not share connections. */
  readonly controlPath: string | undefined;
  /** Hosts with the same identity share one session. */
  readonly identity: string;
  /** The complete configuration. */
  readonly config: SshConfig;
}

/** Lower-case keywords to their values, as `ssh -G` prints them. */
export type SshConfig = ReadonlyMap<string, readonly string[]>;

/** A longer chain of ProxyJump hosts is taken for a loop. */
const JUMPS_MAX = 8;

/** Reads a destination's configuration. */
export type ConfigReader = (destination: Destination, signal: AbortSignal) => Promise<SshConfig>;

/**
 * Resolves the destination, including its jump hosts.
 * @throws SessionError if its configuration is wrong.
 */
export async function resolveTarget(
  destination: Destination,
  readConfig: ConfigReader,
  signal: AbortSignal,
  depth = 0,
): Promise<Target> {
  const config = await readConfig(destination, signal);
  const value = (keyword: string) => present(config.get(keyword)?.[0]);
  const jump = jumpOf(destination, value('proxyjump'), depth);
  const via = jump && (await resolveTarget(jump, readConfig, signal, depth + 1));
  const hostname = value('hostname') ?? destination.name;
  const user = value('user') ?? '';
  const port = Number(value('port') ?? 22);
  const leadsBy = via === undefined ? (value('proxycommand') ?? '') : via.identity;
  return {
    destination,
    hostname,
    user,
    port,
    via,
    controlPath: value('controlpath'),
    identity: JSON.stringify([user, hostname, port, leadsBy]),
    config,
  };
}

/**
 * As in ssh, the last jump host is reached through the previous ones; a single one as its own configuration specifies.
 */
function jumpOf(destination: Destination, proxyJump: string | undefined, depth: number): Destination | undefined {
  const jumps = proxyJump?.split(',') ?? [];
  const last = jumps.at(-1);
  if (last === undefined) return undefined;
  if (depth >= JUMPS_MAX) throw sessionError(destination, 'unreachable', 'its ProxyJump forms a loop');
  return jumpDestination(last, jumps.slice(0, -1), destination.configFile);
}

function present(value: string | undefined): string | undefined {
  return value === undefined || value === 'none' || value === '' ? undefined : value;
}
