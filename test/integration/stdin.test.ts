// SPDX-License-Identifier: Apache-2.0
// Kinds of standard input.
import { useLab } from '../support/lab.ts';
import { failed, succeeded } from '../support/shell.ts';

const COUNT = "h1:'wc -c' h2:cat";

describe('standard input', () => {
  const lab = useLab();

  it('may be a file', async () => succeeded(await lab.sh(`printf 12345 > in; rdpipe ${COUNT} < in`), '5\n'));

  it('is read from its offset', async () =>
    succeeded(await lab.sh(`printf 'one\\ntwo\\n' > in; { read -r line; rdpipe h1:cat h2:cat; } < in`), 'two\n'));

  it('may be a pipe', async () => succeeded(await lab.sh(`printf 12345 | rdpipe ${COUNT}`), '5\n'));

  it('may be /dev/null', async () => succeeded(await lab.sh(`rdpipe ${COUNT} < /dev/null`), '0\n'));

  it('may be closed', async () => succeeded(await lab.sh(`rdpipe ${COUNT} <&-`), '0\n'));

  it('is not read when it is a terminal', async () => {
    const terminal = lab.start(`exec script -qec "rdpipe ${COUNT} > out" /dev/null`, { stdin: 'open' });
    const result = await terminal.result;
    succeeded({ ...result, text: (await lab.read('out')).toString() }, '0\n');
  });

  it('is not read with --stdin none, as needed in a loop with read', async () => {
    const loop = `while read -r word; do rdpipe --stdin none h1:"echo $word" h2:rev; done`;
    succeeded(await lab.sh(`printf 'ab\\ncd\\nef\\n' | ${loop}`), 'ba\ndc\nfe\n');
  });

  it('is not read with --stdin none, even if it is open and silent', async () => {
    const running = lab.start(`exec rdpipe --stdin none ${COUNT}`, { stdin: 'open' });
    succeeded(await running.result, '0\n');
  });

  it('is not waited for when the first stage does not read it', async () => {
    const running = lab.start(`exec rdpipe h1:'echo done' h2:cat`, { stdin: 'open' });
    succeeded(await running.result, 'done\n');
  });

  it('arrives as it is typed', async () => {
    const running = lab.start(`exec rdpipe h1:'grep --line-buffered o' h2:cat`, { stdin: 'open' });
    running.write('one\n');
    await running.printed('one\n');
    running.write('nil\ntwo\n');
    await running.printed('one\ntwo\n');
    running.closeInput();
    succeeded(await running.result, 'one\ntwo\n');
  });

  describe('and other descriptors of rdpipe', () => {
    it('are read and written by the first and the last stage', async () => {
      const script = `rdpipe ':< '<(printf 12345) h1:'wc -c'; rdpipe ':< /dev/fd/3' :cat 3<<< three
        echo in | rdpipe ':< /dev/stdin' h1:rev; rdpipe h1:'echo x' ':> /dev/stdout'
        rdpipe ':< '<(echo both) ':> '>(rev; echo done) | cat; yes | rdpipe ':< '<(yes) ':head -n 1'`;
      succeeded(await lab.sh(script), '5\nthree\nni\nx\nhtob\ndone\ny\n');
    });

    it('are rejected where no program could open them', async () => {
      for (const [line, why] of [
        [`':< /dev/fd/99' :cat`, /^rdpipe: < \/dev\/fd\/99: descriptor 99 is not open for data/],
        [
          `h1:'> /dev/stdout'`,
          /^rdpipe: stage 1 \(h1: > \/dev\/stdout\) names a descriptor, not a file \(only the last/,
        ],
        [`:cat ':> x' ':< /dev/stdin' :cat`, /^rdpipe: stage 3 \(.*\) names a descriptor, not a file \(only the first/],
      ] as const)
        failed(await lab.sh(`rdpipe ${line}`), 2, why);
    });
  });
});
