// SPDX-License-Identifier: Apache-2.0
// Kinds of standard output, and readers that exit early.
import { expect } from 'chai';
import { useLab } from '../support/lab.ts';
import { succeeded } from '../support/shell.ts';

describe('standard output', () => {
  const lab = useLab();

  it('may be a file', async () => succeeded(await lab.sh(`rdpipe h1:'echo hi' h2:rev > out; cat out`), 'ih\n'));

  it('may be a file that is appended to', async () =>
    succeeded(await lab.sh(`echo a > out; rdpipe h1:'echo hi' h2:rev >> out; cat out`), 'a\nih\n'));

  it('may be a pipe', async () => succeeded(await lab.sh(`rdpipe h1:'echo hi' h2:rev | cat`), 'ih\n'));

  it('may be closed', async () => {
    succeeded(await lab.sh(`rdpipe h1:'echo hi' h2:'tee ${lab.directory}/seen' >&-`), '');
    expect((await lab.read('seen')).toString()).to.equal('hi\n');
  });

  it('may be /dev/null', async () => {
    succeeded(await lab.sh(`rdpipe h1:'echo hi' h2:'tee ${lab.directory}/seen' > /dev/null`), '');
    expect((await lab.read('seen')).toString()).to.equal('hi\n');
  });

  describe('with a reader that ends early', () => {
    const firstTen = (producer: string, options = '') =>
      `rdpipe ${options} h1:'${producer}' h2:cat | head -c 10; echo " \${PIPESTATUS[0]}"`;

    it('ends a busy producer with status 0', async () =>
      succeeded(await lab.sh(firstTen('yes abc')), 'abc\nabc\nab 0\n'));

    it('ends a producer that has fallen silent', async () =>
      succeeded(await lab.sh(firstTen('echo 1234567890; exec sleep 1000')), '1234567890 0\n'));

    it('ends a producer that handles SIGPIPE', async () =>
      succeeded(
        await lab.sh(firstTen('trap "" PIPE; while echo 123456789 2>/dev/null; do :; done; exit 7')),
        '123456789\n 0\n',
      ));

    it('ends a stage of this machine', async () =>
      succeeded(await lab.sh(`rdpipe :'yes abc' | head -c 4; echo "\${PIPESTATUS[0]}"`), 'abc\n0\n'));

    it('ends stages before a consumer within a pipeline', async () =>
      succeeded(await lab.sh(`rdpipe h1:'yes abc' h2:'head -n 2' h3:cat; echo $?`), 'abc\nabc\n0\n'));

    it('ends an idle standard input', async () => {
      const running = lab.start(`exec rdpipe h1:'head -n 1' h2:cat`, { stdin: 'open' });
      running.write('one\n');
      succeeded(await running.result, 'one\n');
    });
  });
});
