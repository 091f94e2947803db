// SPDX-License-Identifier: Apache-2.0
// rdpipe over one hop, and over a chain of three hosts.
import { type Case, type Goal, MIB, type Setup, SOURCE } from './case.ts';
import { noted } from './processors.ts';
import { rdpipe } from './rdpipe.ts';
import { ofRdpipe } from './readings.ts';

export const ONE_HOP = '`rdpipe` over RDMA, one hop';

export function hopCases(setup: Setup): readonly Case[] {
  const first = `h1:'${noted(`cat ${SOURCE}`)}'`;
  const last = noted('cat > /dev/null');
  const goal: Goal = { figure: 'mb_per_s', base: ONE_HOP, bound: 'at least', ratio: 0.85 };
  return [
    run(ONE_HOP, setup, `${first} h2:'${last}'`),
    { ...run('`rdpipe` over RDMA, chain of three hosts', setup, `${first} h2:'${noted('cat')}' h3:'${last}'`), goal },
  ];
}

function run(name: string, setup: Setup, stages: string): Case {
  const command = rdpipe(setup, `--transport rdma --json ${stages} > /dev/null`);
  const read = (said: string) => ofRdpipe(said, 'rdma', setup.mib * MIB);
  return { name, parts: [{ on: 'here', command }], read, watched: 'as noted' };
}
