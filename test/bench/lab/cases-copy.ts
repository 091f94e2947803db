// SPDX-License-Identifier: Apache-2.0
// Copies a file from h1 to h2, started on this machine: rsync, rcopy and rdpipe, from start to end.
import { addressOf } from '../../lab/network.ts';
import type { Case } from '../case.ts';
import { ofLast, ofTime, reportIn, type Transport } from '../readings.ts';
import { SOURCE, SSH_KEY, TARGET } from './files.ts';
import { rdpipe } from './rdpipe.ts';
import type { Setup } from './setup.ts';

const RCOPY_PORT = 7473;

export function copyCases(setup: Setup): readonly [Case, ...Case[]] {
  return [rsync(setup), rcopy(setup), withRdpipe(setup, 'rdma'), withRdpipe(setup, 'tcp')];
}

/** h1 logs in to h2 on its own. */
function rsync({ sshConfig }: Setup): Case {
  const known = '-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR';
  const copy = `rsync --whole-file -e "ssh -i ${SSH_KEY} ${known}" ${SOURCE} ${addressOf(2)}:${TARGET}`;
  return timed('`rsync` over ssh', `ssh -F ${sshConfig} h1 '${copy}'`, ofLast(ofTime));
}

/** The server on h2 never ends on its own; it is killed when the copy is complete. */
function rcopy({ sshConfig }: Setup): Case {
  const copied = '/dev/shm/copied';
  const until = `until test -e ${copied}; do sleep 0.1; done; kill $server; wait $server; rm ${copied}`;
  const server = `rcopy -p ${RCOPY_PORT} & server=$!; ${until}`;
  const copy = `ssh -F ${sshConfig} h1 'rcopy ${SOURCE} ${addressOf(2)}:${TARGET} -p ${RCOPY_PORT}'`;
  const check = `ssh -F ${sshConfig} h2 'test "$(stat -c %s ${TARGET})" = '"$(ssh -F ${sshConfig} h1 stat -c %s ${SOURCE})"`;
  const client = timed('`rcopy`', copy, ofLast(ofTime));
  const parts = client.parts.map(({ on, command }) => ({
    on,
    command: `${command}; ended=$?; ssh -F ${sshConfig} h2 touch ${copied}; test $ended = 0 && ${check}`,
  }));
  const listens = { transport: 'rdma', port: RCOPY_PORT } as const;
  return { ...client, parts: [{ on: 'h2', command: server, listens }, ...parts] };
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
