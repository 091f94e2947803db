import { HopError } from '../model/errors.ts';
import type { DialAddress, HopLink, SessionId } from '../model/plan.ts';
import type { HopConnection, Try } from './connect-hops.ts';

type Label = (session: SessionId) => string;

/** Why a hop could not be made, and what may help. */
export function notConnected(hop: HopLink, tries: readonly Try[], label: Label, seconds: number): HopError {
  const refused = tries.map((way) => refusalOf(way) ?? `${targetOf(way)}: no answer within ${seconds} s`);
  const code = tries.some((way) => way.refusal?.code === 'key_refused') ? 'key_refused' : 'cannot_connect';
  const advice = `--data HOST=ADDR names another address, --port ports that a firewall lets through`;
  return new HopError(code, `cannot connect ${label(hop.from)} to ${label(hop.to)}: ${refused.join('; ')} (${advice})`);
}

/** The way that won, for people: `10.0.0.2:40123, address of ssh`. */
export function wayOf(connection: HopConnection): string {
  const won = winner(connection);
  if (won === undefined) return 'unknown';
  return won.candidate.way === 'forward' ? won.candidate.why : `${targetOf(won)}, ${won.candidate.why}`;
}

/** What the report says of a hop beside its numbers: ways that did not do, and a detour through ssh. */
export function notesOf(connection: HopConnection): string[] {
  const won = winner(connection);
  const before = connection.tries.slice(0, won === undefined ? 0 : connection.tries.indexOf(won));
  const failed = before.map((way) => refusalOf(way) ?? `${targetOf(way)}: no answer (${way.candidate.why})`);
  if (won?.candidate.way === 'forward') return [...failed, won.candidate.why];
  return failed.length === 0 ? [] : [...failed, `connected by ${wayOf(connection)}`];
}

function winner({ tries, ends }: HopConnection): Try | undefined {
  const dialled = tries.filter((way) => way.address !== undefined);
  return dialled.find((way) => isPeer(way, ends)) ?? dialled.at(-1);
}

function refusalOf({ candidate, refusal, address }: Try): string | undefined {
  if (refusal === undefined) return undefined;
  const where = address === undefined ? `${candidate.host}: ` : '';
  return `${where}${refusal.message} (${candidate.why})`;
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
