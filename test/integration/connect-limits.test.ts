// SPDX-License-Identifier: Apache-2.0
// The scope of --connect-timeout: connecting, logging in and starting the agent have the whole time each, and a message
// of their own.
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Examination } from '../../packages/rdpipe/src/model/examination.ts';
import { useLab } from '../support/lab.ts';
import { failed, succeeded } from '../support/shell.ts';

const RC_FILE = 'ForceCommand . "$HOME/rc"; exec $SSH_ORIGINAL_COMMAND';
/** Asked twice of a key, which is let in then. */
const loginTakes = (seconds: number) => [
  'AuthorizedKeysFile none',
  `AuthorizedKeysCommand /bin/sh -c "sleep ${seconds / 2}; echo %t %k"`,
  `AuthorizedKeysCommandUser ${userInfo().username}`,
];

/** An ssh of before 8.5, which does not know LogVerbose: only with everything printed it tells of its key exchange. */
const OLD_SSH = `#!/bin/sh
echo "$*" >>seen
case $1 in -G) ssh "$@" | grep -v logverbose ;; *) exec ssh "$@" ;; esac
`;

describe('--connect-timeout', function () {
  this.timeout(60_000);
  const lab = useLab({
    hosts: [
      { name: 'rc', server: [RC_FILE] },
      { name: 'stalled', server: loginTakes(12) },
      { name: 'slow', server: [RC_FILE, ...loginTakes(3)] },
      { name: 'restricted', server: ['ForceCommand printf "This account is \\033[31mrestricted\\nGo away\\n"'] },
      { name: 'silent', server: ['ForceCommand echo "Welcome"; echo "no shell for you" >&2'] },
    ],
  });
  const sleepsInRcFile = (host: string, seconds: number) =>
    writeFileSync(join(lab.host(host).home, 'rc'), `sleep ${seconds}\n`);
  /** Copies the programs, before each shell takes its time. */
  const prepareSlow = async () => {
    sleepsInRcFile('slow', 0);
    succeeded(await lab.sh('rdpipe slow:true'), '');
    sleepsInRcFile('slow', 3);
  };

  for (const ssh of ['openssh', 'ssh2']) {
    const rdpipe = `rdpipe --ssh ${ssh} --connect-timeout`;

    it(`names a port that speaks no ssh: ${ssh}`, async () => {
      const listener = await listen(() => {});
      const where = `-o HostName=127.0.0.1 -o Port=${listener.port}`;
      const result = await lab.sh(`${rdpipe} 1 ${where} h1:true`);
      listener.close();
      const port = `no ssh connection on port ${listener.port} within 1 s`;
      failed(result, 125, new RegExp(`^rdpipe: cannot reach h1: ${port} \\(ssh .* h1 true to check\\)$`, 'm'));
    });

    it(`names an authentication that hangs: ${ssh}`, async () => {
      const reason = 'connected, but its authentication did not end within 2 s';
      const why = new RegExp(`^rdpipe: cannot log in to stalled: ${reason} \\(ssh -v .* stalled true shows `);
      failed(await lab.sh(`${rdpipe} 2 stalled:true`), 125, why);
    });

    it(`names a login shell whose rc files come to no end: ${ssh}`, async () => {
      sleepsInRcFile('rc', 8);
      const reason = 'connected and logged in, but its login shell did not start it within 2 s';
      const next = '\\(look at ~/\\.bashrc there; ssh -F \\S+ rc true to compare\\)';
      const result = await lab.sh(`${rdpipe} 2 rc:true`);
      failed(result, 125, new RegExp(`^rdpipe: cannot start the agent on rc: ${reason} ${next}$`, 'm'));
    });

    it(`is for each of the three, not for all: ${ssh}`, async () => {
      await prepareSlow();
      const { address, port } = lab.host('slow');
      const listener = await listen((socket) => {
        setTimeout(() => void socket.pipe(connect(port, address)).pipe(socket), 5000);
      });
      const where = `-o HostName=127.0.0.1 -o Port=${listener.port} -o HostKeyAlias=slow`;
      const result = await lab.sh(`${rdpipe} 8 ${where} slow:'echo in'`);
      listener.close();
      succeeded(result, 'in\n');
    });

    it(`shows what a shell printed that runs nothing: ${ssh}`, async () => {
      const printed =
        /restricted: its login shell printed 'This account is ␛\[31mrestricted' and ended \(ssh .* compare\)$/m;
      failed(await lab.sh(`${rdpipe} 10 restricted:true`), 125, printed);
      const complained = /^rdpipe: cannot start the agent on silent: no shell for you$/m;
      failed(await lab.sh(`${rdpipe} 10 silent:true`), 125, complained);
    });
  }

  it('tells the same by an ssh that does not know LogVerbose', async () => {
    writeFileSync(join(lab.folder, 'old'), OLD_SSH);
    chmodSync(join(lab.folder, 'old'), 0o755);
    const options = '--ssh-program ./old --connect-timeout 2';
    failed(await lab.sh(`rdpipe ${options} stalled:true`), 125, /cannot log in to stalled: connected, but /);
    failed(await lab.sh(`rdpipe ${options} -o Port=1 h1:true`), 125, /h1: connection refused on port 1 \(ssh/);
    succeeded(await lab.sh('rdpipe --ssh-program ./old h1:"echo hi"'), 'hi\n');
    expect((await lab.read('seen')).toString())
      .to.contain('LogLevel=DEBUG1')
      .and.not.to.contain('LogVerbose');
  });

  it('is no longer what doctor takes for a full disk', async () => {
    sleepsInRcFile('rc', 8);
    const result = await lab.sh('rdpipe doctor --json --connect-timeout 2 rc');
    const { hosts }: Examination = JSON.parse(result.text);
    const [ssh, agent, ...others] = hosts[1]?.checks ?? [];
    expect(ssh?.found).to.match(/^the system's ssh, connected in \d\.\d s, login in \d\.\d s$/);
    expect(agent?.found).to.match(/its login shell did not start it within 2 s/);
    expect(agent?.fix).to.match(/rc files.*time ssh rc true/);
    expect(others).to.deep.equal([]);
  });

  it('has parts that doctor times one by one', async () => {
    await prepareSlow();
    const { hosts }: Examination = JSON.parse((await lab.sh('rdpipe doctor --json slow')).text);
    const [ssh, agent] = hosts[1]?.checks ?? [];
    const seconds = [ssh, agent].flatMap((check) => check?.found.match(/\d+\.\d(?= s)/g) ?? []).map(Number);
    expect(seconds, `${ssh?.found}; ${agent?.found}`).to.have.lengthOf(3);
    const [connecting = 9, login = 0, start = 0] = seconds;
    expect(connecting).to.be.below(3);
    expect(login).to.be.within(3, 8);
    expect(start).to.be.within(3, 8);
  });
});

async function listen(
  onConnection: (socket: Socket) => void,
): Promise<{ readonly port: number; readonly close: () => void }> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    onConnection(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { port: (server.address() as AddressInfo).port, close };
}
