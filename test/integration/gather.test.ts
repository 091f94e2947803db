// SPDX-License-Identifier: Apache-2.0
// Many to one: the outputs of several hosts become one stream, whole lines as they arrive,
// or host after host.
import { expect } from 'chai';
import { useLab } from '../support/lab.ts';
import { reportOf } from '../support/report.ts';
import { failed, succeeded } from '../support/shell.ts';

const NAMES = ['n1', 'n2', 'n3'];

describe('many hosts to one reader', () => {
  const lab = useLab({ hosts: NAMES.map((name) => ({ name })) });
  const linesOf = (text: string) => text.trimEnd().split('\n').sort();

  it('shows the output of each host here, its name in front of each line', async () => {
    const { text, status, stderr } = await lab.sh(`rdpipe 'n[1-3]:echo rank $RDPIPE_RANK; printf end'`);
    expect(status, stderr).to.equal(0);
    expect(linesOf(text)).to.deep.equal(NAMES.flatMap((name, rank) => [`${name}: end`, `${name}: rank ${rank}`]));
  });

  it('gathers for a command, here and on another host', async () => {
    for (const place of ['', 'h1']) {
      succeeded(await lab.sh(`rdpipe 'n[1-3]:seq 1000' ${place}:'grep -c 7'`), '813\n');
    }
  });

  it('never tears a line, also one of more than a MiB', async () => {
    const write = `for i in 1 2 3 4 5; do head -c 1500000 /dev/zero | tr '\\0' $RDPIPE_RANK; echo; done`;
    const count = `awk '{ c = substr($0, 1, 1); s = $0; gsub(c, "", s); print length($0), length(s) }'`;
    const result = await lab.sh(
      `rdpipe 'n[1-3]:${write.replaceAll("'", "'\\''")}' :${JSON.stringify(count).replaceAll('$', '\\$')}`,
    );
    expect(result.status, result.stderr).to.equal(0);
    expect(linesOf(result.text)).to.deep.equal(Array(15).fill('1500000 0'));
  });

  it('gives one host after another with --gather concat', async () => {
    const write = `sleep 0.$((5 - RDPIPE_RANK)); seq $RDPIPE_RANK 20 100; printf %s $RDPIPE_HOST`;
    const expected = [0, 1, 2]
      .map((rank) =>
        [...[0, 1, 2, 3, 4, 5].map((step) => rank + 20 * step).filter((n) => n <= 100), `n${rank + 1}`].join('\n'),
      )
      .join('');
    succeeded(await lab.sh(`rdpipe --gather concat 'n[1-3]:${write}' h1:cat`), expected);
  });

  it('prints equal outputs once with --fold, and no names with --no-prefix', async () => {
    const rule = '-'.repeat(15);
    const folded = (list: string, text: string) => `${rule}\n${list}\n${rule}\n${text}\n`;
    const write = `[ $RDPIPE_RANK = 1 ] && exit; echo even; [ $RDPIPE_RANK = 2 ] && printf more; true`;
    succeeded(
      await lab.sh(`rdpipe --fold 'n[1-3],h1:${write}'`),
      `${folded('n1,h1 (2)', 'even')}${folded('n3 (1)', 'even\nmore')}`,
    );
    succeeded(await lab.sh(`rdpipe --fold 'n[1-3]:echo hi'`), folded('n[1-3] (3)', 'hi'));
    succeeded(await lab.sh(`rdpipe --no-prefix 'n[1-3]:echo hi'`), 'hi\n'.repeat(3));
  });

  it('joins two stages on several hosts, and gathers the outputs here', async () => {
    const { text, status, stderr } = await lab.sh(`echo hi | rdpipe 'n[1-3]:cat' 'n[1-3]:tr a-z A-Z'`);
    expect(status, stderr).to.equal(0);
    expect(linesOf(text)).to.deep.equal(NAMES.map((name) => `${name}: HI`));
  });

  it('ends without a failure when the reader closes early', async () => {
    const { status, text } = await lab.sh(`rdpipe 'n[1-3]:yes' | head -3; exit \${PIPESTATUS[0]}`);
    expect(text.split('\n')).to.have.length(4);
    expect(status).to.be.oneOf([0, 141]);
    succeeded(await lab.sh(`rdpipe 'n[1-3]:yes' h1:'head -2 | wc -l'`), '2\n');
  });

  describe('shows the output of the others', () => {
    const lastFails = `echo begun; if [ $RDPIPE_RANK != 0 ]; then exit 7; fi; sleep 0.5; echo end`;
    const lines = ['n1: begun', 'n1: end', 'n2: begun', 'n3: begun'];

    it('when a command fails on some hosts, and names them', async () => {
      const { text, status, stderr } = await lab.sh(`rdpipe 'n[1-3]:${lastFails}'`);
      expect(linesOf(text)).to.deep.equal(lines);
      expect(status).to.equal(7);
      expect(stderr).to.match(/^rdpipe: stage 1 \(n\[2-3\]: .*\) exited with status 7\n$/);
    });

    it('when hosts fail in different ways', async () => {
      const { status, stderr } = await lab.sh(`rdpipe 'n[1-3]:exit $((RDPIPE_RANK > 0 ? RDPIPE_RANK : 1))'`);
      expect(status).to.be.oneOf([1, 2]);
      expect(stderr).to.match(
        /^rdpipe: stage 1 \((n\[1-2\]: .* status 1; it also failed on n3|n3: .* status 2; it also failed on n\[1-2\])\n$/,
      );
    });

    it('when the command is killed, and if a chain feeds it', async () => {
      const killed = `read word; echo $word; if [ $RDPIPE_RANK = 1 ]; then kill -9 $$; fi; cat > /dev/null; echo end`;
      const { text, status, stderr } = await lab.sh(`seq 300000 | rdpipe 'n[1-3]:${killed}'`);
      expect(linesOf(text)).to.deep.equal(['n1: 1', 'n1: end', 'n2: 1', 'n3: 1', 'n3: end']);
      expect(status).to.equal(137);
      expect(stderr).to.match(/^rdpipe: stage 1 \(n2: .*was killed by SIGKILL.*\n$/);
    });

    it('and succeeds with the number of hosts of --require', async () => {
      const result = await lab.sh(`rdpipe --json --require 1 'n[1-3]:${lastFails}'`);
      expect(linesOf(result.text)).to.deep.equal(lines);
      expect(result.status, result.stderr).to.equal(0);
      expect(
        reportOf(result)
          .lost?.map(({ host }) => host)
          .sort(),
      ).to.deep.equal(['n2', 'n3']);
      expect((await lab.sh(`rdpipe --require 2 'n[1-3]:${lastFails}'`)).status).to.equal(7);
    });

    it('but not with --fail-fast', async () => {
      const waits = lastFails.replace('sleep 0.5', 'sleep 1000');
      const { text, status, stderr } = await lab.sh(`rdpipe --fail-fast 'n[1-3]:${waits}'`);
      expect(text).not.to.contain('end');
      expect(status).to.equal(7);
      // The run may end before the bytes of the host that failed are counted.
      expect(stderr).to.match(/exited with status 7( after 6 B)?; stage 1 was stopped/);
    });
  });

  it('gives the reader no end of file when one host fails', async () => {
    const write = `echo begun; if [ $RDPIPE_RANK = 1 ]; then exit 7; fi; sleep 1`;
    failed(
      await lab.sh(`rdpipe 'n[1-3]:${write}' h1:'cat > /dev/null; touch ${lab.directory}/ended'`),
      7,
      /stage 1 \(n2: .*exited with status 7/,
    );
    expect(await lab.list()).not.to.include('ended');
  });
});
