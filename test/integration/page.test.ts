// SPDX-License-Identifier: Apache-2.0
// `rdpipe --report FILE.html`: the page about a run, in its source and as a browser shows it.
import { existsSync, lstatSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Look, lookAt, needsBrowser, type OutsideServer, startOutsideServer } from '../support/browser.ts';
import { useLab } from '../support/lab.ts';
import { needsFile, needsRoot } from '../support/needs.ts';
import { reportOf } from '../support/report.ts';

const POLICY = `default-src 'none'; style-src 'unsafe-inline'`;

describe('rdpipe --report', () => {
  const lab = useLab();
  const page = (name = 'run.html') => readFileSync(join(lab.directory, name), 'utf8');
  const expectNoRest = async () => expect((await lab.list()).filter((name) => name.endsWith('.tmp'))).to.deep.equal([]);

  it('describes a run: command, plan, hops, stages, programs', async () => {
    const { status, stderr } = await lab.sh(
      "rdpipe --report run.html h1:'head -c 64M /dev/zero; echo said >&2' h2:'cat >/dev/null' >/dev/null",
    );
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: 'h1: said\n' });
    const text = textOf(page());
    expect(text).to.match(/^rdpipe: succeeded$/m);
    expect(text).to.match(/^rdpipe -F \S+ --report run\.html \\$/m);
    expect(text).to.contain(" \\\n    h1:'head -c 64M /dev/zero; echo said >&2' \\\n    h2:'cat >/dev/null'");
    expect(text).to.match(/^h1→h2 tcp, not encrypted \(stays on the machine\)$/m);
    expect(text).to.match(/h1→h2\s+tcp not encrypted\s+delivered\s+64\.0 MiB\s+[\d.]+ [MG]iB\/s/);
    expect(text).to.match(/h1→h2\s+rdsend\s+h1\s+[\d.]+ s\s+[\d.]+ s\s+[\d.]+\s+[\d.]+ MiB/);
    expect(text).to.match(/h1→h2\s+rdrecv\s+h2\s/);
    expect(text).to.match(/1\s+h1\s+succeeded\s+[\d.]+ s/);
    expect(text).to.match(/Stage 1, h1\s+said/);
    expect(page().match(/<svg /g)).to.have.length(2);
    await expectNoRest();
  });

  it('describes a run that failed, and why', async () => {
    const result = await lab.sh("rdpipe --report run.html h1:'echo part; exit 3' h2:cat");
    expect(result.status).to.equal(3);
    const text = textOf(page());
    expect(text)
      .to.match(/^rdpipe: failed$/m)
      .and.to.match(/exit status\s*3\s/);
    expect(text)
      .to.match(/first cause\s*stage 1 \(h1: echo part; exit 3\), failed \(exit 3\)/)
      .and.to.match(/message\s*stage 1 \(h1: echo part; exit 3\) exited with status 3/);
    expect(text).to.match(/1\s+h1\s+failed \(exit 3\)/);
  });

  it('describes a run that the user ended', async () => {
    const running = lab.start("exec rdpipe --report run.html h1:'echo part; exec sleep 1000' h2:cat");
    await running.printed('part\n');
    running.kill('SIGINT');
    expect((await running.result).status).to.equal(130);
    expect(textOf(page()))
      .to.match(/exit status\s*130/)
      .and.to.match(/first cause\s*signal/);
    await expectNoRest();
  });

  it('describes a run that never began', async () => {
    const { status } = await lab.sh('rdpipe --report run.html h1:true no..such:cat');
    expect(status).to.equal(125);
    expect(textOf(page()))
      .to.match(/message\s*cannot reach no\.\.such/)
      .and.to.contain('no..such:cat');
  });

  it('writes through an inherited descriptor', async () => {
    const { status, text } = await lab.sh('rdpipe --report /dev/fd/3 h1:true 3>&1 >/dev/null | cat');
    expect(status).to.equal(0);
    expect(text).to.match(/^<!doctype html>/);
  });

  it('replaces an earlier page, also through a link, and writes to other than regular files', async () => {
    writeFileSync(join(lab.directory, 'old.html'), 'old');
    symlinkSync('old.html', join(lab.directory, 'run.html'));
    const { status, text } = await lab.sh(
      'rdpipe --report run.html h1:true && { mkfifo way; cat way > copy & } && rdpipe --report way h1:true && wait',
    );
    expect({ status, text }).to.deep.equal({ status: 0, text: '' });
    expect(page('old.html')).to.match(/^<!doctype html>/);
    expect(lstatSync(join(lab.directory, 'run.html')).isSymbolicLink()).to.equal(true);
    expect(page('copy')).to.match(/^<!doctype html>/);
    expect(statSync(join(lab.directory, 'way')).isFIFO()).to.equal(true);
  });

  it('writes none for a dry run', async () => {
    expect((await lab.sh('rdpipe -n --report run.html h1:true')).status).to.equal(0);
    expect(existsSync(join(lab.directory, 'run.html'))).to.equal(false);
  });

  describe('that cannot be written', () => {
    it('is a usage error when that can be seen before', async () => {
      const { status, stderr } = await lab.sh("rdpipe --report there/run.html h1:'touch ran'");
      expect(status).to.equal(2);
      expect(stderr).to.match(/^rdpipe: cannot write the report to there\/run\.html: no such file or directory\n$/);
    });

    for (const [what, report] of [
      ['a link', 'all/link'],
      ['a link in the path', 'all/way/run.html'],
    ] as const)
      it(`is a usage error if ${what} belongs to another user, in a shared directory`, async function () {
        needsRoot(this);
        const { status, stderr } = await lab.sh(`mkdir all; chmod 1777 all; ln -s ../run.html all/link; ln -s .. all/way
          chown -h 1234 all/*; rdpipe --report ${report} h1:'touch ran'`);
        expect(status).to.equal(2);
        const name = report.split('/')[1];
        const why = `${name}, in a shared directory, is a link of user 1234 (name its target instead)`;
        expect(stderr).to.equal(`rdpipe: cannot write the report to ${report}: ${why}\n`);
        expect(existsSync(join(lab.directory, 'run.html'))).to.equal(false);
      });

    it('makes a successful run fail, in one line', async function () {
      needsFile(this, '/dev/full');
      const { status, stderr, text } = await lab.sh("rdpipe --report /dev/full h1:'echo hi' h2:cat");
      expect({ status, text }).to.deep.equal({ status: 125, text: 'hi\n' });
      expect(stderr).to.match(/^rdpipe: cannot write the report to \/dev\/full: no space left on device\n$/);
      const json = await lab.sh("rdpipe --json --report /dev/full h1:'echo hi' h2:cat");
      expect(reportOf(json)).to.include({ kind: 'report', status: 125, cause: 'rdpipe' });
    });

    it('is a warning in addition to another failure', async function () {
      needsFile(this, '/dev/full');
      const { status, stderr } = await lab.sh("rdpipe --report /dev/full h1:'exit 3' h2:cat");
      expect(status).to.equal(3);
      expect(stderr).to.match(
        /^rdpipe: warning: cannot write the report to \/dev\/full.*\nrdpipe: stage 1 \(h1: exit 3\) exited with status 3/,
      );
    });

    it('leaves an earlier page unchanged, and nothing of the new one', async () => {
      writeFileSync(join(lab.directory, 'run.html'), 'old');
      const tooLarge = "trap '' XFSZ; ulimit -f 8; rdpipe --report run.html h1:'echo hi' h2:cat";
      const { status, stderr } = await lab.sh(tooLarge);
      expect(status).to.equal(125);
      expect(stderr).to.match(/^rdpipe: cannot write the report to run\.html: file too large/);
      expect(page()).to.equal('old');
      await expectNoRest();
    });
  });

  describe('in a browser', () => {
    let outside: OutsideServer;
    before(async function () {
      needsBrowser(this);
      outside = await startOutsideServer();
    });
    after(() => outside?.close());

    it('shows its plots, and loads nothing else', async () => {
      const flow = 'for part in 1 2 3; do head -c 8M /dev/zero; sleep 0.3; done';
      await lab.sh(`rdpipe --report run.html h1:'${flow}' h2:'cat >/dev/null' >/dev/null`);
      const { dom, complaints } = await look('run.html');
      expect(complaints).to.deep.equal([]);
      const plots = dom.match(/<svg [\s\S]*?<\/svg>/g) ?? [];
      expect(plots).to.have.length(2);
      for (const plot of plots) expect(plot).to.match(/<path d="M[\d.]+ [\d.]+L[^"]+" fill="none" stroke="#0072b2"/);
    });

    it('fits a window of 1200 pixels, and labels no two ticks of an axis alike', async () => {
      const stages =
        "h1:'for part in 1 2 3 4; do head -c 4M /dev/zero; sleep 0.3; done' behind:cat h2:'cat >/dev/null'";
      await lab.sh(`rdpipe --report run.html --encrypt always --compress zstd ${stages} >/dev/null`);
      await lab.sh('rdpipe bench --rounds 1 --size 1M --report bench.html h1 h2');
      for (const name of ['run.html', 'bench.html']) {
        const { dom } = await lookAt(await measuring(name), 1200);
        expect(/<title>([\s\S]*?)<\/title>/.exec(dom)?.[1], name).to.equal('nothing is cut');
        const plots = page(name).match(/<svg [\s\S]*?<\/svg>/g) ?? [];
        expect(plots).to.have.length.of.at.least(3);
        for (const plot of plots) {
          const ticks = [...plot.matchAll(/<text[^>]*>([^<]*)<\/text>/g)]
            .map(([, text]) => text)
            .filter((text) => /^\d/.test(text ?? ''));
          expect(ticks).to.have.length.of.at.least(3);
          expect(new Set(ticks).size, ticks.join()).to.equal(ticks.length);
        }
      }
    });

    it('shows text from hosts as text, and contacts no server for it', async () => {
      const evil = `<img src=${outside.url}/img><script>fetch("${outside.url}/js");document.title="owned"</script>`;
      await lab.write('evil', Buffer.from(`${evil}\n\x1b[31mred\u202e\n`));
      const { status } = await lab.sh(
        `rdpipe --report run.html h1:"cat '$PWD/evil' >&2; : '${evil.replaceAll('"', '\\"')}'" h2:'cat >/dev/null'`,
      );
      expect(status).to.equal(0);
      const { dom, complaints } = await look('run.html');
      expect(complaints).to.deep.equal([]);
      expect(outside.asked).to.deep.equal([]);
      expect(dom).to.contain(`content="${POLICY}`);
      expect(dom)
        .to.contain('<title>rdpipe: succeeded</title>')
        .and.not.to.match(/<img|<script/);
      expect(textOf(dom)).to.contain(evil).and.to.contain('␛[31mred�');
    });

    it('would have been caught contacting a server, and failing', async () => {
      const said = `<img src="${outside.url}/img"><script>console.error("seen")</script>`;
      await lab.write('open.html', Buffer.from(said));
      const open = await look('open.html');
      expect(open.complaints.join()).to.contain('seen');
      expect(outside.asked).to.contain('/img');
      const asked = outside.asked.length;
      await lab.write(
        'closed.html',
        Buffer.from(`<meta http-equiv="Content-Security-Policy" content="${POLICY}">${said}`),
      );
      expect((await look('closed.html')).complaints.join()).to.contain('Content Security Policy');
      expect(outside.asked).to.have.length(asked);
    });

    /** Writes a copy of the page with a script that names the boxes whose content is cut off. */
    async function measuring(name: string): Promise<string> {
      const script = `const boxes = [document.documentElement, ...document.querySelectorAll('.wide, pre, svg')];
        const cut = boxes.filter((box) => box.scrollWidth > box.clientWidth);
        document.title = cut.map((box) => box.outerHTML.slice(0, 60)).join() || 'nothing is cut';`;
      const open = page(name).replace(/<meta http-equiv="Content-Security-Policy"[^>]*>/, '');
      await lab.write(`measuring-${name}`, Buffer.from(open.replace('</body>', `<script>${script}</script></body>`)));
      return join(lab.directory, `measuring-${name}`);
    }

    async function look(name: string): Promise<Look> {
      const look = await lookAt(join(lab.directory, name));
      expect(statSync(join(lab.directory, `${name}.png`)).size).to.be.greaterThan(1000);
      return look;
    }
  });
});

/** The visible text of the page: without markup, a line per row. */
function textOf(markup: string): string {
  return markup
    .replaceAll(/<(style|svg)[\s\S]*?<\/\1>/g, '')
    .replaceAll(/<\/(td|th|dt)>/g, ' ')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
