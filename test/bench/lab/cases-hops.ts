// SPDX-License-Identifier: Apache-2.0
// rdpipe over one hop, and over a chain of three hosts.
import { type Case, type Goal, MIB } from '../case.ts';
import { noted } from '../processors.ts';
import { ofLast, ofRdpipe } from '../readings.ts';
import { SOURCE } from './files.ts';
import { rdpipe } from './rdpipe.ts';
import type { Setup } from './setup.ts';

const LINK_MBIT = 20;
const PART_OF_MIB = 8;

/** Links slower than what the emulated processors can do, and so less data. */
export function linkCases(setup: Setup): readonly [Case, Case] {
  const [hop, chain] = hopCases({ ...setup, mib: Math.ceil(setup.mib / PART_OF_MIB) });
  const named = (one: Case): Case => {
    return { ...one, name: `${one.name}, links of ${LINK_MBIT} Mbit/s`, linkMbit: LINK_MBIT };
  };
  const oneHop = named(hop);
  const goal: Goal = { figure: 'mb_per_s', base: oneHop, bound: 'at least', value: 0.95 };
  return [oneHop, { ...named(chain), goals: [goal] }];
}

export function hopCases(setup: Setup): readonly [Case, Case] {
  const first = `h1:'${noted(`head -c ${setup.mib}M ${SOURCE}`)}'`;
  const last = noted('cat > /dev/null');
  const oneHop = run('`rdpipe` over RDMA, one hop', setup, `${first} h2:'${last}'`);
  const limit = { value: 0.58, by: 'the processor of h2' };
  const goal: Goal = { figure: 'mb_per_s', base: oneHop, bound: 'at least', value: 0.85, limit };
  const chain = run('`rdpipe` over RDMA, chain of three hosts', setup, `${first} h2:'${noted('cat')}' h3:'${last}'`);
  return [oneHop, { ...chain, goals: [goal] }];
}

function run(name: string, setup: Setup, stages: string): Case {
  const command = rdpipe(setup, `--transport rdma --json ${stages} > /dev/null`);
  return { name, parts: [{ on: 'here', command }], read: ofLast((said) => ofRdpipe(said, 'rdma', setup.mib * MIB)) };
}
