// SPDX-License-Identifier: Apache-2.0
// Hosts of a stage on several hosts that are lost before anything starts:
// --require decides whether the others continue.
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Behaviour, HostileProgram } from '../support/hostile-agent.ts';
import { useLab } from '../support/lab.ts';
import { reportOf } from '../support/report.ts';
import { failed } from '../support/shell.ts';

const NAMES = ['n1', 'n2', 'n3', 'n4'];

describe('a host that is lost before the run', () => {
  const lab = useLab({
    hosts: [...NAMES.map((name) => ({ name })), { name: 'shut', server: ['AuthorizedKeysFile none'] }],
  });
  const hostile = new HostileProgram({});
  const config = () => join(lab.homes, 'hostile.toml');
  const content = randomBytes(300_000);

  before(async () => {
    await hostile.open();
    await writeFile(config(), `[host.n3]\nagent = "${hostile.path}"\n`, { mode: 0o600 });
  });
  after(() => hostile.close());
  beforeEach(() => writeFile(join(lab.directory, 'in'), content));
  const run = (options: string, hosts: string, command = `> ${lab.directory}/out.$RDPIPE_HOST`) =>
    lab.sh(`rdpipe ${options} h1:'< ${lab.directory}/in' '${hosts}:${command}'`);
  const expectCopies = async (...names: readonly string[]) => {
    const files = (await lab.list()).filter((name) => name.startsWith('out.'));
    expect(files.sort()).to.deep.equal(names.map((name) => `out.${name}`).sort());
    for (const file of files) expect((await readFile(join(lab.directory, file))).equals(content), file).to.equal(true);
  };
  /** Options with which n3 runs a hostile agent of this behaviour. */
  const withAgent = (behaviour: Behaviour) => {
    hostile.behave(behaviour);
    return `--config ${config()}`;
  };

  it('ends the run if every host is required', async () => {
    failed(await run('', 'n[1-2],shut'), 125, /cannot log in to shut|shut.*permission denied/i);
    await expectCopies();
  });

  for (const [where, hosts] of [
    ['first', 'shut,n[1-3]'],
    ['in the middle', 'n1,shut,n[2-3]'],
    ['last', 'n[1-3],shut'],
  ]) {
    it(`is left out if it is ${where} and --require allows it`, async () => {
      const { status, stderr } = await run('--require 3', hosts ?? '');
      expect(status, stderr).to.equal(0);
      expect(stderr).to.match(/lost shut: .*permission denied.*; continuing with the other hosts/);
      await expectCopies('n1', 'n2', 'n3');
    });
  }

  it('is not left out if too few are left', async () => {
    failed(
      await run('--require 3', 'n[1-2],shut'),
      125,
      /shut.*permission denied.*; 2 of 3 hosts are left, but --require 3/,
    );
    failed(await run('--fail-fast --require any', 'n[1-2],shut'), 125, /shut.*permission denied/);
    await expectCopies();
  });

  it('is not left out if the pipeline needs it elsewhere', async () =>
    failed(
      await lab.sh(`rdpipe --require any shut:'echo' 'n1,shut:cat > /dev/null'`),
      125,
      /the pipeline cannot run without it/,
    ));

  it('is listed in the report, and the others keep rank and width', async () => {
    const tell = 'cat > /dev/null; echo $RDPIPE_RANK/$RDPIPE_WIDTH >&2';
    const { status, stderr } = await run('--json --require any', 'shut,n[1-2]', tell);
    expect(status, stderr).to.equal(0);
    const report = reportOf({ stderr });
    expect(report.lost?.map(({ host }) => host)).to.deep.equal(['shut']);
    expect(report.hops.slice(0, 2).map(({ from, to }) => `${from} ${to}`)).to.deep.equal(['h1 n1', 'n1 n2']);
    const shown = await run('-v --require any', 'shut,n[1-2]', tell);
    expect(shown.stderr)
      .to.contain('n1: 1/3\n')
      .and.to.contain('n2: 2/3\n')
      .and.to.match(/^Lost shut: /m);
  });

  it('is left out of a gathering', async () => {
    const { status, text, stderr } = await lab.sh(`rdpipe --require any 'n1,shut,n2:echo $RDPIPE_RANK'`);
    expect({ status, lines: text.trimEnd().split('\n').sort() }, stderr).to.deep.equal({
      status: 0,
      lines: ['n1: 0', 'n2: 2'],
    });
    const one = await lab.sh(`rdpipe --require any 'n1,shut:echo $RDPIPE_RANK' h1:'wc -l'`);
    expect({ status: one.status, text: one.text }, one.stderr).to.deep.equal({ status: 0, text: '1\n' });
  });

  it('also removes the hosts that it would feed', async () => {
    const stages = `'n1,shut:cat' 'n[3-4]:> ${lab.directory}/out.$RDPIPE_HOST'`;
    const { status, stderr } = await lab.sh(`rdpipe --require any h1:'< ${lab.directory}/in' ${stages}`);
    expect(status, stderr).to.equal(0);
    await expectCopies('n3');
  });

  it('is shown in the plan of a dry run', async () => {
    const { status, text, stderr } = await run('-n --require any', 'n1,shut,n2');
    expect(status, stderr).to.equal(0);
    expect(text).to.contain('h1→n1→n2: chain');
  });

  for (const [what, behaviour, reason] of [
    [
      'whose agent has another version',
      (agent) => agent.hello({ v: 99 }),
      /lost n3: the agent on n3 has a different version/,
    ],
    ['whose agent ends at once', async (agent) => agent.hangUp(), /lost n3: .*cannot start the agent on n3/],
    [
      'whose agent ends when it is prepared',
      async (agent) => {
        await agent.hello();
        await agent.asked('prepare');
      },
      /lost n3: .*continuing with the other hosts/,
    ],
  ] as readonly (readonly [string, Behaviour, RegExp])[]) {
    it(`is one ${what}`, async () => {
      const { status, stderr } = await run(`--require any ${withAgent(behaviour)}`, 'n[1-4]');
      expect(status, stderr).to.equal(0);
      expect(stderr).to.match(reason);
      await expectCopies('n1', 'n2', 'n4');
      failed(await run(withAgent(behaviour), 'n[1-4]'), 125, /n3/);
    });
  }

  it('is one whose file cannot be opened', async () => {
    await mkdir(join(lab.directory, 'out.n3'));
    const { status, stderr } = await run('--require any', 'n[1-4]');
    expect(status, stderr).to.equal(0);
    expect(stderr).to.match(/lost n3: .*out\.n3.*; continuing with the other hosts/);
    for (const name of ['n1', 'n2', 'n4'])
      expect((await readFile(join(lab.directory, `out.${name}`))).equals(content), name).to.equal(true);
    expect((await run('', 'n[1-4]')).status).to.equal(125);
  });
});
