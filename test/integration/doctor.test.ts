// SPDX-License-Identifier: Apache-2.0
// `rdpipe doctor` on hosts without RDMA: its report about them and their problems.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Examination, Finding } from '../../packages/rdpipe/src/model/examination.ts';
import { jsonObject } from '../support/json-output.ts';
import { useLab } from '../support/lab.ts';
import { needsRoot, needsTool } from '../support/needs.ts';
import { failed, type Result, succeeded } from '../support/shell.ts';
import type { HostSpec } from '../support/sshd.ts';

/** Its PATH begins with ~/bin, and its runtime directory is in its home. */
const GUARDED: HostSpec = {
  name: 'guarded',
  server: ['ForceCommand PATH="$HOME/bin:$PATH" XDG_RUNTIME_DIR="$HOME/run" exec $SSH_ORIGINAL_COMMAND'],
};

/** No host has RDMA: there is nothing to measure, and a failed check. */
const WITHOUT_MEASURING = 'rdpipe doctor --json --transport rdma';

describe('rdpipe doctor', () => {
  const lab = useLab({ hosts: [GUARDED] });

  it('reports no problems, and the data moved in each direction', async () => {
    const { status, text, stderr } = await lab.sh('rdpipe doctor h1 h2');
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    expect(text).to.match(
      /^h1\n {2}ok {4}ssh +the system's ssh, connected in \d+\.\d s, login in \d+\.\d s\n {2}ok {4}agent/m,
    );
    expect(text).to.match(/^h1 and h2\n/m);
    for (const way of ['h1→h2', 'h2→h1']) {
      expect(text).to.match(
        new RegExp(`^  ok +tcp ${way} +[\\d.]+ (?:(?:[KMG]i)?B|[kMG]?b)/s.*, round trip \\d+\\.\\d\\d ms`, 'm'),
      );
    }
    expect(text).to.match(/^ {2}ok +rdma +no RDMA device; using TCP$/m);
    expect(text).to.match(/^no problems found\n$/m);
  });

  it('is silent with -q if there are no problems, also on a terminal', async function () {
    needsTool(this, 'script');
    succeeded(await lab.sh('rdpipe doctor -q h1 h2'), '');
    succeeded(await lab.sh("script -qefc 'rdpipe doctor -q h1 h2' /dev/null"), '');
    const wrong = await lab.sh('rdpipe doctor -q no..such');
    expect(wrong.text).to.match(/^no\.\.such\n {2}fail {2}ssh /);
    expect(wrong.stderr).to.equal('');
  });

  it('prints one JSON object for programs', async () => {
    const examination = examinationOf(await lab.sh('rdpipe doctor h1 h2 --transport tcp --json'), 0);
    expect(examination.hosts.map(({ host }) => host)).to.deep.equal(['h1', 'h2']);
    expect(examination.pairs.map(({ hosts }) => hosts)).to.deep.equal([['h1', 'h2']]);
    expect(wrong(examination)).to.deep.equal([]);
    const measured = examination.pairs.flatMap((pair) => pair.measured);
    const ways = measured.map(({ from, to, transport }) => `${transport} ${from} ${to}`);
    expect(ways).to.deep.equal(['tcp h1 h2', 'tcp h2 h1']);
    expect(measured.every(({ bytesPerSecond, rttUs }) => bytesPerSecond > 0 && (rttUs ?? 0) > 0)).to.equal(true);
  });

  it('examines a single host together with this machine', async () => {
    const { pairs } = examinationOf(await lab.sh('rdpipe doctor --json --ssh ssh2 --transport tcp h1'), 0);
    expect(pairs[0]?.hosts).to.deep.equal(['this machine', 'h1']);
    expect(pairs[0]?.measured).to.have.length(2);
  });

  it('reports a host that cannot be reached, and the others', async () => {
    const result = await lab.sh('rdpipe doctor --json --transport tcp h1 no..such h2 h1');
    const examination = examinationOf(result, 1);
    const [, unreachable] = examination.hosts;
    expect(unreachable?.checks.map(({ check, result: verdict }) => `${verdict} ${check}`)).to.deep.equal(['fail ssh']);
    expect(unreachable?.checks[0]?.found).to.match(/^cannot reach no\.\.such: /);
    expect(unreachable?.checks[0]?.fix).to.match(/ssh/);
    expect(examination.pairs.map(({ measured }) => measured.length)).to.deep.equal([0, 0, 2]);
  });

  it('fails without RDMA if RDMA is required', async () => {
    const examination = examinationOf(await lab.sh('rdpipe doctor --json --transport rdma h1 h2'), 1);
    const [rdma] = wrong(examination);
    expect(rdma).to.deep.include({ check: 'rdma', result: 'fail' });
    expect(rdma?.fix).to.match(/rdma link add rxe0/);
  });

  it('finds a closed path, and the open one instead', async () => {
    const result = await lab.sh('rdpipe doctor --json --transport tcp --data h2=255.255.255.255 h1 h2');
    const [closed, ...others] = wrong(examinationOf(result, 0));
    expect(closed).to.deep.include({ check: 'tcp h1→h2', result: 'warn' });
    expect(closed?.found).to.match(/255\.255\.255\.255.*connected by 127\.0\.0\.1/);
    expect(closed?.fix).to.match(/firewalls.*-p 40000-40100/);
    expect(others).to.deep.equal([]);
  });

  it('finds that no path is open', async () => {
    const closed = '--data h1=255.255.255.255 --data h2=255.255.255.255';
    const examination = examinationOf(await lab.sh(`rdpipe doctor --json --transport tcp ${closed} h1 h2`), 1);
    expect(wrong(examination).map(({ check, result }) => `${result} ${check}`)).to.deep.equal([
      'fail tcp h1→h2',
      'fail tcp h2→h1',
    ]);
  });

  const SUDOS = [
    ['that asks for a password', 'echo "sudo: a password is required" >&2; exit 1', ['fail sudo', 'fail agent']],
    ['that allows it', 'while [ "$1" = -n ] || [ "$1" = -- ]; do shift; done; exec "$@"', ['ok sudo', 'ok agent']],
  ] as const;
  for (const [name, script, verdicts] of SUDOS) {
    it(`reports a sudo ${name}`, async () => {
      const programs = join(lab.host('guarded').home, 'bin');
      mkdirSync(programs, { recursive: true });
      writeFileSync(join(programs, 'sudo'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      const { hosts } = examinationOf(await lab.sh(`${WITHOUT_MEASURING} --sudo guarded h1 guarded`), 1);
      const checks = hosts[1]?.checks.filter(({ check }) => check === 'sudo' || check === 'agent') ?? [];
      expect(checks.map(({ check, result }) => `${result} ${check}`)).to.deep.equal(verdicts);
    });
  }

  it('finds programs that may not run from the cache', async function () {
    needsRoot(this);
    needsTool(this, 'mount');
    const { home } = lab.host('guarded');
    const cache = join(home, '.cache');
    mkdirSync(cache, { recursive: true });
    mkdirSync(join(home, 'run'), { mode: 0o700 });
    await lab.sh(`mount -t tmpfs -o noexec rdpipe-test ${cache}`);
    try {
      const examination = examinationOf(await lab.sh(`${WITHOUT_MEASURING} h1 guarded`), 1);
      const disk = wrong(examination).find(({ check }) => check === 'disk');
      expect(disk?.result).to.equal('warn');
      expect(disk?.found)
        .to.contain(`${cache} is mounted noexec`)
        .and.to.match(/: the agent is kept in \//);
      expect(disk?.fix).to.contain(`mount -o remount,exec ${cache}`);
    } finally {
      await lab.sh(`umount ${cache}`);
    }
  });

  for (const words of ['', 'h1:true', '-n h1', '--data absent=10.0.0.1 h1']) {
    it(`refuses '${words}'`, async () => failed(await lab.sh(`rdpipe doctor ${words}`), 2, /./));
  }

  it('leaves nothing when it is interrupted', async () => {
    // If this process is slow, doctor may finish before the signal arrives.
    let status: number | null = 0;
    for (let turn = 0; turn < 5 && status === 0; turn += 1) {
      const running = lab.start('exec rdpipe doctor -v h1 h2 2>log');
      await running.printed('h1\n');
      running.kill('SIGINT');
      status = (await running.result).status;
    }
    expect(status).to.equal(130);
    expect((await lab.read('log')).toString()).to.match(/^rdpipe: ended by SIGINT$/m);
  });
});

function examinationOf(result: Result, status: number): Examination {
  expect({ status: result.status, stderr: result.stderr }).to.deep.equal({ status, stderr: '' });
  const examination = jsonObject<Examination>(result.text, 'doctor');
  expect(examination).to.include({ v: 1, status });
  return examination;
}

function wrong({ hosts, pairs }: Examination): readonly Finding[] {
  return [...hosts, ...pairs].flatMap(({ checks }) => checks.filter(({ result }) => result !== 'ok'));
}
