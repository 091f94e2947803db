// SPDX-License-Identifier: Apache-2.0
// One stream to many hosts: a chain in which each host forwards the data that it receives.
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { useLab } from '../support/lab.ts';
import { reportOf } from '../support/report.ts';
import { failed, succeeded } from '../support/shell.ts';

const WIDTH = 5;
const NAMES = Array.from({ length: WIDTH }, (_, index) => `n${index + 1}`);
const HOSTS = `n[1-${WIDTH}]`;

describe('one stream to many hosts', () => {
  const lab = useLab({ hosts: NAMES.map((name) => ({ name })) });

  const makeInput = async (bytes: number): Promise<Buffer> => {
    const content = randomBytes(bytes);
    await writeFile(join(lab.directory, 'in'), content);
    return content;
  };
  const expectCopies = async (content: Buffer, names: readonly string[] = NAMES) => {
    for (const name of names)
      expect((await readFile(join(lab.directory, `out.${name}`))).equals(content), name).to.equal(true);
  };
  /** All hosts are this machine, so each has its own file name. */
  const sinks = (options = '') =>
    `rdpipe ${options} h1:'< ${lab.directory}/in' '${HOSTS}:cat > ${lab.directory}/out.$RDPIPE_HOST' > /dev/null`;

  for (const encrypt of ['never', 'auth', 'always']) {
    for (const bytes of encrypt === 'always' ? [0, 1, 3_000_000] : [3_000_000]) {
      it(`gives each of ${WIDTH} hosts ${bytes} bytes with --encrypt ${encrypt}`, async () => {
        const content = await makeInput(bytes);
        succeeded(await lab.sh(sinks(`--encrypt ${encrypt}`)), '');
        await expectCopies(content);
      });
    }
  }

  it('sends from a command, and from here', async () => {
    const content = await makeInput(1_000_000);
    succeeded(
      await lab.sh(
        `rdpipe h1:'cat ${lab.directory}/in' '${HOSTS}:cat > ${lab.directory}/out.$RDPIPE_HOST' > /dev/null`,
      ),
      '',
    );
    await expectCopies(content);
    succeeded(
      await lab.sh(`rdpipe '${HOSTS}:cat > ${lab.directory}/out.$RDPIPE_HOST' > /dev/null < ${lab.directory}/in`),
      '',
    );
    await expectCopies(content);
  });

  it('writes files, each under a temporary name until it is complete', async () => {
    const content = await makeInput(2_000_000);
    succeeded(
      await lab.sh(`rdpipe h1:'< ${lab.directory}/in' '${HOSTS}:> ${lab.directory}/out.$RDPIPE_HOST' > /dev/null`),
      '',
    );
    await expectCopies(content);
  });

  it('connects the i-th host of a stage to the i-th of the next', async () => {
    const content = await makeInput(500_000);
    const stages = `h1:'< ${lab.directory}/in' '${HOSTS}:gzip' '${HOSTS}:gunzip > ${lab.directory}/out.$RDPIPE_HOST' > /dev/null`;
    succeeded(await lab.sh(`rdpipe ${stages} > /dev/null`), '');
    await expectCopies(content);
  });

  it('orders hosts by address with --order near, whatever the order of the list', async () => {
    const content = await makeInput(1_000_000);
    const data = NAMES.map((name, index) => `--data ${name}=127.0.0.${20 - index}`).join(' ');
    const chain = await lab.sh(
      `rdpipe --dry-run --order near ${data} h1:'< ${lab.directory}/in' '${HOSTS}:> /dev/null'`,
    );
    expect(String(chain.stdout)).to.contain('h1→n5→n4→n3→n2→n1: chain');
    succeeded(await lab.sh(sinks(`--order near ${data}`)), '');
    await expectCopies(content);
  });

  it('keeps what a slow host has not read yet, also over several connections', async () => {
    const content = await makeInput(48_000_000);
    const stage = `'n[1-2]:[ $RDPIPE_RANK = 0 ] || sleep 0.5; cat > ${lab.directory}/out.$RDPIPE_HOST'`;
    succeeded(await lab.sh(`rdpipe --streams 4 ${stage} > /dev/null < ${lab.directory}/in`), '');
    await expectCopies(content, ['n1', 'n2']);
  });

  it('tells each command its host, its rank and the width', async () => {
    const tell = `'n[2,4]:cat > /dev/null; echo $RDPIPE_HOST $RDPIPE_RANK $RDPIPE_WIDTH >&2' > /dev/null`;
    const { stderr, status } = await lab.sh(`echo | rdpipe ${tell}`);
    expect(status).to.equal(0);
    expect(stderr.trimEnd().split('\n').sort()).to.deep.equal(['n2: n2 0 2', 'n4: n4 1 2']);
  });

  it('continues for the others when one has read enough', async () => {
    const content = await makeInput(3_000_000);
    const read = `if [ $RDPIPE_RANK = 2 ]; then head -c 10; else cat; fi > ${lab.directory}/out.$RDPIPE_HOST`;
    succeeded(await lab.sh(`rdpipe h1:'cat ${lab.directory}/in' '${HOSTS}:${read}' > /dev/null`), '');
    await expectCopies(content, ['n1', 'n2', 'n4', 'n5']);
    await expectCopies(content.subarray(0, 10), ['n3']);
  });

  it('ends when all have read enough', async () =>
    succeeded(await lab.sh(`rdpipe h1:yes '${HOSTS}:head -1 > /dev/null' > /dev/null`), ''));

  it('lets the others succeed when the command of one fails, and names it', async () => {
    const content = await makeInput(3_000_000);
    const read = `if [ $RDPIPE_RANK = 1 ]; then exit 7; fi; cat > ${lab.directory}/out.$RDPIPE_HOST`;
    const result = await lab.sh(`rdpipe h1:'cat ${lab.directory}/in' '${HOSTS}:${read}' > /dev/null`);
    expect(result.status, result.stderr).to.equal(7);
    expect(result.stderr).to.contain('stage 2 (n2: ').and.to.contain('exited with status 7');
    await expectCopies(content, ['n1', 'n3', 'n4', 'n5']);
  });

  it('succeeds with --require any, and ends at once with --fail-fast', async () => {
    const content = await makeInput(3_000_000);
    const read = `if [ $RDPIPE_RANK = 1 ]; then exit 7; fi; cat > ${lab.directory}/out.$RDPIPE_HOST`;
    const stages = `h1:'cat ${lab.directory}/in' '${HOSTS}:${read}' > /dev/null`;
    const content4 = await lab.sh(`rdpipe --require 4 ${stages}`);
    expect(content4.status, content4.stderr).to.equal(0);
    expect(content4.stderr).to.contain('n2');
    await expectCopies(content, ['n1', 'n3', 'n4', 'n5']);
    expect((await lab.sh(`rdpipe --require 5 ${stages}`)).status).to.equal(7);
    expect((await lab.sh(`rdpipe --fail-fast --require any ${stages}`)).status).to.equal(7);
  });

  it('ends with the status of the first sender when that fails', async () => {
    const result = await lab.sh(
      `rdpipe h1:'head -c 100000 /dev/zero; exit 3' '${HOSTS}:> ${lab.directory}/failed.$RDPIPE_HOST'`,
    );
    failed(result, 3, /stage 1 \(h1: .*exited with status 3/);
    for (const name of NAMES)
      await readFile(join(lab.directory, `failed.${name}`)).then(
        () => expect.fail(),
        () => {},
      );
  });

  it('shows the chain in the plan', async () => {
    const { text, stderr, status } = await lab.sh(`rdpipe -n h1:'< in' '${HOSTS}:> out'`);
    expect(status, stderr).to.equal(0);
    expect(`${text}${stderr}`).to.contain('h1→n1→n2→n3→n4→n5: chain');
  });

  it('reports each host', async () => {
    await makeInput(100_000);
    const report = reportOf(await lab.sh(sinks('--json')));
    expect(report.stages.filter(({ stage }) => stage === 2).map(({ host }) => host)).to.deep.equal(NAMES);
    expect(report.hops.map(({ from, to, result }) => `${from} ${to} ${result}`)).to.deep.equal([
      'h1 n1 delivered',
      ...NAMES.slice(1).map((name, index) => `${NAMES[index]} ${name} delivered`),
    ]);
  });

  it('refuses numbers of hosts that do not match, and gives advice', async () => {
    failed(await lab.sh(`rdpipe 'n[1-3]:echo' 'n[1-4]:cat'`), 2, /stage 1 runs on 3 hosts and stage 2 runs on 4 hosts/);
  });
});
