// SPDX-License-Identifier: Apache-2.0
// Command lines in the manner of a shell, ssh or scp:
// they work as intended, or the error message gives the right command.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { useLab } from '../support/lab.ts';
import { failed, type Result, succeeded } from '../support/shell.ts';

/** Expects status 2, no output, and both texts on standard error. */
function refused({ status, text, stderr }: Result, message: string, hint: string): void {
  expect({ status, text }, stderr).to.deep.equal({ status: 2, text: '' });
  const [line, , carets] = stderr.split('\n');
  expect(line).to.equal(`rdpipe: ${message}`);
  expect(carets).to.match(/^ +\^+ /);
  expect(carets?.replace(/^ +\^+ /, '')).to.equal(hint);
}

describe('a redirection that would lose data', () => {
  const lab = useLab();
  const LOST = 'would lose data (start it with :; to run it anyway)';
  const CASES: readonly (readonly [string, string, string])[] = [
    ["h1:'< f1 | gzip' h2:'> f1.gz'", 'stage 1 (h1: < f1 | gzip) begins with <', "put it in its own stage: h1:'< f1'"],
    ["h1:'< f 2>/dev/null'", 'stage 1 (h1: < f 2>/dev/null) begins with <', "put it in its own stage: h1:'< f'"],
    [
      "h1:'echo hi' h2:'> f2 && sync'",
      'stage 2 (h2: > f2 && sync) begins with >',
      "put it in its own stage: h2:'> f2'",
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

  it('works as corrected', async () => {
    const result = await lab.sh(`
      echo hi > in; rdpipe h1:"< $PWD/in" h1:gzip h2:"> '$PWD/a b.gz'"; zcat 'a b.gz'`);
    succeeded(result, 'hi\n');
  });

  it('runs after :; as in sh', async () => {
    const result = await lab.sh(
      `rdpipe h1:':; < /etc/passwd | wc -c' h2:":; > $PWD/empty && echo done"; wc -c < empty`,
    );
    succeeded(result, 'done\n0\n');
  });

  it('is an ordinary command if it provides its own input', async () => {
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
    refused(
      result,
      'stage 1 (h2: > ~/a) writes a file and sends nothing to stage 2',
      "write one stage for both: h2,h3:'> ~/a'",
    );
    for (const host of ['h2', 'h3']) expect(existsSync(join(lab.host(host).home, 'a'))).to.equal(false);
  });

  it('works as corrected', async () => {
    succeeded(await lab.sh(`echo hi | rdpipe h2,h3:'> ~/a'`), '');
    for (const host of ['h2', 'h3']) expect(readFileSync(join(lab.host(host).home, 'a'), 'utf8')).to.equal('hi\n');
  });
});

describe('habits of ssh and scp', () => {
  const lab = useLab({ hosts: [{ name: 'refused', client: ['Port 1'] }] });

  it('files without an operator: the failure names < and >', async () => {
    const first = await lab.sh(`rdpipe --stderr off h1:one.txt h2:cat`);
    failed(first, 127, /\(command not found; if it is a file, use h1:'< one\.txt' to read it\); stage 2 was stopped/);
    const last = await lab.sh(`rdpipe --stderr off h1:true h2:./copy.txt`);
    failed(last, 127, /\(command not found; if it is a file, use h2:'> \.\/copy\.txt' to write it\)/);
    const both = await lab.sh(`mkdir data; rdpipe --stderr off h1:true h2:$PWD/data h3:cat`);
    failed(
      both,
      126,
      /\(not executable; if it is a file, use h2:'< \/.*\/data' to read it or h2:'> \/.*\/data' to write it\)/,
    );
  });

  it('the same with an existing file', async () => {
    const result = await lab.sh(`echo hi > one.txt; rdpipe --stderr off :./one.txt h2:cat`);
    failed(result, 126, /\(not executable; if it is a file, use :'< \.\/one\.txt' to read it\)/);
  });

  it('as corrected', async () =>
    succeeded(await lab.sh(`echo hi > one.txt; rdpipe :'< ./one.txt' h2:"> $PWD/copy.txt"; cat copy.txt`), 'hi\n'));

  for (const ssh of ['openssh', 'ssh2'])
    it(`-p for ssh's port (${ssh})`, async () => {
      const hint = /connection refused on port 1; -p sets the data port, use -o Port=2222 for ssh \(try: ssh /;
      failed(await lab.sh(`rdpipe --ssh ${ssh} -p 2222 h1:true refused:cat`), 125, hint);
      const without = await lab.sh(`rdpipe --ssh ${ssh} -p 2222-2230 h1:true refused:cat`);
      failed(without, 125, /connection refused on port 1 \(try: ssh /);
    });

  it('a port after the host', async () =>
    refused(
      await lab.sh('rdpipe h1:2222:uptime'),
      'stage 1 has a port in place of a command: h1:2222:uptime',
      'use -o Port=NUMBER before the stages, or set Port in ~/.ssh/config for one host',
    ));

  for (const [words, hint] of [
    ['-l ann', 'use user@host:command'],
    ['-i ~/.ssh/id', 'use -o IdentityFile=FILE'],
    ['-J gw', 'use -o ProxyJump=HOST'],
    ['-4', 'use -o AddressFamily=inet'],
    ['-6', 'use -o AddressFamily=inet6'],
    ['-P 2222', "for ssh's port use -o Port=PORT"],
  ] as const)
    it(`${words}`, async () => {
      const result = await lab.sh(`rdpipe ${words} h1:true`);
      failed(result, 2, /^rdpipe: unknown option '-\w' \(.*; rdpipe --help shows the options\)$/m);
      expect(result.stderr).to.contain(`(${hint};`);
    });

  it('a loop that reads its list: --stdin none leaves the list unread, -n starts nothing and reports it', async () => {
    const loop = (option: string) =>
      `printf '%s\\n' a b c | while read -r x; do rdpipe ${option} h1:"echo $x; cat"; done`;
    succeeded(await lab.sh(loop('--stdin none')), 'a\nb\nc\n');
    const dry = await lab.sh(loop('-n'));
    expect(dry.stderr.trimEnd().split('\n')).to.deep.equal(
      Array(3).fill("rdpipe: dry run: nothing was started (for ssh's -n, use --stdin none)"),
    );
  });
});
