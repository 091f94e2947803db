// SPDX-License-Identifier: Apache-2.0
// A file from h1 to h2, ordered from this machine: rsync and rdpipe, from their start to their end.
import { addressOf } from '../../lab/network.ts';
import type { Case } from '../case.ts';
import { ofLast, ofTime, reportIn, type Transport } from '../readings.ts';
import { SOURCE, SSH_KEY, TARGET } from './files.ts';
import { rdpipe } from './rdpipe.ts';
import type { Setup } from './setup.ts';

export function copyCases(setup: Setup): readonly [Case, ...Case[]] {
  return [rsync(setup), withRdpipe(setup, 'rdma'), withRdpipe(setup, 'tcp')];
}

/** h1 logs in to h2 by itself. */
function rsync({ sshConfig }: Setup): Case {
  const known = '-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR';
  const copy = `rsync --whole-file -e "ssh -i ${SSH_KEY} ${known}" ${SOURCE} ${addressOf(2)}:${TARGET}`;
  return timed('`rsync` over ssh', `ssh -F ${sshConfig} h1 '${copy}'`, ofLast(ofTime));
}

function withRdpipe(setup: Setup, transport: Transport): Case {
  const command = rdpipe(setup, `--transport ${transport} --json h1:'< ${SOURCE}' h2:'> ${TARGET}'`);
  const read = ofLast((said) => {
    reportIn(said, transport);
    return ofTime(said);
  });
  return timed(`\`rdpipe\` over ${transport.toUpperCase()}`, command, read);
}

function timed(name: string, command: string, read: Case['read']): Case {
  return { name, parts: [{ on: 'here', command: `TIMEFORMAT=%R; time ${command}` }], read, watched: 'all along' };
}
