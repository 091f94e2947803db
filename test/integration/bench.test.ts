// SPDX-License-Identifier: Apache-2.0
// `rdpipe bench`: what it measures between hosts, by which methods, and its messages if it cannot.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Benchmark } from '../../packages/rdpipe/src/model/benchmark.ts';
import { lookAt, needsBrowser } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { jsonObject } from '../support/json-output.ts';
import { useLab } from '../support/lab.ts';
import type { Result } from '../support/shell.ts';
import type { HostSpec } from '../support/sshd.ts';

/** Its PATH begins with ~/bin: with an ssh there that knows the other hosts. */
const KNOWING: HostSpec = {
  name: 'knowing',
  server: ['ForceCommand PATH="$HOME/bin:$PATH" exec $SSH_ORIGINAL_COMMAND'],
};
/** Accepts logins but runs no commands. */
const REFUSING: HostSpec = { name: 'refusing', server: ['ForceCommand exit 3'] };
const SMALL = '--rounds 2 --size 8MiB';

describe('rdpipe bench', () => {
  const lab = useLab({ hosts: [KNOWING, REFUSING] });

  it('prints a table, and a page with plots', async function () {
    const { status, text, stderr } = await lab.sh(`rdpipe bench ${SMALL} --report bench.html h1 h2`);
    expect({ status, stderr }, text).to.deep.equal({ status: 0, stderr: '' });
    const rate = '[\\d.]+ [KMG]iB/s +';
    const own = (method: string) =>
      new RegExp(
        `^${method} +${rate}${rate}${rate}\\d+\\.\\d\\d +\\d+\\.\\d\\d +[\\d.]+ (µs|ms) +[\\d.]+ (µs|ms) +tcp `,
        'm',
      );
    expect(text).to.match(/^h1→h2, medians of 2 rounds$/m);
    expect(text).to.match(own('tcp')).and.to.match(own('tcp encrypted'));
    expect(text).to.match(
      new RegExp(`^ssh +${rate}.*\\(login\\) +ssh through this machine \\(h1 cannot log in to h2: .+\\)$`, 'm'),
    );
    expect(text).to.match(/^rdma: not measured: cannot use RDMA from h1 to h2/m);
    needsBrowser(this);
    const { dom, complaints } = await lookAt(join(lab.directory, 'bench.html'));
    expect(complaints).to.deep.equal([]);
    expect(dom.match(/<svg /g)).to.have.length(3);
  });

  it('prints one JSON object for programs, with every sample', async () => {
    const { methods, missing, rounds } = benchmarkOf(
      await lab.sh('rdpipe bench --rounds 1 --size 8MiB --json --transport tcp : h2'),
      0,
    );
    expect(rounds).to.equal(1);
    expect(missing).to.deep.equal([]);
    expect(methods.map(({ method }) => method)).to.deep.equal(['tcp', 'tcp encrypted', 'ssh']);
    for (const { method, samples } of methods) {
      expect(samples).to.have.length(1);
      for (const sample of samples) {
        const { bytes, seconds, bytesPerSecond, fromCpuS, toCpuS, roundTripUs, pingPongUs } = sample;
        expect(pingPongUs === null).to.equal(method === 'ssh');
        expect(bytes).to.equal(8 * 1024 ** 2);
        expect(Math.min(seconds, bytesPerSecond, fromCpuS ?? 0, toCpuS ?? 0, roundTripUs ?? 0)).to.be.greaterThan(0);
      }
    }
    expect(methods[2]?.carrier).to.equal('ssh on this machine');
  });

  it("uses ssh between the hosts if it asks nothing, and the session's own ssh to this machine", async () => {
    const bin = join(lab.homes, 'knowing/bin');
    mkdirSync(bin, { recursive: true });
    const { text: program } = await lab.sh('command -v rdpipe');
    const config = /-F '([^']+)'/.exec(readFileSync(program.trim(), 'utf8'))?.[1];
    writeFileSync(join(bin, 'ssh'), `#!/bin/sh\nexec /usr/bin/ssh -F '${config}' "$@"\n`, { mode: 0o755 });
    const direct = benchmarkOf(
      await lab.sh('rdpipe bench --rounds 1 --size 8MiB --json --transport tcp knowing h2'),
      0,
    );
    expect(direct.methods.at(-1)).to.include({ method: 'ssh', carrier: 'ssh on knowing' });
  });

  it('has the exit status in its object, also if the page cannot be written', async () => {
    const result = await lab.sh('rdpipe bench --rounds 1 --size 8MiB --json --transport tcp --report /dev/full h2 :');
    const { methods } = benchmarkOf({ ...result, stderr: '' }, 125);
    expect(result.stderr).to.equal('rdpipe: cannot write the report to /dev/full: no space left on device\n');
    expect(methods.at(-1)).to.include({ method: 'ssh', carrier: 'ssh on this machine' });
  });

  it('is a failure if a requested method cannot be used', async () => {
    const { methods, missing } = benchmarkOf(
      await lab.sh('rdpipe bench --rounds 1 --size 8MiB --json --transport rdma h1 h2'),
      125,
    );
    expect(methods.map(({ method }) => method)).to.deep.equal(['ssh']);
    expect(missing.map(({ method, failed }) => ({ method, failed }))).to.deep.equal([{ method: 'rdma', failed: true }]);
  });

  it('is a failure if rdpipe cannot start the measuring commands', async () => {
    const { methods, missing } = benchmarkOf(
      await lab.sh('rdpipe bench --rounds 1 --size 8MiB --json h1 refusing'),
      125,
    );
    expect(methods).to.deep.equal([]);
    expect(missing.map(({ method, failed }) => [method, failed])).to.deep.equal([
      ['rdma', true],
      ['tcp', true],
      ['tcp encrypted', true],
      ['ssh', false],
    ]);
    expect(missing[0]?.why).to.match(/^cannot start the agent on refusing: /);
  });

  for (const [what, words, message] of [
    ['one host', 'h1', /^rdpipe: expected two hosts, not 1 /],
    ['three hosts', 'h1 h2 h3', /^rdpipe: expected two hosts, not 3 /],
    ['no host', '', /^rdpipe: expected two hosts, not 0 /],
    ['a stage', 'h1:true h2', /^rdpipe: h1:true is a stage \(give only the host\)\n$/],
    ['one host twice', 'h1 h1', /^rdpipe: h1 is given twice \(give two different hosts\)\n$/],
    ['no rounds', '--rounds 0 h1 h2', /^rdpipe: --rounds: '0' is not a number of rounds/],
    [
      'a page that cannot be written',
      '--report no/b.html h1 h2',
      /^rdpipe: cannot write the report to no\/b\.html: no such file or directory\n$/,
    ],
  ] as const)
    it(`refuses ${what}`, async () => {
      const { status, text, stderr } = await lab.sh(`rdpipe bench ${words}`);
      expect({ status, text }).to.deep.equal({ status: 2, text: '' });
      expect(stderr).to.match(message);
    });

  it('reports which host cannot be reached', async () => {
    const { status, stderr } = await lab.sh('rdpipe bench h1 no..such');
    expect(status).to.equal(125);
    expect(stderr).to.match(/^rdpipe: cannot reach no\.\.such: [^\n]*\n$/);
  });

  it('ends immediately when the user ends it, and leaves nothing', async () => {
    const running = lab.start('exec rdpipe bench -v --rounds 100 h1 h2 2>said');
    const said = () => readFileSync(join(lab.directory, 'said'), 'utf8');
    await eventually(() => expect(said()).to.match(/connected: tcp/));
    running.kill('SIGINT');
    const { status, text } = await running.result;
    expect({ status, text }).to.deep.equal({ status: 130, text: '' });
    expect(said()).to.match(/^rdpipe: ended by SIGINT$/m);
  });
});

function benchmarkOf({ status, text, stderr }: Result, wanted: number): Benchmark {
  expect({ status, stderr }).to.deep.equal({ status: wanted, stderr: '' });
  const benchmark = jsonObject<Benchmark>(text, 'bench');
  expect(benchmark).to.include({ v: 1, status: wanted });
  return benchmark;
}
