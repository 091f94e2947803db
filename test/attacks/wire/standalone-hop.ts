// SPDX-License-Identifier: Apache-2.0
// A standalone hop with a relay on the path between its ends: rdsend dials the relay.
import { join } from 'node:path';
import { execaSync } from 'execa';
import { type Bench, BIN, type Ended, KEY } from '../../support/programs.ts';
import { expiring, NEVER } from '../../support/run-limits.ts';
import { type Meddler, Relay } from './relay.ts';

/** The values of `--encrypt`. On loopback `auto` leaves the payload unencrypted. */
export type Encryption = 'never' | 'auto' | 'auth' | 'always';
export const ENCRYPTIONS: readonly Encryption[] = ['never', 'auto', 'auth', 'always'];

export interface HandHop {
  readonly encrypt: Encryption;
  readonly source: string;
  /** Default: standard output. */
  readonly sink?: string;
  /** The receiver soon gives up a sender that does not reconnect. */
  readonly soonLost?: boolean;
  /** One meddler for all connections of the hop. */
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

/** Returns why the rdsend and rdrecv under test do not support this encryption; undefined if they do. */
export function lacksEncryption(encrypt: Encryption): string | undefined {
  const help = execaSync(join(BIN, 'rdsend'), ['--help']).stdout;
  return new RegExp(`\\b${encrypt}\\b`).test(help) ? undefined : `these programs have no --encrypt ${encrypt}`;
}
