// SPDX-License-Identifier: Apache-2.0
// Reports on standard error: the stages' own output, the summary, --json; and --dry-run.
import { expect } from 'chai';
import { jsonLines } from '../support/json-output.ts';
import { useLab } from '../support/lab.ts';
import { succeeded } from '../support/shell.ts';

describe('standard error', () => {
  const lab = useLab();
  const twoTalk = "h1:'echo one >&2' h2:'echo two >&2'";

  it("has the stages' lines, each with its host", async () => {
    const result = await lab.sh(`rdpipe ${twoTalk}`);
    expect(result.stderr.trimEnd().split('\n').sort()).to.deep.equal(['h1: one', 'h2: two']);
  });

  it('numbers the stages of a host that has several', async () => {
    const result = await lab.sh("rdpipe h1:'echo one >&2' h1:'cat; echo two >&2' h2:'cat; echo three >&2'");
    expect(result.stderr.trimEnd().split('\n').sort()).to.deep.equal(['h1/1: one', 'h1/2: two', 'h2: three']);
  });

  it('has the lines of a single stage unchanged', async () =>
    expect((await lab.sh("rdpipe h1:'echo one >&2'")).stderr).to.equal('one\n'));

  it('has them unchanged with --stderr raw', async () =>
    expect((await lab.sh(`rdpipe --stderr raw ${twoTalk}`)).stderr.split('\n').sort()).to.deep.equal([
      '',
      'one',
      'two',
    ]));

  it('has none with --stderr off', async () => succeeded(await lab.sh(`rdpipe --stderr off ${twoTalk}`), ''));

  it('has a megabyte of them without a gap', async () => {
    const result = await lab.sh("rdpipe h1:'seq 150000 >&2'");
    expect(result.stderr).to.equal(Array.from({ length: 150_000 }, (_, index) => `${index + 1}\n`).join(''));
  });

  it('ends with a summary with -v, the rate first', async () => {
    const { stderr, status } = await lab.sh("rdpipe -v h1:'head -c 64M /dev/zero' h2:'wc -c'");
    expect(status).to.equal(0);
    expect(stderr).to.match(/^Bandwidth [\d.]+ [KMG]iB\/s/m);
    expect(stderr).to.match(/h1.*h2.*64\.0 MiB/);
  });

  it('is quiet with -q except for the line of a failure', async () => {
    expect((await lab.sh("rdpipe -q h1:'exit 3' h2:cat")).stderr.split('\n')).to.have.length(2);
    succeeded(await lab.sh("rdpipe -q h1:'echo hi' h2:cat"), 'hi\n');
  });
});

describe('--json', () => {
  const lab = useLab();

  it('reports a limit', async () => {
    // On a slow machine a higher limit may not be a hop's bottleneck.
    for (const limit of ['0.5MB', '0.1MB', '0.02MB']) {
      const { stderr, text } = await lab.sh(`rdpipe --json --limit ${limit} h1:'head -c 1MB /dev/zero' h2:'wc -c'`);
      expect(text).to.equal('1000000\n');
      const report = jsonLines(stderr, 'run').at(-1);
      if (limit !== '0.02MB' && !/"bottleneck":"limit"/.test(JSON.stringify(report))) continue;
      expect(report).to.have.nested.property('hops[0].bottleneck', 'limit');
      return;
    }
  });

  it('is one object per line, the report last', async () => {
    const { stderr, text } = await lab.sh("rdpipe --json h1:'echo hi; echo words >&2' h2:rev");
    const objects = jsonLines(stderr, 'run');
    expect(text).to.equal('ih\n');
    for (const object of objects) expect(object).to.have.property('v', 1);
    const report = objects.at(-1) ?? {};
    expect(report).to.include({ status: 0, cause: null, message: null });
    expect(report).to.have.nested.property('stages[1].code', 0);
    expect(report).to.have.nested.property('hops[0].bytes', 3);
    expect(report).to.have.nested.property('hops[0].result', 'delivered');
    expect(report).to.have.nested.property('hops[0].transport', 'tcp');
    expect(report)
      .to.have.nested.property('hops[0].why')
      .that.matches(/^tcp, not encrypted/);
    expect(report)
      .to.have.nested.property('hops[0].peer')
      .that.matches(/^127\.0\.0\.1:\d+$/);
    expect(report).to.have.nested.property('hops[0].rttUs').that.is.greaterThan(0);
  });

  it('is the same with options of the text output and a page', async () => {
    const options = '-vv --stderr off --progress plain --report page.html';
    const { stderr, status } = await lab.sh(`rdpipe --json ${options} h1:'echo words >&2' :'cat; exit 3'`);
    expect(status, stderr).to.equal(3);
    const lines = jsonLines(stderr, 'run');
    expect(lines).to.have.length(stderr.trimEnd().split('\n').length);
    expect(lines.find(({ kind }) => kind === 'stderr')).to.include({ stage: 1, host: 'h1', text: 'words\n' });
    expect(lines.at(-1)).to.include({ kind: 'report', status: 3, cause: 'stage', causeStage: 2 });
    expect(await lab.list()).to.include('page.html');
  });

  for (const [mode, why, cipher, inSummary] of [
    ['always', 'encrypted (--encrypt always)', /^(?:aes-256-gcm|chacha20-poly1305)$/, /tcp (?:aes-256-gcm|chacha20-)/],
    [
      'auth',
      'authenticated, not encrypted (--encrypt auth)',
      /^(?:aes-256-gmac|poly1305)$/,
      /tcp authenticated \(OpenSSL [\d.]+\) {2}/,
    ],
    ['never', 'not encrypted (--encrypt never)', /^none$/, /tcp not encrypted {2}/],
  ] as const)
    it(`shows the protection of a hop, as plan and summary do: ${mode}`, async () => {
      const words = `--encrypt ${mode} h1:'echo hi' h2:rev`;
      expect((await lab.sh(`rdpipe -n ${words}`)).text).to.contain(`h1→h2 tcp, ${why}\n`);
      const report = jsonLines((await lab.sh(`rdpipe --json ${words}`)).stderr, 'run').at(-1);
      expect(report).to.have.nested.property('hops[0].why', `tcp, ${why}`);
      expect(report).to.have.nested.property('hops[0].cipher').that.matches(cipher);
      const { stderr, text } = await lab.sh(`rdpipe -v ${words}`);
      expect(text).to.equal('ih\n');
      expect(stderr).to.match(inSummary);
    });

  it('reports the cause of a failure', async () => {
    const { stderr, status } = await lab.sh("rdpipe --json h1:'exit 125' h2:cat");
    const report = jsonLines(stderr, 'run').at(-1);
    expect(status).to.equal(125);
    expect(report).to.include({ status: 125, cause: 'stage', causeStage: 1 });
    expect(report).to.have.nested.property('stages[0].state', 'failed');
    expect(report).to.have.nested.property('stages[1].state', 'stopped');
  });

  it("reports rdpipe's own failures", async () => {
    const { stderr } = await lab.sh("rdpipe --json h1:'< /nowhere/file' h2:cat");
    expect(jsonLines(stderr, 'run').at(-1)).to.include({ status: 125, cause: 'rdpipe', causeStage: 1 });
  });

  it('reports usage errors', async () => {
    const { stderr, status } = await lab.sh('rdpipe --json h1:true rev');
    expect(status).to.equal(2);
    expect(jsonLines(stderr, 'run').at(-1)).to.include({ status: 2, cause: 'usage' });
  });
});

describe('--dry-run', () => {
  const lab = useLab();

  it('prints encryption and compression of the stream', async () => {
    const { text } = await lab.sh("rdpipe -n --limit 2MB --compress zstd:3 h1:'echo hi' h2:cat");
    expect(text).to.match(/^h1→h2 tcp.*, compressed \(zstd, level 3\), at most 2 MB\/s$/m);
  });

  for (const [limit, rate] of [
    ['200M', '200 MB/s'],
    ['200MB/s', '200 MB/s'],
    ['200MiB', '200 MiB/s'],
    ['10Mbit', '1.25 MB/s'],
  ])
    it(`shows a limit of ${limit} as ${rate}`, async () => {
      const { text } = await lab.sh(`rdpipe -n --limit ${limit} h1:'echo hi' h2:cat`);
      expect(text.match(/at most (.*)$/m)?.[1]).to.equal(rate);
    });

  it('is quiet with -q', async () => {
    const { text, stderr, status } = await lab.sh('rdpipe -nq h1:true');
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    expect(text).to.match(/h1/);
  });

  it('prints the plan, no secret, and starts nothing', async () => {
    const { text, stderr, status } = await lab.sh('rdpipe -n h1:"touch $PWD/ran" h2:cat behind:"> $PWD/ran"');
    const told = "rdpipe: dry run: nothing was started (for ssh's -n, use --stdin none)\n";
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: told });
    expect(text).to.match(/h1/).and.to.match(/h2/).and.to.match(/tcp/);
    expect(text).not.to.match(/[0-9a-f]{32}/i);
    expect(await lab.list()).not.to.include('ran');
  });

  it('is an event and a report with --json, without other text', async () => {
    const { status, text, stderr } = await lab.sh('rdpipe -n --json h1:true h2:cat');
    expect({ status, text }).to.deep.equal({ status: 0, text: '' });
    const objects = jsonLines(stderr, 'run');
    expect(objects.find(({ kind }) => kind === 'planned')).to.have.nested.property(
      'plan.segments[0].stages[1].stage.text',
    );
    expect(objects.at(-1)).to.include({ kind: 'report', status: 0 });
  });

  it('shows which command would run on which host', async () => {
    const { text } = await lab.sh("rdpipe -n --encrypt always h1:'tr a-z A-Z' h2:rev");
    expect(text)
      .to.match(/tr a-z A-Z/)
      .and.to.match(/encrypt/);
  });

  it('needs the hosts to be reachable', async () =>
    expect((await lab.sh('rdpipe -n no..such:true')).status).to.equal(125));
});
