// SPDX-License-Identifier: Apache-2.0
// Files as sources and sinks of a run.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { useLab } from '../support/lab.ts';
import { needsRoot, needsTool } from '../support/needs.ts';
import { failed, succeeded } from '../support/shell.ts';

describe('files', () => {
  const lab = useLab();

  it('copies a file to a file', async () => {
    const result = await lab.sh(`seq 100000 > in; rdpipe h1:"< $PWD/in" h2:"> $PWD/out"; cmp in out`);
    succeeded(result, '');
  });

  it('reads a source into a command', async () =>
    succeeded(await lab.sh(`echo hi > in; rdpipe h1:"<$PWD/in" h1:'tr a-z A-Z' h2:rev`), 'IH\n'));

  it('sends a source to this machine', async () =>
    succeeded(await lab.sh(`echo hi > in; rdpipe h1:"< $PWD/in"`), 'hi\n'));

  it("writes a command's output into a sink on its own host", async () =>
    succeeded(await lab.sh(`rdpipe h1:'echo hi' h1:"> $PWD/out"; cat out`), 'hi\n'));

  it('writes standard input into a sink', async () =>
    succeeded(await lab.sh(`echo hi | rdpipe h2:"> $PWD/out"; cat out`), 'hi\n'));

  it('writes an empty file', async () =>
    succeeded(await lab.sh(`rdpipe h1:true h2:"> $PWD/out"; stat -c %s out`), '0\n'));

  it('appends', async () =>
    succeeded(await lab.sh(`echo a > out; echo b | rdpipe h1:cat h2:">> $PWD/out"; cat out`), 'a\nb\n'));

  it('creates the file that it appends to', async () =>
    succeeded(await lab.sh(`rm -f new; echo b | rdpipe h1:cat h2:">>$PWD/new"; cat new`), 'b\n'));

  it("expands ~ and variables with the host's shell", async () => {
    const result = await lab.sh(`rdpipe h1:'echo hi' h2:'> ~/tilde'; rdpipe h2:'< "$HOME/tilde"' h1:'> $HOME/"a b"'`);
    succeeded(result, '');
    expect(readFileSync(join(lab.host('h1').home, 'a b'), 'utf8')).to.equal('hi\n');
  });

  for (const [operator, before] of [
    ['>', ''],
    ['>>', 'head'],
  ] as const)
    it(`keeps the holes of a disk image, written by ${operator}`, async () => {
      const result = await lab.sh(`
        rm -f image out; truncate -s 200M image; mkfs.ext4 -q image; printf '${before}' | tee out > expected
        rdpipe h1:"< $PWD/image" h2:"${operator} $PWD/out"; cat image >> expected; cmp out expected; stat -c %b image out`);
      expect(result.stderr).to.equal('');
      const [image = 0, out = Infinity] = result.text.trim().split('\n').map(Number);
      expect(out).to.be.at.most(image);
    });

  it('follows a symbolic link to its target', async () => {
    const result = await lab.sh(`
      mkdir -p there; echo old > there/target; ln -sf there/target link
      echo new | rdpipe h1:cat h2:"> $PWD/link"; readlink link; cat there/target`);
    succeeded(result, 'there/target\nnew\n');
  });

  it('keeps the mode of the file it replaces', async () => {
    const result = await lab.sh(`
      echo old > out; chmod 640 out; echo new | rdpipe h1:cat h2:"> $PWD/out"; stat -c %a out; cat out`);
    succeeded(result, '640\nnew\n');
  });

  it('keeps ACL and attributes of the file it replaces', async function () {
    needsTool(this, 'setfacl', 'getfacl', 'setfattr', 'getfattr');
    const result = await lab.sh(`
      seen() { stat -c '%a %u %g' out; getfacl -c out; getfattr -d -m - out; }
      echo old > out; chmod 600 out; setfacl -m u:4321:rw out; setfattr -n user.note -v kept out
      seen > before; echo new | rdpipe h1:cat h2:"> $PWD/out"; seen | diff before - && cat out`);
    succeeded(result, 'new\n');
  });

  for (const [operator, sink, name, what, remedy] of [
    ['>', 'all/link', 'link', 'a link', 'name its target instead'],
    ['>>', 'all/way/out', 'way', 'a link', 'name its target instead'],
    ['>', 'all/file', 'file', 'a file', 'remove it or choose another name'],
    ['>>', 'all/file', 'file', 'a file', 'remove it or choose another name'],
  ] as const)
    it(`refuses ${operator} ${sink} of another user, in a shared directory`, async function () {
      needsRoot(this);
      const result = await lab.sh(`
        touch out; mkdir all; chmod 1777 all; ln -s ../out all/link; ln -s .. all/way; echo old > all/file; chown -h 1234 all/*
        rdpipe h1:'echo new' h2:"${operator} $PWD/${sink}"; s=$?; cat out all/file; exit $s`);
      failed(result, 125, new RegExp(`${name}, in a shared directory, is ${what} of user 1234: ${remedy}`));
      expect(result.text).to.equal('old\n');
    });

  it('writes into a fifo in place', async () => {
    const result = await lab.sh(
      `mkfifo f; cat f > seen & echo hi | rdpipe h1:cat h2:"> $PWD/f"; wait; cat seen; test -p f`,
    );
    succeeded(result, 'hi\n');
  });

  it('treats anything but one word as a command', async () => {
    const result = await lab.sh(`echo hi > in; rdpipe h1:"<$PWD/in tr a-z A-Z" h2:rev`);
    succeeded(result, 'IH\n');
  });

  it('reads a source after a sink, once that is written', async () => {
    const result = await lab.sh(`echo hi | rdpipe h1:cat h2:"> $PWD/out" h3:"< $PWD/out" h1:rev; cat out`);
    succeeded(result, 'ih\nhi\n');
  });

  it('runs a source within a pipeline after everything before it', async () => {
    const result = await lab.sh(`
      rm -f made; rdpipe h1:'echo dropped; echo late > '"$PWD"'/made' h2:"< $PWD/made" h3:rev`);
    succeeded(result, 'etal\n');
  });

  it('starts nothing after a source within a pipeline when a stage before it failed', async () => {
    const result = await lab.sh(`echo hi > in; rdpipe h1:'exit 3' h2:"< $PWD/in" h3:"tee $PWD/never"; ls never`);
    expect(result.status).to.equal(2);
    expect(result.stderr).to.match(/rdpipe: stage 1 \(h1: exit 3\) exited with status 3/);
  });

  it('leaves the target unchanged when the stream fails', async () => {
    const result = await lab.sh(
      `echo old > out; rdpipe h1:'echo new; exit 3' h2:"> $PWD/out"; s=$?; cat out; ls; exit $s`,
    );
    failed(result, 3, /stage 1 \(h1: echo new; exit 3\) exited with status 3/);
    expect(result.text)
      .to.match(/^old\n/)
      .and.not.match(/out./);
  });

  it('removes appended data when the stream fails', async () => {
    const result = await lab.sh(
      `echo old > out; rdpipe h1:'seq 100000; exit 3' h2:">> $PWD/out"; s=$?; cat out; exit $s`,
    );
    failed(result, 3, /exited with status 3/);
    expect(result.text).to.equal('old\n');
  });
});
