// SPDX-License-Identifier: Apache-2.0
// Exit statuses, and the error line that names the first cause.
import { expect } from 'chai';
import { useLab } from '../support/lab.ts';
import { needsSightOfPrograms } from '../support/needs.ts';
import { failed, succeeded } from '../support/shell.ts';

describe('the exit status', () => {
  const lab = useLab();

  it("is a stage's own", async () => {
    const waits = `while ! [ -e ${lab.directory}/runs ]; do sleep 0.01; done; exit 3`;
    const result = await lab.sh(`rdpipe h1:'${waits}' h2:'touch ${lab.directory}/runs; cat'`);
    failed(result, 3, /stage 1 \(h1: while.*\) exited with status 3; stage 2 was stopped/);
  });

  it("is 128 and a stage's signal", async () =>
    failed(await lab.sh("rdpipe h1:'kill -TERM $$' h2:cat"), 143, /stage 1 \(h1: kill -TERM \$\$\).*SIGTERM/));

  it('is that of the last stage when it is the one that failed', async () =>
    failed(
      await lab.sh("rdpipe h1:'seq 10' h2:'cat > /dev/null; exit 5'"),
      5,
      /stage 2 \(h2: .*\) exited with status 5/,
    ));

  it('is that of the first cause, not of stages stopped because of it', async () =>
    failed(
      await lab.sh("rdpipe h1:'sleep 1000' h2:'cat; exit 9' h3:'exit 4'"),
      4,
      /stage 3 \(h3: exit 4\) exited with status 4/,
    ));

  describe('with --ok', () => {
    it('is 0 for a status expected of every stage', async () =>
      succeeded(await lab.sh("rdpipe --ok 1 h1:'grep x /dev/null' h2:'wc -c'"), '0\n'));
    it('is 0 for a status expected of one stage', async () =>
      succeeded(await lab.sh("rdpipe --ok 1=1,3 h1:'echo a; exit 3' h2:cat"), 'a\n'));
    it('is 0 for statuses of several --ok together', async () =>
      succeeded(
        await lab.sh("rdpipe --ok 7,9 --ok 1=3 --ok 2=4 h1:'echo a; exit 3' h2:'cat; exit 4' h3:'cat; exit 9'"),
        'a\n',
      ));
    it('is not 0 for a signal, although it is reported as 137', async () =>
      failed(await lab.sh("rdpipe --ok 137 h1:'kill -9 $$' h2:cat"), 137, /stage 1 .* was killed by SIGKILL/));
    it('is not 0 for another stage', async () =>
      failed(await lab.sh("rdpipe --ok 2=3 h1:'exit 3' h2:cat"), 3, /stage 1 .* exited with status 3/));
    it('is not 0 for another status', async () =>
      failed(await lab.sh("rdpipe --ok 1=1 h1:'exit 3' h2:cat"), 3, /exited with status 3/));
  });

  describe('with --lenient', () => {
    it('gives the next stage its end of file', async () => {
      const result = await lab.sh("rdpipe --lenient h1:'echo half; exit 3' h2:'wc -c'");
      expect({ status: result.status, text: result.text }).to.deep.equal({ status: 3, text: '5\n' });
    });
    it('also after a producer that was killed', async () => {
      const result = await lab.sh("rdpipe --lenient h1:'echo half; kill -9 $$' h2:'wc -c'");
      expect({ status: result.status, text: result.text }).to.deep.equal({ status: 137, text: '5\n' });
    });
    it('but not after a source that could not be read to its end', async function () {
      needsSightOfPrograms(this);
      const result = await lab.sh(`rdpipe --lenient h1:'< /proc/self/mem' h2:'cat; touch ${lab.directory}/committed'`);
      failed(result, 125, /stage 1 \(h1: < \/proc\/self\/mem\): .*input\/output error/);
      expect(await lab.list()).not.to.include('committed');
    });
    it('is that of the rightmost stage that failed', async () =>
      expect((await lab.sh("rdpipe --lenient h1:'exit 3' h2:'cat; exit 4' h3:cat")).status).to.equal(4));
  });

  describe('with --shell', () => {
    const hidden = "h1:'false | echo a' h2:cat";

    it('does not see a failure inside a stage of sh', async () => succeeded(await lab.sh(`rdpipe ${hidden}`), 'a\n'));
    it('sees it with bash', async () =>
      failed(await lab.sh(`rdpipe --shell bash ${hidden}`), 1, /stage 1 .* exited with status 1/));
    it('sees it with bash on that host only', async () => {
      failed(await lab.sh(`rdpipe --shell h1=bash ${hidden}`), 1, /stage 1 .* exited with status 1/);
      succeeded(await lab.sh(`rdpipe --shell h2=bash ${hidden}`), 'a\n');
    });
    it("uses bash's status for an inner reader that ends early, which --ok may allow", async () => {
      const inner = "h1:'yes | head -n 1' h2:cat";
      failed(await lab.sh(`rdpipe --shell bash ${inner}`), 141, /stage 1 .* exited with status 141/);
      succeeded(await lab.sh(`rdpipe --shell bash --ok 141 ${inner}`), 'y\n');
    });
    it('takes the shell from the configuration file', async () => {
      await lab.write('shell.toml', Buffer.from('[host.h1]\nshell = "bash"\n'));
      failed(await lab.sh(`rdpipe --config shell.toml ${hidden}`), 1, /exited with status 1/);
    });
  });

  it('does not wait for a daemon that a stage left behind with its descriptors closed', async () => {
    const daemon = 'setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo $! > pid';
    const result = await lab.sh(`cd ${lab.directory}; rdpipe h1:'cd ${lab.directory}; ${daemon}; echo hi' h2:cat`);
    succeeded(result, 'hi\n');
    succeeded(await lab.sh('kill "$(cat pid)"'), '');
  });

  it('prints help and version on standard output', async () => {
    const help = await lab.sh('rdpipe --help');
    succeeded({ ...help, text: '' }, '');
    expect(help.text.split('\n').filter((line) => line.length > 80)).to.deep.equal([]);
    expect((await lab.sh('rdpipe --version')).text).to.match(/\d+\.\d+\.\d+/);
  });

  it('prints the versions of all its parts, also if the dynamic programs do not run', async () => {
    const { text, status, stderr } = await lab.sh('rdpipe --version -v');
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    for (const part of [
      /^node [\d.]+ \(\w+\), \//m,
      /^programs here: dynamic, \//m,
      /^hops over TCP: static, OpenSSL 3/m,
      /^npm packages: .*commander \d/ms,
    ])
      expect(text).to.match(part);
    expect(text)
      .to.match(/^programs for hosts: .*linux-\w+$/m)
      .and.to.match(/^OpenSSL 3\..*, of this host$/m);
    expect(text.split('\n').filter((line) => line.length > 80 && !/^(node|programs here|RDMA)/.test(line))).to.be.empty;
    const copy =
      'cp -R "$(dirname "$(command -v rdstage)")/../build/rdpipe/native" . && echo exit 127 >"native/linux-$(uname -m)/dynamic/rdhop"';
    const elsewhere = await lab.sh(`${copy} && RDPIPE_NATIVE_DIR=$PWD/native rdcp --version -v`);
    expect(elsewhere.text)
      .to.match(/^rdcp /)
      .and.to.match(/^programs here: static, /m)
      .and.to.match(/part of the program/);
  });
});
