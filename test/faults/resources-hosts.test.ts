// SPDX-License-Identifier: Apache-2.0
// Shortages of a host or this machine: space for the agent, ports, descriptors, file sizes,
// a steady clock.
import { once } from 'node:events';
import { mkdirSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { useLab } from '../support/lab.ts';
import { needsFile, needsRoot } from '../support/needs.ts';
import { leaseSoon, limitWords } from '../support/run-limits.ts';
import { failed, succeeded } from '../support/shell.ts';
import type { HostSpec } from '../support/sshd.ts';

const FAKE_TIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1';
const HOUR_S = 3600;
const TOO_MANY_FILES = /^rdpipe: this machine: too many open files \(ulimit -n raises the limit\): /;

describe('a host', () => {
  const lab = useLab({
    isFirst: true,
    hosts: [
      withoutRoom('full', 'size=1m', ['$HOME', '/var/tmp']),
      withoutRoom('read-only', 'ro', ['$HOME', '/var/tmp']),
      withoutRoom('noexec', 'noexec', ['$HOME', '/var/tmp']),
      withoutRoom('full-home', 'size=1m', ['$HOME/.cache']),
      withoutRoom('read-only-home', 'ro', ['$HOME/.cache']),
      { name: 'short-files', server: ['ForceCommand ulimit -f 20000; eval "$SSH_ORIGINAL_COMMAND"'] },
    ],
  });
  before(function () {
    needsRoot(this);
  });

  for (const [host, why] of [
    ['full', 'no space left on device'],
    ['read-only', 'read-only file system'],
    ['noexec', 'programs cannot run there \\(mounted noexec\\?\\)'],
  ] as const) {
    it(`that is ${host} has no directory for the agent, and reports each one`, async () => {
      const result = await lab.sh(`exec rdpipe h1:'echo hi' ${host}:cat`);
      const places = `\\S+/\\.cache/rdpipe: .*${why}; .*; /var/tmp/rdpipe-0: .*${why}`;
      failed(
        result,
        125,
        new RegExp(
          `^rdpipe: cannot copy the agent to ${host}: ${places} \\(if it is installed there, use --agent PATH\\)`,
          'i',
        ),
      );
    });
  }

  for (const host of ['full-home', 'read-only-home'])
    it(`with a ${host} keeps the agent in another directory`, async () => {
      succeeded(await lab.sh(`rdpipe h1:'echo hi' ${host}:rev`), 'ih\n');
      expect(readdirSync(join(lab.host(host).home, 'run/rdpipe'))).to.have.length(1);
    });

  it('that lets no file grow keeps the old file', async () => {
    const target = `${lab.directory}/target`;
    await lab.write('target', Buffer.from('old\n'));
    const result = await lab.sh(`exec rdpipe h1:'head -c 30M /dev/zero' short-files:'> ${target}'`);
    failed(result, 125, /^rdpipe: stage 2 \(short-files: > .*\): cannot write .*target: file too large after \d/);
    expect(await lab.list()).to.deep.equal(['target']);
    expect((await lab.read('target')).toString()).to.equal('old\n');
  });

  it('that lets no file grow kills the command that writes it', async () => {
    const result = await lab.sh(
      `exec rdpipe h1:'cat /dev/zero' short-files:'exec dd bs=1M of=${lab.directory}/own status=none'`,
    );
    failed(result, 128 + 25, /^rdpipe: stage 2 \(short-files: .*\) was killed by SIGXFSZ after \d/);
  });

  it('without a free port in the range is named, with advice', async () => {
    const server = createServer().listen(0, '0.0.0.0');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const result = await lab.sh(`exec rdpipe --port ${port}-${port} h1:'echo hi' h2:cat > /dev/null`);
    server.close();
    const why = `h2 cannot listen over tcp: cannot listen on \\S+, ports ${port} to ${port}: address already in use`;
    failed(result, 125, new RegExp(`^rdpipe: cannot connect h1 to h2: ${why}.* --port; `));
  });

  function withoutRoom(name: string, mount: string, directories: readonly string[]): HostSpec {
    const mounts = directories.map(
      (directory) => `mkdir -p ${directory}; mount -t tmpfs -o ${mount} rdpipe-test ${directory}`,
    );
    const script = `export XDG_RUNTIME_DIR=${name.endsWith('-home') ? '$HOME/run' : ''}; mkdir -p $XDG_RUNTIME_DIR; `;
    return {
      name,
      server: [`ForceCommand unshare -m sh -c '${script}${mounts.join('; ')}; eval "$SSH_ORIGINAL_COMMAND"'`],
    };
  }
});

describe('this machine', () => {
  const lab = useLab();

  for (const ssh of ['openssh', 'ssh2'])
    for (const files of [18, 30])
      it(`may open no more than ${files} files: ${ssh}`, async () => {
        const result = await lab.sh(`ulimit -n ${files}; exec rdpipe --ssh ${ssh} h1:'echo hi' h2:cat h3:cat`);
        failed(result, 125, TOO_MANY_FILES);
        expect(result.text).to.equal('');
      });

  for (const ssh of ['openssh', 'ssh2'])
    it(`keeps nothing in its temporary directory, however few files may be open: ${ssh}`, async () => {
      const place = join(lab.directory, 'run');
      mkdirSync(place, { mode: 0o700 });
      for (let files = 12; files <= 44; files += 2) {
        const env = { XDG_RUNTIME_DIR: place, TMPDIR: place };
        const result = await lab.sh(`ulimit -n ${files}; exec rdpipe --ssh ${ssh} h1:'echo hi'`, env);
        await eventually(() => expect(readdirSync(place), `ulimit -n ${files}`).to.deep.equal([]));
        if (result.status !== 0) failed(result, 125, TOO_MANY_FILES);
      }
    });

  it('may set its clock: no timeout becomes longer or shorter', async function () {
    needsFile(this, FAKE_TIME);
    const clock = join(lab.directory, 'clock');
    await writeFile(clock, '+0');
    const ticks = 'while sleep 0.1; do echo tick; done';
    const limits = leaseSoon();
    const running = lab.start(
      `exec rdpipe ${limitWords(limits)} --timeout ${HOUR_S / 2} :'${ticks}' h1:cat :"tee ${lab.directory}/seen"`,
      {
        env: {
          LD_PRELOAD: FAKE_TIME,
          FAKETIME_TIMESTAMP_FILE: clock,
          FAKETIME_NO_CACHE: '1',
          DONT_FAKE_MONOTONIC: '1',
        },
      },
    );
    await running.printed('tick\n');
    for (const offset of [HOUR_S, -HOUR_S]) {
      await writeFile(clock, `${offset < 0 ? '' : '+'}${offset}`);
      await delay((limits.lease + 1) * 1000); // time for anything that the new clock could end
      const before = (await lab.read('seen')).length;
      await eventually(async () => expect((await lab.read('seen')).length).to.be.greaterThan(before));
    }
    running.kill('SIGINT');
    expect((await running.result).status).to.equal(130);
  });
});
