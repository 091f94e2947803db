// SPDX-License-Identifier: Apache-2.0
// Regressions of complete pipelines: failures of earlier tools that must not return
// (docs/notes/regressions.md). test/hop/regressions.test.ts has those of a single hop.
import { mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { useLab } from '../support/lab.ts';
import { needsRoot } from '../support/needs.ts';
import { reportOf } from '../support/report.ts';
import { failed, succeeded } from '../support/shell.ts';

describe('rdpipe', () => {
  const lab = useLab();
  const committing = () => `'cat > ${lab.directory}/seen; touch ${lab.directory}/committed'`;

  it('keeps the content of a file that standard output appends to', async () =>
    succeeded(await lab.sh(`{ echo a; rdpipe h1:'echo hi' h2:rev; echo b; } > out; cat out`), 'a\nih\nb\n'));

  for (const where of ['h2', 'h1'] as const)
    it(`does not end the next stage's input when a stage dies, on ${where === 'h1' ? 'the same' : 'another'} host`, async () => {
      failed(
        await lab.sh(`rdpipe h1:'echo half; exit 3' ${where}:${committing()}`),
        3,
        /stage 1 .* exited with status 3.*; stage 2 was stopped/,
      );
      failed(
        await lab.sh(`rdpipe h1:'echo half; kill -9 $$' ${where}:${committing()}`),
        137,
        /stage 1 .* SIGKILL.*; stage 2 was stopped/,
      );
      expect(await lab.list()).not.to.include('committed');
    });

  it('listens on no wildcard address, and only during a run', async function () {
    needsRoot(this); // to see the descriptors of a program that is not dumpable
    const running = lab.start("exec rdpipe h1:'echo begun; sleep 1000' h2:cat");
    await running.printed('begun\n');
    const addresses = lab.processes().flatMap(({ pid }) => listenersOf(pid));
    expect(addresses).to.have.length.above(0); // each hop's listening end, until the stream ends
    expect(addresses.filter((address) => /^0+$/.test(address))).to.deep.equal([]);
    running.kill('SIGINT');
    await running.result;
    expect(lab.processes()).to.deep.equal([]);
  });

  it('accepts a host several times in a pipeline, and several runs at a time', async () => {
    const pipeline = `echo hi | rdpipe h1:'tr a-z A-Z' h2:cat h1:rev h2:cat`;
    const { text, stderr } = await lab.sh(`for name in 1 2 3; do ${pipeline} > $name & done; wait; cat 1 2 3`);
    expect({ text, stderr }).to.deep.equal({ text: 'IH\nIH\nIH\n', stderr: '' });
  });

  it('exits with a status other than 0 after every failure', async () => {
    for (const [line, status] of [
      ['rdpipe', 2],
      ['rdpipe rev', 2],
      ['rdpipe --no-such-option h1:true', 2],
      ['rdsend', 2],
      ['rdrecv nonsense', 2],
      ["rdpipe h1:'< none'", 125],
      ['rdpipe no..such:true', 125],
      ['rdpipe h1:false', 1],
    ] as const)
      expect((await lab.sh(line)).status, line).to.equal(status);
  });

  it('uses user@host for ssh and for the data', async () => {
    const result = await lab.sh('user=$(id -un); echo hi | rdpipe "$user@h1:tr a-z A-Z" "$user@h2:rev"');
    succeeded(result, 'IH\n');
  });

  it("shows the stages' standard error, also when standard output is closed", async () => {
    const { stderr, status } = await lab.sh("rdpipe h1:'echo one >&2' h2:'cat; echo two >&2; exit 4' >&-");
    expect(status).to.equal(4);
    expect(stderr)
      .to.match(/^h1: one$/m)
      .and.to.match(/^h2: two$/m)
      .and.to.match(/^rdpipe: stage 2 .* exited with status 4/m);
  });

  it('resolves an alias as ssh does, also for the data', async () => {
    const result = await lab.sh('echo hi | rdpipe --json h1:rev behind:cat');
    expect(result.text, result.stderr).to.equal('ih\n');
    // The system can resolve neither name.
    const hop = reportOf(result).hops.find(({ to }) => to === 'behind');
    expect(hop).to.include({ from: 'h1', transport: 'tcp', result: 'delivered' });
    expect(hop?.peer).to.match(/^127\.0\.0\.\d+:\d+$/);
  });

  it('treats blanks, quotes, colons and commands in a path literally', async () => {
    const name = `it's: "a" $(touch ran) \`touch ran\`;touch ran`;
    const quoted = `'${name.replaceAll("'", `'\\''`)}'`;
    const result = await lab.sh(
      `echo hi > "$NAME"; rdpipe h1:"< $PWD/$QUOTED" h2:"> $PWD/new$QUOTED"; cat "new$NAME"`,
      {
        NAME: name,
        QUOTED: quoted,
      },
    );
    succeeded(result, 'hi\n');
    expect((await lab.list()).sort()).to.deep.equal([name, `new${name}`].sort());
  });

  it('reports a directory as source or target, and copies nothing', async () => {
    mkdirSync(join(lab.directory, 'there'));
    await lab.write('in', Buffer.from('hi\n'));
    failed(
      await lab.sh(`rdpipe h1:"< $PWD/in" h2:"> $PWD/there"`),
      125,
      /stage 2 \(h2: > .*there\): .*is a directory/i,
    );
    failed(
      await lab.sh(`rdpipe h1:"< $PWD/there" h2:"> $PWD/out"`),
      125,
      /stage 1 \(h1: < .*there\): .*is a directory/i,
    );
    expect(readdirSync(join(lab.directory, 'there'))).to.deep.equal([]);
    expect((await lab.list()).sort()).to.deep.equal(['in', 'there']);
  });
});

/** Addresses on which a process listens, without the port, in the notation of /proc/net/tcp: `0100007F`. */
function listenersOf(pid: number): string[] {
  const inodes = descriptorsOf(pid).flatMap((name) => /^socket:\[(\d+)\]$/.exec(name)?.[1] ?? []);
  const sockets = ['tcp', 'tcp6'].flatMap((kind) => readFileSync(`/proc/net/${kind}`, 'utf8').split('\n').slice(1));
  const fields = sockets.map((line) => line.trim().split(/\s+/));
  const own = fields.filter(([, , , state, , , , , , inode]) => state === LISTENING && inodes.includes(inode ?? ''));
  return own.map(([, address]) => address?.replace(/:.*/, '') ?? '');
}

const LISTENING = '0A';

/** Returns nothing for a process that has ended. */
function descriptorsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
  } catch {
    return [];
  }
}
