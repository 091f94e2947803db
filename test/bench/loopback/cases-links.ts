// SPDX-License-Identifier: Apache-2.0
// Links slower than the processors: a chain of hosts compared with one hop, and two networks with one.

import { receiverAt } from '../../support/rails.ts';
import { type Build, rdrecv, rdsend } from '../by-hand.ts';
import { type Case, type Goal, MIB } from '../case.ts';
import { program } from '../programs/programs.ts';
import { ofDrain, ofLast, ofRdpipe } from '../readings.ts';
import type { Setup } from './setup.ts';

export const CHAIN_MBIT = 400;
export const RAIL_MBIT = 200;
const PART_OF_MIB = 4;

export interface LinksCases {
  readonly hop: Case;
  readonly chain: Case;
  readonly rail: Case;
  readonly rails: Case;
}

export function linksCases({ mib, builds: [build] }: Setup): LinksCases {
  if (build === undefined) throw new Error('there is no build to measure');
  const bytes = Math.ceil(mib / PART_OF_MIB) * MIB;
  const hop = overSwitch('one hop', 'h2:> /dev/null', bytes);
  const rail = overRails(build, 'one network', receiverAt(0), 1, bytes);
  const addresses = `${receiverAt(0)},${receiverAt(1)}`;
  return {
    hop,
    chain: { ...overSwitch('a chain of two hops', 'h[2-3]:> /dev/null', bytes), goals: [ofBase(hop, 0.95)] },
    rail,
    rails: { ...overRails(build, 'two networks', addresses, 2, bytes), goals: [ofBase(rail, 1.9)] },
  };
}

function ofBase(base: Case, value: number): Goal {
  return { figure: 'mb_per_s', base, bound: 'at least', value };
}

function overSwitch(name: string, to: string, bytes: number): Case {
  const from = `h1:head -c ${bytes} /dev/zero`;
  const command = `$AT_SWITCH rdpipe -F "$SWITCHED_CONFIG" --json --encrypt always "${from}" "${to}"`;
  return {
    name: `${name}, links of ${CHAIN_MBIT} Mbit/s`,
    parts: [{ on: 'here', command }],
    bytes,
    linkMbit: CHAIN_MBIT,
    read: ofLast((said) => ofRdpipe(said, 'tcp', bytes)),
  };
}

function overRails({ programs }: Build, name: string, address: string, streams: number, bytes: number): Case {
  const options = `--transport tcp --encrypt always --streams ${streams}`;
  const ends = { programs, key: '"$KEY"', address, port: '"$PORT"', options };
  const listens = { transport: 'tcp', port: 'PORT', through: '$RAILS_RECEIVER' } as const;
  return {
    name: `${name} of ${RAIL_MBIT} Mbit/s`,
    parts: [
      { on: 'here', command: `$RAILS_RECEIVER ${rdrecv(ends)} | ${program('drain')}`, listens },
      { on: 'here', command: `head -c ${bytes} /dev/zero | $RAILS_SENDER ${rdsend(ends)}` },
    ],
    bytes,
    linkMbit: RAIL_MBIT,
    read: ([said = '']) => ofDrain(said, bytes),
  };
}
