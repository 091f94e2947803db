// SPDX-License-Identifier: Apache-2.0
// Pipelines between hosts, over real OpenSSH servers.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { jsonLines } from '../support/json-output.ts';
import { useLab } from '../support/lab.ts';
import { failed, succeeded } from '../support/shell.ts';

const SHOUT = "'tr a-z A-Z'";

describe('a pipeline over hosts', () => {
  const lab = useLab();

  it('runs two stages on two hosts', async () =>
    succeeded(await lab.sh(`echo hi | rdpipe h1:${SHOUT} h2:rev`), 'IH\n'));

  it('runs one stage', async () => succeeded(await lab.sh(`echo hi | rdpipe h1:${SHOUT}`), 'HI\n'));

  it('runs three stages on three hosts', async () =>
    succeeded(await lab.sh(`echo hi | rdpipe h1:${SHOUT} h2:rev h3:'sed s/^/-/'`), '-IH\n'));

  it('runs six stages', async () => {
    const add = (host: string, letter: string) => `${host}:'sed s/$/${letter}/'`;
    const stages = [add('h1', 'a'), add('h2', 'b'), add('h3', 'c'), add('h1', 'd'), add('h2', 'e'), add('h3', 'f')];
    succeeded(await lab.sh(`echo - | rdpipe ${stages.join(' ')}`), '-abcdef\n');
  });

  it('joins neighbours on one host', async () =>
    succeeded(await lab.sh(`echo hi | rdpipe h1:${SHOUT} h1:rev h1:'sed s/^/-/'`), '-IH\n'));

  it('returns to a host', async () =>
    succeeded(await lab.sh(`echo hi | rdpipe h1:${SHOUT} h2:rev h1:'sed s/^/-/'`), '-IH\n'));

  it('includes this machine', async () =>
    succeeded(await lab.sh(`echo hi | rdpipe :${SHOUT} h2:rev :'sed s/^/-/'`), '-IH\n'));

  it('runs only on this machine', async () => succeeded(await lab.sh(`echo hi | rdpipe :${SHOUT} :rev`), 'IH\n'));

  it('reaches a host through a jump host', async () =>
    succeeded(await lab.sh(`echo hi | rdpipe h1:${SHOUT} behind:rev`), 'IH\n'));

  it('reaches a host by address, user and port', async () =>
    succeeded(
      await lab.sh(
        `echo hi | rdpipe -o Port=${lab.host('h1').port} "$(id -un)"@${lab.host('h1').address}:${SHOUT} :rev`,
      ),
      'IH\n',
    ));

  it('uses its own ssh client', async () =>
    succeeded(await lab.sh(`echo hi | rdpipe --ssh ssh2 h1:${SHOUT} h2:rev`), 'IH\n'));

  it('uses its own ssh client through a jump host', async () =>
    succeeded(await lab.sh(`echo hi | rdpipe --ssh ssh2 h1:${SHOUT} behind:rev`), 'IH\n'));

  for (const encrypt of ['always', 'never', 'auto']) {
    it(`runs with --encrypt ${encrypt}`, async () =>
      succeeded(await lab.sh(`echo hi | rdpipe --encrypt ${encrypt} h1:${SHOUT} h2:rev`), 'IH\n'));
  }

  it('runs over TCP if requested, without ever sleeping', async () =>
    succeeded(await lab.sh(`echo hi | rdpipe --transport tcp --poll h1:${SHOUT} h2:rev`), 'IH\n'));

  it('never falls back from --transport rdma, and starts nothing', async () => {
    const result = await lab.sh(`rdpipe --transport rdma --stdin none h1:"touch $PWD/ran" h2:'cat > /dev/null'`);
    failed(result, 125, /^rdpipe: cannot use RDMA from h1 to h2: h1 and h2 are the same machine .*--transport auto/);
    expect(await lab.list()).not.to.include('ran');
  });

  it('copies its own version next to another one, and both continue to work', async () => {
    const copied = async (line: string): Promise<number> => {
      const { status, stderr, text } = await lab.sh(line);
      expect({ status, text }, stderr).to.deep.equal({ status: 0, text: 'hi\n' });
      return jsonLines(stderr, 'run').filter(({ kind, copied }) => kind === 'deploying' && copied === 0).length;
    };
    const newer = 'RDPIPE_NATIVE_DIR=$PWD/native';
    // A clock of files moves every few milliseconds: the changed program must be newer than the list of digests.
    await lab.sh(`cp -R "$(dirname "$(command -v rdstage)")/../build/rdpipe/native" . &&
      cd "native/linux-$(uname -m)/static" && echo >>rdtree && touch -d 1970-01-02 sha256sums`);
    expect(await copied(`${newer} rdpipe --json h2:'echo hi'`)).to.equal(1);
    expect(await copied("rdpipe --json h2:'echo hi'")).to.equal(0);
    expect(await copied(`${newer} rdpipe --json h2:'echo hi'`)).to.equal(0);
    expect(readdirSync(join(lab.host('h2').home, '.cache/rdpipe'))).to.have.lengthOf(2);
  });

  it('refuses an agent of another version, and says what to do', async () => {
    await lab.write('agent', Buffer.from('#!/bin/sh\necho "rdstage/2 $3 {}"\nexec cat\n'));
    const why =
      /^rdpipe: the agent on h2 has a different version: protocol 2; this rdpipe has 1 \(install the same version of rdpipe there\)$/m;
    failed(await lab.sh('chmod 755 agent; rdpipe --agent $PWD/agent h2:true'), 125, why);
  });

  it('uses only the given ports', async () => {
    const result = await lab.sh(`echo hi | rdpipe -p 22300-22320 --json h1:${SHOUT} h2:rev`);
    succeeded({ ...result, stderr: '' }, 'IH\n');
  });
});
