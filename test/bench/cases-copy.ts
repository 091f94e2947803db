// SPDX-License-Identifier: Apache-2.0
// A file from h1 to h2, ordered from this machine: rsync and rdpipe, from their start to their end.
import { addressOf } from '../lab/network.ts';
import { type Case, type Setup, SOURCE, SSH_KEY, TARGET } from './case.ts';
import { rdpipe } from './rdpipe.ts';
import { ofTime, reportIn, type Transport } from './readings.ts';

export const RSYNC = '`rsync` over ssh';

export function copyCases(setup: Setup): readonly Case[] {
  return [rsync(setup), withRdpipe(setup, 'rdma'), withRdpipe(setup, 'tcp')];
}

/** h1 logs in to h2 by itself. */
function rsync({ sshConfig }: Setup): Case {
  const known = '-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR';
  const copy = `rsync --whole-file -e "ssh -i ${SSH_KEY} ${known}" ${SOURCE} ${addressOf(2)}:${TARGET}`;
  return timed(RSYNC, `ssh -F ${sshConfig} h1 '${copy}'`, ofTime);
}

function withRdpipe(setup: Setup, transport: Transport): Case {
  const command = rdpipe(setup, `--transport ${transport} --json h1:'< ${SOURCE}' h2:'> ${TARGET}'`);
  return timed(`\`rdpipe\` over ${transport.toUpperCase()}`, command, (said) => {
    const [report = '', time = ''] = [said.slice(0, said.lastIndexOf('}') + 1), said.slice(said.lastIndexOf('}') + 1)];
    reportIn(report, transport);
    return ofTime(time);
  });
}

function timed(name: string, command: string, read: Case['read']): Case {
  return { name, parts: [{ on: 'here', command: `TIMEFORMAT=%R; time ${command}` }], read, watched: 'all along' };
}
