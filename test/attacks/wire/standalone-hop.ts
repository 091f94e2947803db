// SPDX-License-Identifier: Apache-2.0
// A standalone hop with a relay on the path between its ends: rdsend dials the relay.
import { join } from 'node:path';
import { execaSync } from 'execa';
import { type Bench, BIN, type Ended, KEY } from '../../support/programs.ts';
import { expiring, NEVER } from '../../support/run-limits.ts';
import { type Meddler, Relay } from './relay.ts';

/** As `--encrypt` has it. On loopback `auto` leaves the payload in clear. */
export type Encryption = 'never' | 'auto' | 'auth' | 'always';
export const ENCRYPTIONS: readonly Encryption[] = ['never', 'auto', 'auth', 'always'];

export interface HandHop {
  readonly encrypt: Encryption;
  readonly source: string;
  /** Default: standard output. */
  readonly sink?: string;
  /** The receiver gives up a sender that does not come back. */
  readonly soonLost?: boolean;
  /** The same for all connections of the hop. */
  readonly meddler: (relay: Relay) => Meddler;
}

export async function endsOf(
  bench: Bench,
  { encrypt, source, sink, soonLost = false, meddler }: HandHop,
): Promise<{ readonly sender: Ended; readonly receiver: Ended; readonly relay: Relay }> {
  const stall = soonLost ? expiring(2) : NEVER.stall;
  const options = ['--encrypt', encrypt, '--transport', 'tcp', '--buffer', '64KiB', '--stall-timeout', `${stall}`];
  const receiver = bench.rdrecv([...options, '0', KEY, ...(sink === undefined ? [] : [sink])]);
  const relay = await Relay.before(await receiver.port());
  relay.meddle(meddler(relay));
  const sender = bench.rdsend([...options, '127.0.0.1', `${relay.port}`, KEY, source]);
  const [sent, received] = await Promise.all([sender.ended, receiver.ended]);
  relay.close();
  return { sender: sent, receiver: received, relay };
}

/** Why rdsend and rdrecv as they are here cannot do it; undefined: they can. */
export function lacksEncryption(encrypt: Encryption): string | undefined {
  const help = execaSync(join(BIN, 'rdsend'), ['--help']).stdout;
  return new RegExp(`\\b${encrypt}\\b`).test(help) ? undefined : `these programs have no --encrypt ${encrypt}`;
}
