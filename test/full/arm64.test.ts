// SPDX-License-Identifier: Apache-2.0
// Hosts with two CPU types in one run: each gets its own programs,
// and streams and copies pass between them.
import { join } from 'node:path';
import { expect } from 'chai';
import type { Examination } from '../../packages/rdpipe/src/model/examination.ts';
import { useArm64Host } from '../support/arm64-host.ts';
import { useArm64Programs } from '../support/emulation.ts';
import { eventually } from '../support/eventually.ts';
import { jsonObject } from '../support/json-output.ts';
import { expectCopy } from '../support/judge.ts';
import { useLab } from '../support/lab.ts';
import { succeeded } from '../support/shell.ts';
import { makeTree } from '../support/tree-fixtures.ts';

describe('a host with an arm64 CPU', () => {
  useArm64Programs('all');
  const arm = useArm64Host('arm');
  const lab = useLab({ hosts: [arm.spec] });

  it('gets the programs for its CPU, and its stage joins one of another', async () => {
    succeeded(await lab.sh("echo hi | rdpipe h1:'tr a-z A-Z' arm:rev"), 'IH\n');
    succeeded(await lab.sh("rdpipe arm:'uname -m' h1:'cat; uname -m'"), 'aarch64\nx86_64\n');
  });

  for (const encrypt of ['always', 'auth', 'never'])
    it(`carries a stream there and back, --encrypt ${encrypt}`, async () => {
      const { status, text, stderr } = await lab.sh(`head -c 30000000 /dev/urandom > random
        rdpipe --encrypt ${encrypt} h1:"cat '$PWD/random'" arm:'tee /root/copy' h2:"cat > '$PWD/back'" && cmp random back
        rdpipe --compress zstd --encrypt ${encrypt} arm:'cat /root/copy' h1:"cmp - '$PWD/random'" && echo same`);
      expect({ status, text, stderr }).to.deep.equal({ status: 0, text: 'same\n', stderr: '' });
    });

  it('keeps everything in a tree that is copied there and back', async () => {
    const tree = join(lab.directory, 'tree');
    makeTree(tree);
    succeeded(await lab.sh('rdcp -aAX h1:"$PWD/tree/" arm:/root/tree'), '');
    expectCopy(tree, arm.path('root/tree'));
    succeeded(await lab.sh('rdcp -aAX arm:/root/tree/ h2:"$PWD/back"'), '');
    expectCopy(tree, join(lab.directory, 'back'));
  });

  it('has no problems for doctor', async () => {
    const { text, stderr } = await lab.sh('rdpipe doctor --json --transport tcp arm h1');
    const { hosts } = jsonObject<Examination>(text, 'doctor');
    const findings = hosts.find(({ host }) => host === 'arm')?.checks ?? [];
    expect(
      findings.filter(({ result }) => result !== 'ok'),
      stderr,
    ).to.deep.equal([]);
    expect(JSON.stringify(findings)).to.include('Linux aarch64');
  });

  it('keeps no process of a run that was killed', async () => {
    const run = lab.start("exec rdpipe h1:'yes' arm:'sleep 1000 & tee /dev/null >/dev/null' h2:cat", { stdin: 'open' });
    await eventually(() =>
      expect(lab.processes().filter(({ command }) => / sleep 1000/.test(command))).not.to.deep.equal([]),
    );
    run.kill('SIGKILL');
    await run.result;
    await lab.expectNothingLeft();
  });
});
