// SPDX-License-Identifier: Apache-2.0
// rdcp as users run it: paths, trees between hosts, plans, patterns, failures,
// standard input and output.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { jsonLines } from '../support/json-output.ts';
import { useLab } from '../support/lab.ts';
import { needsTool } from '../support/needs.ts';
import { reportOf } from '../support/report.ts';
import type { Result } from '../support/shell.ts';

/** A tree with entries of every kind: names with invalid UTF-8 and blanks, links, holes, an empty directory. */
const MAKE_TREE = `
  mkdir -p tree/deep/er tree/empty; seq 2000 > tree/deep/a; ln tree/deep/a tree/deep/er/hard; ln -s ../a tree/deep/er/soft
  truncate -s 3M tree/holes; echo x > tree/$'b\\xffd \\'name'; chmod 640 tree/deep/a; touch -d '2001-02-03 04:05:06.789' tree/deep/a
  echo 'a:b' > 'tree/a:b'`;

/** A command that prints nothing if both trees are the same. */
const compare = (one: string, other: string) => `rsync -aHAXSn --checksum --delete --itemize-changes ${one} ${other}`;

function expectRun(result: Result, status: number, text: string, stderr: string | RegExp = ''): void {
  expect(result.status, result.stderr).to.equal(status);
  expect(result.text).to.equal(text);
  if (typeof stderr === 'string') expect(result.stderr).to.equal(stderr);
  else expect(result.stderr).to.match(stderr);
}

describe('rdcp', () => {
  const lab = useLab();

  const WAYS: readonly (readonly [string, string, string])[] = [
    ['from here to a host', '', 'h2:'],
    ['from a host to here', 'h1:', ''],
    ['from host to host', 'h1:', 'h2:'],
    ['on one host', 'h1:', 'h1:'],
    ['on this machine', '', ''],
  ];
  for (const [name, from, to] of WAYS) {
    it(`copies a tree ${name}, and prints nothing`, async function () {
      needsTool(this, 'rsync');
      const result = await lab.sh(`${MAKE_TREE}
        rdcp -a "${from}$PWD/tree" "${to}$PWD/new"; ${compare('tree/', 'new/tree/')}`);
      expectRun(result, 0, '');
    });
  }

  it('copies only new and changed files', async () => {
    const result = await lab.sh(`${MAKE_TREE}
      rdcp -a tree/ h1:"$PWD/new"; echo more >> new/deep/a; touch new/deep/a
      rdcp -avz tree/ h1:"$PWD/new" 2> second; rdcp -av tree/ h1:"$PWD/new" 2> third; cmp tree/deep/a new/deep/a`);
    expectRun(result, 0, '');
    const second = readFileSync(join(lab.directory, 'second'), 'utf8');
    expect(second).to.match(/^rdcp: -z is ignored \(to compress, use --compress zstd\)\n/);
    expect(second).to.match(/^changed .*new\/deep\/a$/m);
    expect(readFileSync(join(lab.directory, 'third'), 'utf8')).to.match(/^Copied 0 files, 0 B in .*; \d+ unchanged$/m);
  });

  it('skips newer files with -u, as rsync does', async function () {
    needsTool(this, 'rsync');
    const result =
      await lab.sh(`mkdir s t; for f in newer older same link; do echo "$f" > s/$f; echo target > t/$f; done
      touch -d @1000 s/*; touch -d @999 t/older; touch -d @1000 t/same; chmod 700 s/newer; ln -sf x t/link; cp -a t u
      rdcp -au s/ h1:"$PWD/t"; rsync -au s/ u/; ${compare('t/', 'u/')}; cat t/newer t/older`);
    expectRun(result, 0, 'target\nolder\n');
  });

  it("copies only a directory's contents if the path ends with a slash", async () => {
    await lab.sh(
      `mkdir -p s/d t; echo x > s/d/f; rdcp -r s h1:"$PWD/t"; rdcp -r s/ h1:"$PWD/t"; rdcp -r s/. h1:"$PWD/u"`,
    );
    expect(readdirSync(join(lab.directory, 't')).sort()).to.deep.equal(['d', 's']);
    expect(readdirSync(join(lab.directory, 'u'))).to.deep.equal(['d']);
  });

  it('copies one file to the name DST, or into the directory DST', async () => {
    await lab.sh(`echo x > f; echo y > g; mkdir d; rdcp f h1:"$PWD/new"; rdcp f h1:"$PWD/d"; rdcp f g h1:"$PWD/two"`);
    expect(readdirSync(lab.directory).sort()).to.deep.equal(['d', 'f', 'g', 'new', 'two']);
    expect(readdirSync(join(lab.directory, 'd'))).to.deep.equal(['f']);
    expect(readdirSync(join(lab.directory, 'two')).sort()).to.deep.equal(['f', 'g']);
  });

  it('uses the home directory for a host without a path, and for ~/', async () => {
    const result = await lab.sh(`echo x > of-home; rdcp of-home h1:; rdcp h1:'~/of-home' back; rdcp back h2:'~/'`);
    expectRun(result, 0, '');
    expect(existsSync(join(lab.host('h1').home, 'of-home'))).to.equal(true);
    expect(existsSync(join(lab.host('h2').home, 'back'))).to.equal(true);
  });

  it('keeps every byte of a path that a shell would act on', async () => {
    const name = '$(touch x) * \'q\' "d" \\ \n\x01 ü';
    mkdirSync(join(lab.directory, 'in'));
    writeFileSync(join(lab.directory, 'in', name), 'x');
    const result = await lab.sh(`f=in/"$NAME"; rdcp h1:"$PWD/$f" h2:"$PWD/$NAME"; cat "$NAME"; rdcp h1:"$PWD/$f" -`, {
      NAME: name,
    });
    expectRun(result, 0, 'xx');
    expect(readdirSync(lab.directory).sort()).to.deep.equal([name, 'in'].sort());
  });

  it('names each path that failed, copies all others, and ends with 23', async () => {
    const result = await lab.sh(`mkdir d; echo x > d/a; echo y > f; rdcp "h1:$PWD/f" "h1:$PWD/none" "h1:$PWD/d" .`);
    expect(result.status, result.stderr).to.equal(23);
    expect(result.stderr).to.match(/^rdcp: h1: .*\/none: .+$/m);
    expect(result.stderr).to.match(/^rdcp: h1: .*\/d: .*-r.*$/m);
    expect(result.stderr).to.match(/^rdcp: 2 of 3 paths failed$/m);
  });

  for (const [name, from, to] of WAYS.slice(1))
    it(`does not copy the target into itself, ${name}`, async () => {
      // So many files that scan reaches the target after write has begun.
      const result = await lab.sh(`mkdir -p s/b t; seq -f 's/b/%g' 800 | xargs touch
        rdcp -r "${from}$PWD/s" "${to}$PWD/s/z"; find s/z | wc -l; rdcp -r "${from}$PWD/s/" "${to}$PWD/s/new"
        ls -A s/z; find s -path '*/.rdcp*'; rm -rf s`);
      const [found, ...rest] = result.text.trimEnd().split('\n');
      expect(Number(found), result.stderr).to.be.within(803, 804);
      expect(rest).to.deep.equal(['s']);
    });

  it('takes an empty .rdcp for the mark of a copy that begins', async () => {
    await lab.sh(`mkdir -p s/d/.rdcp s/e/.rdcp; touch s/d/a s/e/.rdcp/b; rdcp -r s/ h1:"$PWD/t"`);
    expect(await lab.sh('cd t && find * | sort')).to.include({ text: 'd\nd/a\ne\ne/.rdcp\ne/.rdcp/b\n' });
  });

  it('plans on standard output, and changes nothing', async () => {
    const result = await lab.sh(`mkdir s t; echo x > s/new; echo y > t/old; rdcp -an --delete s/ h1:"$PWD/t"; ls t s`);
    expect(result.status, result.stderr).to.equal(0);
    expect(result.text)
      .to.match(/^new +2 B +.*new$/m)
      .and.to.match(/^remove +.*old$/m);
    expect(result.text).to.match(/^would copy 1 file.*; remove 1.*\ns:\nnew\n\nt:\nold\n$/m);
  });

  it('removes what the source lacks, within its limit', async () => {
    await lab.sh(`mkdir s t; echo x > s/a; touch t/b t/c; rdcp -a --delete s/ h1:"$PWD/t"`);
    expect(readdirSync(join(lab.directory, 't'))).to.deep.equal(['a']);
    expect(
      (await lab.sh(`mkdir s2 t2; touch t2/b t2/c; rdcp -a --delete --max-delete 0 s2/ h1:"$PWD/t2"`)).status,
    ).not.to.equal(125);
    expect(readdirSync(join(lab.directory, 't2'))).to.deep.equal(['b', 'c']);
  });

  it('skips matches of patterns; the last match wins', async () => {
    await lab.sh(`mkdir -p s/build s/keep; touch s/a.o s/b.o s/c s/build/x; printf '# no\\n/build\\n!b.o\\n' > patterns
      rdcp -r --exclude '*.o' --exclude-from patterns s/ h1:"$PWD/t"`);
    expect(readdirSync(join(lab.directory, 't')).sort()).to.deep.equal(['b.o', 'c', 'keep']);
  });

  it('copies the paths of a list, from a file and, longer than a request, from standard input', async () => {
    const result = await lab.sh(`mkdir -p s/d; touch s/d/a s/b s/c s/other; printf 'd/a\\nb\\n' > list
      long() { printf './%.0s' {1..600000}; printf 'c\\0'; }
      rdcp -r --files-from list "h1:$PWD/s" h2:"$PWD/t"; long | rdcp --files-from - -0 "h1:$PWD/s" h2:"$PWD/t"`);
    expectRun(result, 0, '');
    expect(readdirSync(join(lab.directory, 't')).sort()).to.deep.equal(['b', 'c', 'd']);
  });

  it('reads lists and patterns from process substitutions of bash', async () => {
    const result = await lab.sh(`mkdir s; touch s/a s/b s/c.o; rdcp --files-from <(echo a) s h1:"$PWD/t"
      rdcp -0 --files-from <(printf 'b\\0') "h1:$PWD/s" t; rdcp -r --exclude-from <(echo '*.o') s/ u; ls t u
      rdcp <(echo x) t; rdcp s/a /dev/stdout`);
    const line = (path: string, form: string) => `rdcp: ${path} is a stream, not a file (write: ${form})\n`;
    expect(result.text).to.equal('t:\na\nb\n\nu:\na\nb\n');
    const streams = [line('/dev/fd/63', 'COMMAND | rdcp - DST'), line('/dev/stdout', 'rdcp SRC - | COMMAND')];
    expect(result.stderr).to.equal(streams.join(''));
  });

  it('removes files of the source when they are at the target', async () => {
    const result = await lab.sh(
      `mkdir -p s/d; echo x > s/d/a; rdcp -r --remove-source-files s/ h2:"$PWD/t"; cat t/d/a; ls -A s/d`,
    );
    expectRun(result, 0, 'x\n');
  });

  it('removes files of the source that were already there only if their contents are compared', async () => {
    const result = await lab.sh(`mkdir -p s/d; echo x > s/d/a; echo y > s/d/b; ln s/d/a s/d/c; ln -s a s/d/l
      rdcp -a s/ t; chmod 600 t/d/b; rdcp -a --remove-source-files s/ h2:"$PWD/t"; ls -A s/d; stat -c %a t/d/b
      rdcp -ac --remove-source-files s/ h2:"$PWD/t"; ls -A s/d; cat t/d/a t/d/b t/d/c`);
    const line =
      'rdcp: warning: h2: 3 files stay at the source, because the target already had them, by size and time ' +
      '(add --checksum to compare contents and delete them)\n';
    expectRun(result, 0, 'a\nb\nc\n644\nx\ny\nx\n', line);
  });

  it('keeps files of the source that -u skips, whatever their contents', async () => {
    const result = await lab.sh(`mkdir s t; echo x > s/new; echo old > s/a; touch -d 2020-01-01 s/a; echo newer > t/a
      echo same > s/b; cp -p s/b t; rdcp -auc --remove-source-files s/ h2:"$PWD/t"; ls s; cat t/a t/new`);
    expectRun(result, 0, 'a\nnewer\nx\n');
  });

  it('copies standard input to a file, and a file to standard output', async () => {
    const result = await lab.sh(`seq 5000 | rdcp - h1:"$PWD/it's"; rdcp h1:"$PWD/it's" - | cksum; seq 5000 | cksum`);
    const [one, other] = result.text.trimEnd().split('\n');
    expect(one).to.equal(other);
    expect(result.stderr).to.equal('');
  });

  it('writes one line per path with -v, and the hops after the totals with -vv', async () => {
    const result = await lab.sh(`mkdir s; echo x > s/a; rdcp -rv s/ h1:"$PWD/t"; rdcp -nrvv s/ h1:"$PWD/u"`);
    expect(result.stderr).not.to.match(/Bandwidth|succeeded/);
    const twice = await lab.sh(`mkdir s; echo x > s/a; rdcp -rvv s/ h1:"$PWD/t"`);
    expect(twice.stderr.indexOf('Copied')).to.be.lessThan(twice.stderr.indexOf('Bandwidth'));
    expect(result.stderr)
      .to.match(/^new .*a$/m)
      .and.to.match(/^Copied 1 file, 2 B in .*$/m);
  });

  it('writes only JSON with --json, a report at the end', async () => {
    const result = await lab.sh(`mkdir s; echo x > s/a; rdcp -r --json s/ none h1:"$PWD/t"`);
    const lines = jsonLines(result.stderr, 'run');
    expect(result.status).to.equal(23);
    expect(lines.filter(({ event }) => event === 'path').map(({ path }) => path)).to.satisfy(
      (paths: readonly string[]) => paths.some((path) => path.endsWith('a')),
    );
    expect(lines.filter(({ event }) => event === 'failed')).to.have.length(1);
    expect(lines.at(-1)).to.deep.include({ kind: 'report', status: 23, cause: 'copy' });
    expect(reportOf(result).copy).to.include({ files: 1, failed: 1 });
  });

  it('does not count the time in which files wait for others as theirs', async () => {
    const make = 'mkdir tree; seq 2000 | (cd tree; split -l 1 -a 4)';
    const { seconds, copy } = reportOf(await lab.sh(`${make}; rdcp -r --json --jobs 2 tree/ h1:new`));
    const spentMs = copy?.slowestDirectories.map(({ ms }) => ms) ?? [];
    expect(spentMs).to.have.length(1);
    expect(spentMs[0]).to.be.at.most(2 * 1000 * seconds);
  });

  it('writes a page with failures', async () => {
    await lab.sh(`mkdir s; echo x > s/a; rdcp -r --report page.html s/ none h1:"$PWD/t"`);
    const page = readFileSync(join(lab.directory, 'page.html'), 'utf8');
    expect(page).to.contain('rdcp: failed').and.to.contain('none').and.to.contain('Copied 1 file');
  });

  it('starts nothing for a usage error', async () => {
    const result = await lab.sh(`rdcp h1:a h2:b c; rdcp -P 22 a h1:b; rdcp a rd://h1/b`);
    expect(result.status).to.equal(2);
    expect(result.stderr).to.contain('sources are on two hosts').and.to.contain('-o Port=22').and.to.contain('rd://');
  });
});
