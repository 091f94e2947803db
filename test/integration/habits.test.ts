// SPDX-License-Identifier: Apache-2.0
// What people type who think of a shell, of ssh or of scp: it works as they mean it, or says what to type.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { useLab } from '../support/lab.ts';
import { type Result, succeeded } from '../support/shell.ts';

/** Status 2, no output, and both of these on standard error. */
function refused({ status, text, stderr }: Result, message: string, hint: string): void {
  expect({ status, text }, stderr).to.deep.equal({ status: 2, text: '' });
  const [line, , carets] = stderr.split('\n');
  expect(line).to.equal(`rdpipe: ${message}`);
  expect(carets).to.match(/^ +\^+ /);
  expect(carets?.replace(/^ +\^+ /, '')).to.equal(hint);
}

describe('a redirection that would lose data', () => {
  const lab = useLab();
  const LOST = 'would lose data (a leading :; runs it all the same)';
  const CASES: readonly (readonly [string, string, string])[] = [
    [
      "h1:'< f1 | gzip' h2:'> f1.gz'",
      'stage 1 (h1: < f1 | gzip) begins with <',
      "make it a stage of its own: h1:'< f1'",
    ],
    ["h1:'< f 2>/dev/null'", 'stage 1 (h1: < f 2>/dev/null) begins with <', "make it a stage of its own: h1:'< f'"],
    [
      "h1:'echo hi' h2:'> f2 && sync'",
      'stage 2 (h2: > f2 && sync) begins with >',
      "make it a stage of its own: h2:'> f2'",
    ],
    [
      "h1:'echo hi' h2:'> dump of monday'",
      'stage 2 (h2: > dump of monday) begins with >',
      `quote the name: h2:"> 'dump of monday'"; or write the command first`,
    ],
  ];
  for (const [words, message, hint] of CASES) {
    it(`is refused: ${words}`, async () => {
      refused(await lab.sh(`rdpipe ${words}`), `${message} and ${LOST}`, hint);
    });
  }

  it('works as it is mended', async () => {
    const result = await lab.sh(`
      echo hi > in; rdpipe h1:"< $PWD/in" h1:gzip h2:"> '$PWD/a b.gz'"; zcat 'a b.gz'`);
    succeeded(result, 'hi\n');
  });

  it('runs behind :; as sh takes it', async () => {
    const result = await lab.sh(
      `rdpipe h1:':; < /etc/passwd | wc -c' h2:":; > $PWD/empty && echo done"; wc -c < empty`,
    );
    succeeded(result, 'done\n0\n');
  });

  it('is an ordinary command where it fills its own input', async () => {
    const result = await lab.sh(`
      printf 'b\\na\\n' > in; rdpipe h1:"<$PWD/in sort" h2:rev h2:'2>/dev/null cat'
      rdpipe h1:'<< EOF tr a-z A-Z
some words
EOF'`);
    succeeded(result, 'a\nb\nSOME WORDS\n');
  });
});

describe('a sink before another stage', () => {
  const lab = useLab();

  it('is refused, and empties nothing', async () => {
    const result = await lab.sh(`echo hi | rdpipe h2:'> ~/a' h3:'> ~/a'`);
    refused(result, 'stage 1 (h2: > ~/a) is a sink: it hands nothing to stage 2', "make it a command: h2:'tee ~/a'");
    for (const host of ['h2', 'h3']) expect(existsSync(join(lab.host(host).home, 'a'))).to.equal(false);
  });

  it('works as it is mended', async () => {
    succeeded(await lab.sh(`echo hi | rdpipe h2:'tee ~/a' h3:'> ~/a'`), '');
    for (const host of ['h2', 'h3']) expect(readFileSync(join(lab.host(host).home, 'a'), 'utf8')).to.equal('hi\n');
  });
});
