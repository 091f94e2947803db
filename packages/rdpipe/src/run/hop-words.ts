import { HopError } from '../model/errors.ts';
import type { DialAddress, HopLink, SessionId } from '../model/plan.ts';
import { candidateWords } from '../plan/describe.ts';
import { LOCAL } from '../plan/facts.ts';
import type { HopConnection, Refusal, Try } from './connect-hops.ts';

type Label = (session: SessionId) => string;

/** Why a hop could not be made, and what may help. */
export function notConnected(hop: HopLink, tries: readonly Try[], label: Label, seconds: number): HopError {
  const refused = refusals(tries, `no answer within ${seconds} s`);
  const code = tries.some((way) => way.refusal?.code === 'key_refused') ? 'key_refused' : 'cannot_connect';
  const advice = [
    '--data HOST=ADDR names another address, --port ports that a firewall lets through',
    `rdpipe doctor ${[hop.from, hop.to].map((session) => (session === LOCAL ? ':' : label(session))).join(' ')} looks closer`,
  ].join('; ');
  return new HopError(code, `cannot connect ${label(hop.from)} to ${label(hop.to)}: ${refused.join('; ')} (${advice})`);
}

/** The way that won, for people: `10.0.0.2:40123, address of ssh`. */
export function wayOf(connection: HopConnection): string {
  const won = winner(connection);
  if (won === undefined) return 'unknown';
  return won.candidate.way === 'forward' ? won.candidate.why : `${targetOf(won)}, ${candidateWords(won.candidate)}`;
}

/** What the report says of a hop beside its numbers: ways that did not do, and a detour through ssh. */
export function notesOf(connection: HopConnection): string[] {
  const won = winner(connection);
  const before = connection.tries.slice(0, won === undefined ? 0 : connection.tries.indexOf(won));
  const failed = refusals(before, 'no answer');
  if (won?.candidate.way === 'forward') return [...failed, won.candidate.why];
  return failed.length === 0 ? [] : [...failed, `connected by ${wayOf(connection)}`];
}

/** What became of ways that did not do, in order; those that one message refused are told of together. */
function refusals(tries: readonly Try[], silence: string): string[] {
  const groups = new Map<Refusal | Try, Try[]>();
  for (const way of tries) {
    const key = way.refusal ?? way;
    groups.set(key, [...(groups.get(key) ?? []), way]);
  }
  return [...groups.values()].map((ways) => {
    const [first] = ways as [Try];
    const message = first.refusal?.message ?? `${targetOf(first)}: ${silence}`;
    return `${message} (${ways.map(({ candidate }) => candidateWords(candidate)).join('; ')})`;
  });
}

function winner({ tries, ends }: HopConnection): Try | undefined {
  const { transport } = ends.send;
  const dialled = tries.filter(({ address, candidate }) => address !== undefined && candidate.transport === transport);
  return dialled.find((way) => isPeer(way, ends)) ?? dialled.at(-1);
}

function targetOf({ address, candidate }: Try): string {
  return address === undefined ? candidate.host : addressText(address);
}

function isPeer({ address, candidate }: Try, ends: HopConnection['ends']): boolean {
  const dialler = candidate.dialler === 'sender' ? ends.send : ends.recv;
  return address !== undefined && dialler.peer === addressText(address);
}

/** As the native programs write addresses. */
function addressText(address: DialAddress): string {
  if ('unix' in address) return address.unix;
  return address.host.includes(':') ? `[${address.host}]:${address.port}` : `${address.host}:${address.port}`;
}
