/** The messages about connecting a hop: why it failed, or which candidate succeeded. Pure. */
import { HopError } from '../model/errors.ts';
import type { DialAddress, HopLink, SessionId } from '../model/plan.ts';
import { candidateWords } from '../plan/describe.ts';
import { LOCAL } from '../plan/facts.ts';
import type { Attempt, HopConnection, Refusal } from './hop-connection.ts';

type Label = (session: SessionId) => string;

/** Returns the error of a hop that could not be connected, with advice. */
export function notConnected(hop: HopLink, attempts: readonly Attempt[], label: Label, seconds: number): HopError {
  const refused = refusals(attempts, `no answer within ${seconds} s`);
  const code = attempts.some((attempt) => attempt.refusal?.code === 'key_refused') ? 'key_refused' : 'cannot_connect';
  const ends = `${label(hop.from)} and ${label(hop.to)}`;
  const isRelayed = attempts.some(({ candidate }) => candidate.way === 'relay');
  const advice = [
    ...(isRelayed ? [`a relay needs AllowTcpForwarding yes and no PermitOpen in sshd_config on ${ends}`] : []),
    'try another address with --data HOST=ADDR, or ports that the firewall allows with --port',
    `to diagnose: rdpipe doctor ${[hop.from, hop.to].map((session) => (session === LOCAL ? ':' : label(session))).join(' ')}`,
  ].join('; ');
  return new HopError(code, `cannot connect ${label(hop.from)} to ${label(hop.to)}: ${refused.join('; ')} (${advice})`);
}

/** Returns the candidate that connected, for people: `10.0.0.2:40123, ssh address`. */
export function connectedBy(connection: HopConnection): string {
  const won = winner(connection);
  if (won === undefined) return 'unknown';
  return won.candidate.way !== 'address' ? won.candidate.why : `${targetOf(won)}, ${candidateWords(won.candidate)}`;
}

/** Returns the report's notes about a hop: candidates that failed, and a detour through ssh. */
export function notesOf(connection: HopConnection): string[] {
  const won = winner(connection);
  const before = connection.attempts.slice(0, won === undefined ? 0 : connection.attempts.indexOf(won));
  const failed = refusals(before, 'no answer');
  if (won !== undefined && won.candidate.way !== 'address') return [...failed, won.candidate.why];
  return failed.length === 0 ? [] : [...failed, `connected by ${connectedBy(connection)}`];
}

/** Returns a warning if the data of a hop takes a path that the user would not expect; otherwise undefined. */
export function relayWarning(connection: HopConnection, label: Label): string | undefined {
  const { hop } = connection;
  if (winner(connection)?.candidate.way !== 'relay') return undefined;
  const names = `${label(hop.from)}→${label(hop.to)}`;
  return `${names} relayed over ssh through this machine: there is no direct path (use --relay never to fail instead)`;
}

/** Returns the messages of failed candidates, in order. Candidates that were refused together share a message. */
function refusals(attempts: readonly Attempt[], silence: string): string[] {
  const groups = new Map<Refusal | Attempt, Attempt[]>();
  for (const attempt of attempts) {
    const key = attempt.refusal ?? attempt;
    groups.set(key, [...(groups.get(key) ?? []), attempt]);
  }
  return [...groups.values()].map((alike) => {
    const [first] = alike as [Attempt];
    const message = first.refusal?.message ?? `${targetOf(first)}: ${silence}`;
    return `${message} (${alike.map(({ candidate }) => candidateWords(candidate)).join('; ')})`;
  });
}

/** Returns the candidate that connected a hop; undefined if it is unknown. */
export function winner({ attempts, ends }: HopConnection): Attempt | undefined {
  const { transport } = ends.send;
  const dialled = attempts.filter(
    ({ address, candidate }) => address !== undefined && candidate.transport === transport,
  );
  return dialled.find((attempt) => isPeer(attempt, ends)) ?? dialled.at(-1);
}

function targetOf({ address, candidate }: Attempt): string {
  return address === undefined ? candidate.host : formatAddress(address);
}

function isPeer({ address, candidate }: Attempt, ends: HopConnection['ends']): boolean {
  const dialer = candidate.dialer === 'sender' ? ends.send : ends.recv;
  return address !== undefined && dialer.peer === formatAddress(address);
}

/** Formats addresses as the native programs do. */
function formatAddress(address: DialAddress): string {
  if ('unix' in address) return address.unix;
  return address.host.includes(':') ? `[${address.host}]:${address.port}` : `${address.host}:${address.port}`;
}
