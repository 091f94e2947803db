// SPDX-License-Identifier: Apache-2.0
// Runs that cannot work: one line gives the reason, the status is right, nothing runs,
// no target changes.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { useLab } from '../support/lab.ts';
import { needsRoot } from '../support/needs.ts';
import { failed, type Result } from '../support/shell.ts';

describe('a usage error', () => {
  const lab = useLab();
  const touch = () => `h1:'touch ${lab.directory}/ran'`;

  it('no stage', async () => usage(await lab.sh('rdpipe'), /stage/));
  it('no host', async () => {
    const result = await lab.sh(`rdpipe ${touch()} rev`);
    usage(result, /^rdpipe: stage 2 has no host: rev$/m);
    expect(result.stderr).to.match(/^ +\^\^\^ write host:command, or :command for this machine$/m);
  });
  it('an empty command', async () => usage(await lab.sh(`rdpipe ${touch()} h2:`), /stage 2.*command/));
  it('an option after a stage', async () => usage(await lab.sh(`rdpipe ${touch()} -v`), /quote the command/));
  it('an option that does not exist', async () => usage(await lab.sh(`rdpipe --no-such ${touch()}`), /--no-such/));
  it('a value that does not fit', async () => usage(await lab.sh(`rdpipe --buffer many ${touch()}`), /buffer.*many/));
  it('an algorithm that does not exist', async () =>
    usage(await lab.sh(`rdpipe --compress lzma ${touch()}`), /compress.*lzma/));
  it('a report that cannot be written', async () =>
    usage(await lab.sh(`rdpipe --report none/r.html ${touch()}`), /report.*none\/r\.html/));
  it('a status for a missing stage', async () => usage(await lab.sh(`rdpipe --ok 3=1 ${touch()}`), /3/));
  it('an ssh url', async () => usage(await lab.sh(`rdpipe ssh://h1:22 ${touch()}`), /-o Port=/));
  it('a configuration file that does not parse', async () => {
    await lab.write('bad.toml', Buffer.from('[defaults\n'));
    usage(await lab.sh(`rdpipe --config bad.toml ${touch()}`), /bad\.toml/);
  });
  it('an unknown key of the configuration file', async () => {
    await lab.write('key.toml', Buffer.from('[defaults]\nbufer = "8MiB"\n'));
    const result = await lab.sh(`rdpipe --config key.toml ${touch()}`);
    usage(result, /^rdpipe: key\.toml: unknown key bufer in \[defaults\] \(did you mean buffer\?\)$/m);
  });
  it('a key outside of its section', async () => {
    await lab.write('key.toml', Buffer.from('limit = "8M"\n'));
    usage(
      await lab.sh(`rdpipe --config key.toml ${touch()}`),
      /key\.toml: limit is outside a section \(put it under \[defaults\]\)$/m,
    );
  });
  it('a missing configuration file', async () =>
    usage(await lab.sh(`rdpipe --config none.toml ${touch()}`), /none\.toml/));

  it('a configuration file that others can write or replace', async () => {
    await lab.write('open.toml', Buffer.from(''));
    const refuse = (script: string) => lab.sh(`${script}; rdpipe --config $PWD/open.toml ${touch()}`);
    usage(
      await refuse('chmod 664 open.toml'),
      /^rdpipe: refusing to read the config file .*open\.toml: .*0664 \(chmod go-w .*open\.toml\)$/m,
    );
    usage(
      await refuse('chmod 600 open.toml; chmod 777 .'),
      /refusing to read the config file .*open\.toml: .*0777 \(chmod go-w /,
    );
  });
  it('a configuration file of another user, whose agent would run as root', async function () {
    needsRoot(this);
    const directory = join(lab.homes, '.config/rdpipe');
    const plant = `mkdir -p '${directory}'; printf '[defaults]\nagent = "%s/agent"\n' "$PWD" > '${directory}/config.toml'
      printf '#!/bin/sh\ntouch %s/ran\n' "$PWD" > agent; chmod 755 agent; chown 4711 agent '${directory}/config.toml'`;
    const result = await lab.sh(`${plant}; rdpipe ${touch()}`);
    await lab.sh(`rm -r '${directory}'`);
    usage(
      result,
      /refusing to read the config file .*config\.toml: it belongs to uid 4711, which is neither you nor root \(/,
    );
  });

  afterEach(async () => expect(await lab.list()).not.to.include('ran'));
});

describe('a host that cannot be used', () => {
  const lab = useLab({
    hosts: [
      { name: 'refused', client: ['Port 1'] },
      { name: 'unverified', client: ['UserKnownHostsFile /dev/null'] },
      { name: 'locked', server: ['AuthorizedKeysFile none'] },
      { name: 'impostor', client: ['HostKeyAlias h1'] },
    ],
  });
  const touch = () => `h1:'touch ${lab.directory}/ran'`;

  for (const ssh of ['openssh', 'ssh2']) {
    const run = (host: string) => lab.sh(`rdpipe --ssh ${ssh} ${touch()} ${host}:cat`);

    it(`unknown (${ssh})`, async () =>
      failed(await run('no..such'), 125, /cannot reach no\.\.such: .*(unknown|resolve|not known|no such host)/i));
    it(`refused port (${ssh})`, async () =>
      failed(await run('refused'), 125, /cannot reach refused: connection refused on port 1 .*ssh/));
    it(`host key not known (${ssh})`, async () => failed(await run('unverified'), 125, /unverified.*host key/));
    it(`wrong host key (${ssh})`, async () => failed(await run('impostor'), 125, /impostor.*host key/));
    it(`key refused (${ssh})`, async () =>
      failed(await run('locked'), 125, /^rdpipe: cannot reach locked: permission denied .*\(try: ssh .* true\)$/m));
  }

  it('a missing agent', async () =>
    failed(await lab.sh(`rdpipe --agent /nowhere/rdstage ${touch()} h2:cat`), 125, /h[12].*\/nowhere\/rdstage/));

  afterEach(async () => expect(await lab.list()).not.to.include('ran'));
});

describe('a file that cannot be used', () => {
  const lab = useLab();
  const touch = () => `'touch ${lab.directory}/ran; cat'`;

  it('a missing source', async () =>
    failed(
      await lab.sh(`rdpipe h1:'< /nowhere/file' h2:${touch()}`),
      125,
      /stage 1 \(h1: < \/nowhere\/file\).*no such file/i,
    ));
  it('a source after standard input', async () =>
    failed(await lab.sh(`rdpipe h1:'< /nowhere/file' h2:'> ${lab.directory}/ran'`), 125, /no such file/i));
  it('a sink in a missing directory', async () =>
    failed(
      await lab.sh(`rdpipe h1:${touch()} h2:'> /nowhere/file'`),
      125,
      /stage 2 \(h2: > \/nowhere\/file\).*no such file/i,
    ));
  it('a working directory that was removed', async () => {
    const { status, stderr } = await lab.sh(`mkdir gone && cd gone && rmdir ../gone && exec rdpipe h1:${touch()}`);
    expect(status, stderr).to.equal(125);
    expect(stderr).to.match(/^rdpipe: this machine: cannot enter the working directory: no such file or directory \(/m);
  });
  it('a missing command', async () =>
    expect((await lab.sh("rdpipe h1:'no-such-command-at-all'")).status).to.equal(127));

  afterEach(async () => expect(await lab.list()).not.to.include('ran'));
});

describe('a full disk at the sink', () => {
  const lab = useLab();

  it('leaves only the target', async function () {
    needsRoot(this);
    const disk = join(lab.directory, 'disk');
    mkdirSync(disk);
    await lab.sh(`mount -t tmpfs -o size=1m rdpipe-test ${disk} && echo old > ${disk}/target`);
    try {
      const result = await lab.sh(`rdpipe h1:'head -c 8M /dev/urandom' h2:'> ${disk}/target'`);
      failed(result, 125, /stage 2 \(h2: > .*target\).*no space left/i);
      expect((await lab.sh(`cat ${disk}/target; ls -A ${disk}`)).text).to.equal('old\ntarget\n');
    } finally {
      await lab.sh(`umount ${disk}`);
    }
  });

  it('is noticed on a device', async () =>
    failed(
      await lab.sh("rdpipe h1:'head -c 8M /dev/zero' h2:'> /dev/full'"),
      125,
      /stage 2 \(h2: > \/dev\/full\).*no space left/i,
    ));

  it("is noticed on rdpipe's own output", async () =>
    failed(await lab.sh("rdpipe h1:'head -c 8M /dev/zero' > /dev/full"), 125, /no space left/i));
});

function usage(result: Result, why: RegExp): void {
  expect(result.stderr).to.match(why);
  expect(result.stderr).to.match(/^rdpipe: /);
  expect({ status: result.status, text: result.text }).to.deep.equal({ status: 2, text: '' });
}
