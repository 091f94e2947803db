// SPDX-License-Identifier: Apache-2.0
// Sinks in a shared directory, such as /tmp,
// with any setting of fs.protected_symlinks and similar ones.

import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { needsRoot } from '../support/needs.ts';
import { KEY, PATIENT, useBench } from '../support/programs.ts';

const ANN = 1234;

describe('a sink in a shared directory', () => {
  const bench = useBench(PATIENT);
  const make = (script: string) =>
    void execaSync('sh', ['-ec', `rm -rf all own; mkdir all own; chmod 1777 all; ${script}`], { cwd: bench.directory });

  for (const [what, script, sink, name] of [
    ['a link', 'ln -s ../own/f all/link', 'all/link', 'link'],
    ['a link in the path', 'ln -s ../own all/way', 'all/way/f', 'way'],
    ['a link after a link', 'ln -s ../own/f all/link; ln -s ../all/link own/to', 'own/to', 'link'],
  ] as const)
    it(`${what} of another user is not followed`, async function () {
      needsRoot(this);
      make(`${script}; chown -h ${ANN} all/*`);
      const { status, stderr } = await bench.rdrecv(['0', KEY, sink]).ended;
      expect({ status, stderr }).to.deep.equal({
        status: 7,
        stderr: `rdrecv: cannot write ${sink}: ${name}, in a shared directory, is a link of user ${ANN}: name its target instead\n`,
      });
      expect(existsSync(bench.path('own/f'))).to.equal(false);
    });

  for (const [what, script] of [
    ['file', 'echo old > all/f'],
    ['fifo', 'mkfifo all/f'],
  ] as const)
    it(`a ${what} of another user is not written`, async function () {
      needsRoot(this);
      make(`${script}; chown ${ANN} all/f; chmod 666 all/f`);
      const { status, stderr } = await bench.rdrecv(['0', KEY, 'all/f']).ended;
      expect({ status, stderr }).to.deep.equal({
        status: 7,
        stderr: `rdrecv: cannot write all/f: f, in a shared directory, is a file of user ${ANN}: remove it or choose another name\n`,
      });
    });

  it('own links and files are followed and written', async () => {
    make('ln -s ../own/f all/link; ln -s ../own all/way');
    for (const sink of ['all/link', 'all/way/f', 'all/f', 'all/f']) {
      const { sent, received } = await bench.transfer('/etc/passwd', sink);
      expect([sent.status, received.status]).to.deep.equal([0, 0]);
      expect(readFileSync(bench.path(sink))).to.deep.equal(readFileSync('/etc/passwd'));
    }
  });

  it('a pipe with a path only in the kernel is written', async () => {
    const { status, stdout, stderr } = await bench.bash(
      `exec 3> >(cat); rdrecv ${PATIENT} 0 $0 /dev/fd/3 2> port &
       until port=$(grep -soE '[0-9]+$' port); do sleep 0.01; done
       echo hi | rdsend -q ${PATIENT} 127.0.0.1 $port $0; wait $!`.replaceAll('$0', KEY),
    ).ended;
    expect({ status, stderr, text: stdout.toString() }).to.deep.equal({ status: 0, stderr: '', text: 'hi\n' });
  });
});
