import { SessionError } from '../model/errors.ts';
import { printable } from '../model/text.ts';
import { checkCommand, type Destination, destinationArguments, jumpDestination } from './destination.ts';
import { runSsh } from './ssh-program.ts';

/** A host as ssh resolves it, and the way that leads there. */
export interface Route {
  readonly destination: Destination;
  readonly hostname: string;
  readonly user: string;
  readonly port: number;
  /** The jump host that the connection goes through. */
  readonly via: Route | undefined;
  /** Expanded by ssh; undefined where the user shares no connections. */
  readonly controlPath: string | undefined;
  /** Hosts with the same identity share one session. */
  readonly identity: string;
  /** All that `ssh -G` printed: lower-case keyword to its values. */
  readonly config: ReadonlyMap<string, readonly string[]>;
}

/** A ProxyJump that leads through more hosts than this leads in a circle. */
const MOST_JUMPS = 8;

/**
 * Asks ssh what the destination means, jump hosts included.
 * @throws SessionError when ssh cannot say.
 */
export async function resolveRoute(destination: Destination, signal: AbortSignal, depth = 0): Promise<Route> {
  const result = await runSsh(['-G', ...destinationArguments(destination)], signal);
  if (result.code !== 0) throw configurationError(destination, result.stderr);
  const config = parseConfig(result.stdout);
  const value = (keyword: string) => config.get(keyword)?.[0];

  const via = await resolveJump(destination, value('proxyjump'), signal, depth);
  const hostname = value('hostname') ?? destination.name;
  const user = value('user') ?? '';
  const port = Number(value('port') ?? 22);
  const way = via === undefined ? (value('proxycommand') ?? '') : via.identity;
  return {
    destination,
    hostname,
    user,
    port,
    via,
    controlPath: present(value('controlpath')),
    identity: JSON.stringify([user, hostname, port, way]),
    config,
  };
}

/** The last jump is reached through those before it; a single one as its own configuration says. That is what ssh does. */
async function resolveJump(
  destination: Destination,
  proxyJump: string | undefined,
  signal: AbortSignal,
  depth: number,
): Promise<Route | undefined> {
  const jumps = present(proxyJump)?.split(',') ?? [];
  const last = jumps.at(-1);
  if (last === undefined) return undefined;
  if (depth >= MOST_JUMPS) {
    throw new SessionError(
      'unreachable',
      destination.label,
      `cannot reach ${destination.label}: its ProxyJump leads in a circle`,
    );
  }
  return resolveRoute(jumpDestination(last, jumps.slice(0, -1), destination.configFile), signal, depth + 1);
}

function parseConfig(text: string): Map<string, string[]> {
  const config = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const space = line.indexOf(' ');
    if (space <= 0) continue;
    const keyword = line.slice(0, space).toLowerCase();
    config.set(keyword, [...(config.get(keyword) ?? []), line.slice(space + 1)]);
  }
  return config;
}

function present(value: string | undefined): string | undefined {
  return value === undefined || value === 'none' || value === '' ? undefined : value;
}

function configurationError(destination: Destination, stderr: string): SessionError {
  const { label } = destination;
  const reason = printable(stderr.trim().split('\n')[0] ?? '') || 'ssh refuses its configuration';
  return new SessionError(
    'unreachable',
    label,
    `cannot reach ${label}: ${reason} (${checkCommand(destination)} to check)`,
  );
}
