// SPDX-License-Identifier: Apache-2.0
// Files in place of the agent's programs on a host:
// rdpipe does not run a file of another user, and only its owner can access the files that rdpipe writes.
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { jsonLines } from '../support/json-output.ts';
import { useLab } from '../support/lab.ts';
import { succeeded } from '../support/shell.ts';

describe("the agent's programs on a host", () => {
  const lab = useLab({ isFirst: true });
  const place = () => join(lab.host('h1').home, '.cache/rdpipe');
  const version = () => join(place(), readdirSync(place())[0] ?? '');
  const run = () => lab.sh('rdpipe h1:"echo done"');

  it('are not run when they were changed: a message reports it, and they are copied again', async () => {
    succeeded(await run(), 'done\n');
    const program = join(version(), 'dynamic/rdstage');
    const size = lstatSync(program).size;
    rmSync(program);
    writeFileSync(program, `#!/bin/sh\n: >'${lab.directory}/trap'\n`.padEnd(size, '\n'), { mode: 0o700 });
    const result = await run();
    expect(existsSync(join(lab.directory, 'trap'))).to.equal(false);
    expect({ status: result.status, text: result.text }).to.deep.equal({ status: 0, text: 'done\n' });
    expect(result.stderr).to.equal(
      "rdpipe: warning: rdpipe's programs on h1 were changed after they were copied; copying them again without running them\n",
    );
  });

  it('need one login to be copied, and a second one if they were changed', async () => {
    const { home } = lab.host('h3');
    writeFileSync(join(home, '.bashrc'), 'echo login >>~/logins\n');
    const logins = () => readFileSync(join(home, 'logins'), 'utf8');
    succeeded(await lab.sh('rdpipe h3:"echo done"'), 'done\n');
    expect(logins()).to.equal('login\n');
    const [version = ''] = readdirSync(join(home, '.cache/rdpipe'));
    appendFileSync(join(home, '.cache/rdpipe', version, 'dynamic/rdhop'), 'changed');
    expect(await lab.sh('rdpipe h3:"echo done"')).to.include({ status: 0, text: 'done\n' });
    expect(logins()).to.equal('login\n'.repeat(3));
  });

  it('are copied once if several hosts have one home directory', async () => {
    const { home } = lab.host('h3');
    const other = lab.host('h2').home;
    rmSync(join(home, '.cache'), { recursive: true, force: true });
    renameSync(other, join(lab.directory, 'h2'));
    symlinkSync(home, other);
    try {
      const result = await lab.sh('rdpipe --json h2:"echo done" h3:cat');
      expect(result.text).to.equal('done\n');
      const copies = jsonLines(result.stderr, 'run').filter(({ kind, copied }) => kind === 'deploying' && copied === 0);
      expect(copies).to.have.lengthOf(1);
    } finally {
      rmSync(other);
      renameSync(join(lab.directory, 'h2'), other);
    }
  });

  it('are accessible only to their owner', async () => {
    rmSync(place(), { recursive: true, force: true });
    succeeded(await run(), 'done\n');
    const modes = filesBelow(place()).map((path) => lstatSync(path).mode & 0o077);
    expect(modes).to.have.length.at.least(6);
    expect(new Set(modes)).to.deep.equal(new Set([0]));
  });

  it('may be in a home directory with any name', async () => {
    const home = `${lab.directory}/a "home"; $(>trap) 'of' \`>trap\``;
    mkdirSync(home, { mode: 0o700 });
    const server = lab.host('h2').home;
    renameSync(server, join(lab.directory, 'h2'));
    await lab.sh(`ln -s "$LINK" '${server}'`, { LINK: home });
    try {
      succeeded(await lab.sh('rdpipe h2:"echo done"'), 'done\n');
      expect(readdirSync(join(home, '.cache/rdpipe'))).to.have.length(1);
      expect(await lab.list()).not.to.include('trap');
    } finally {
      rmSync(server);
      renameSync(join(lab.directory, 'h2'), server);
    }
  });
});

describe('files that rdpipe writes on its own machine', () => {
  const lab = useLab();

  for (const ssh of ['openssh', 'ssh2']) {
    it(`are accessible only to their owner, whatever the umask (${ssh})`, async () => {
      const before = privateDirectories();
      const running = lab.start(
        `umask 000; exec script -qec 'rdpipe --ssh ${ssh} h1:"echo begun; sleep 1000" > out' /dev/null`,
      );
      let directories: string[] = [];
      try {
        await eventually(async () => expect((await lab.read('out')).toString()).to.equal('begun\n'));
        directories = privateDirectories().filter((path) => !before.includes(path) && isOfThisRun(path));
        expect(directories).to.have.length.at.least(1);
        for (const path of directories.flatMap(filesBelow)) expect(lstatSync(path).mode & 0o077, path).to.equal(0);
      } finally {
        running.kill('SIGTERM');
        await running.result;
      }
      expect(directories.filter((path) => existsSync(path))).to.deep.equal([]);
    });
  }

  /** Other runs may have such directories at the same time: returns true if a process of this lab uses this one. */
  function isOfThisRun(directory: string): boolean {
    return lab
      .processes()
      .some(({ command, pid }) => command.includes(directory) || socketsOf(pid).includes(directory));
  }
});

function privateDirectories(): string[] {
  return readdirSync('/tmp')
    .filter((name) => /^rdpipe-\w{6}$/.test(name))
    .map((name) => join('/tmp', name));
}

/** Returns the paths of the unix sockets that a process listens on, as text. */
function socketsOf(pid: number): string {
  const own = readdirSync(`/proc/${pid}/fd`).map((fd) => readLink(`/proc/${pid}/fd/${fd}`));
  const lines = readFileSync('/proc/net/unix', 'utf8').split('\n');
  return lines.filter((line) => own.includes(`socket:[${line.trim().split(/\s+/)[6]}]`)).join('\n');
}

/** Returns '' for a descriptor that was closed meanwhile. */
function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

function filesBelow(directory: string): string[] {
  return [
    directory,
    ...readdirSync(directory, { recursive: true, encoding: 'utf8' }).map((name) => join(directory, name)),
  ];
}
