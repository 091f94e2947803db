// SPDX-License-Identifier: Apache-2.0
// What a run starts and loads: what it does not need is not there. Counts, for times are the benchmark's; what a host starts before
// its agent is counted in the unit tests of the script.
import { join } from 'node:path';
import { expect } from 'chai';
import { useLab } from '../support/lab.ts';
import { succeeded } from '../support/shell.ts';

const LOADED = join(import.meta.dirname, 'print-loaded.cjs');

describe('the start of a run', () => {
  const lab = useLab();
  const lines = async (name: string): Promise<string[]> => (await lab.read(name)).toString().trimEnd().split('\n');

  it('takes three ssh a host: its configuration, its connection, its channel', async () => {
    succeeded(await lab.sh('rdpipe h1:cat h2:cat'), ''); // copies the programs
    await lab.write('ssh', Buffer.from('#!/bin/sh\necho "$*" >>calls\nPATH=${PATH#*:} exec ssh "$@"\n'));
    succeeded(await lab.sh('chmod 755 ssh; echo hi | PATH=$PWD:$PATH rdpipe h1:cat h2:cat'), 'hi\n');
    const calls = await lines('calls');
    expect(calls).to.have.lengthOf(6);
    for (const kind of [/^-G /, /^-M -N /, /^-S .* sh$/]) {
      expect(calls.filter((call) => kind.test(call))).to.have.lengthOf(2);
    }
  });

  it('loads one file of its own, as V8 compiled it when it was built', async () => {
    succeeded(await lab.sh('echo hi | rdpipe h1:cat h2:cat'), 'hi\n');
    const options = `NODE_OPTIONS='--require ${LOADED}'`;
    succeeded(await lab.sh(`echo hi | ${options} rdpipe h1:cat h2:cat`), 'hi\n');
    expect(await lines('loaded')).to.deep.equal(['rdpipe.cjs', 'program.cjs: compiled before']);
  });

  it('gives what it starts the certificates that it keeps from node', async () => {
    const result = await lab.sh("NODE_EXTRA_CA_CERTS=/none rdpipe ':echo $NODE_EXTRA_CA_CERTS $RDPIPE_EXTRA_CA_CERTS'");
    succeeded(result, '/none\n');
    expect(result.stderr).to.equal('');
  });
});
