// SPDX-License-Identifier: Apache-2.0
// rdpipe over one hop, over a chain of three hosts, and over two networks.

import { addressOf } from '../../lab/network.ts';
import { secondAddressOf } from '../../lab/second-network.ts';
import { type Case, type Goal, MIB } from '../case.ts';
import { noted } from '../processors.ts';
import { ofLast, ofRdpipe } from '../readings.ts';
import { SOURCE } from './files.ts';
import { rdpipe } from './rdpipe.ts';
import type { Setup } from './setup.ts';

const LINK_MBIT = 20;
const PART_OF_MIB = 2;
/** soft-RoCE sends no more than 128 packets that are not acknowledged over each of these. */
const QUEUE_PAIRS = '--streams 2';

/** Links slower than what the emulated processors can do, and so less data. */
export function linkCases(setup: Setup): readonly [Case, ...Case[]] {
  const less = { ...setup, mib: Math.ceil(setup.mib / PART_OF_MIB) };
  const hop = hopCase(less);
  const oneHop = slow(hop, `links of ${LINK_MBIT} Mbit/s`);
  const atLeast = (value: number): Goal => ({ figure: 'mb_per_s', base: oneHop, bound: 'at least', value });
  const two = slow(chainCase(less, QUEUE_PAIRS), 'two queue pairs each');
  const rails = hopCase(less, `--data h2=${addressOf(2)},${secondAddressOf('h2')}`);
  return [
    oneHop,
    slow(chainCase(less), 'one queue pair each'),
    { ...two, goals: [atLeast(0.95)] },
    { ...slow(rails, 'two networks'), goals: [atLeast(1.9)] },
  ];
}

function slow(one: Case, words: string): Case {
  return { ...one, name: `${one.name}, ${words}`, linkMbit: LINK_MBIT };
}

export function hopCases(setup: Setup): readonly [Case, Case] {
  const oneHop = hopCase(setup);
  const limit = { value: 0.58, by: 'the processor of h2' };
  const goal: Goal = { figure: 'mb_per_s', base: oneHop, bound: 'at least', value: 0.85, limit };
  return [oneHop, { ...chainCase(setup), goals: [goal] }];
}

function hopCase(setup: Setup, options = ''): Case {
  return run('`rdpipe` over RDMA, one hop', setup, `${options} ${sourceOf(setup)} h2:'${LAST}'`);
}

function chainCase(setup: Setup, options = ''): Case {
  const stages = `${options} ${sourceOf(setup)} h2:'${noted('cat')}' h3:'${LAST}'`;
  return run('`rdpipe` over RDMA, chain of three hosts', setup, stages);
}

const LAST = noted('cat > /dev/null');

function sourceOf({ mib }: Setup): string {
  return `h1:'${noted(`head -c ${mib}M ${SOURCE}`)}'`;
}

function run(name: string, setup: Setup, words: string): Case {
  const command = rdpipe(setup, `--transport rdma --json ${words} > /dev/null`);
  return { name, parts: [{ on: 'here', command }], read: ofLast((said) => ofRdpipe(said, 'rdma', setup.mib * MIB)) };
}
