// SPDX-License-Identifier: Apache-2.0
// --connect-timeout applies to connecting, logging in and starting the agent separately:
// each may take the full time and has its own message.
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Examination } from '../../packages/rdpipe/src/model/examination.ts';
import { jsonObject } from '../support/json-output.ts';
import { useLab } from '../support/lab.ts';
import { failed, type Result, succeeded } from '../support/shell.ts';

const RC_FILE = 'ForceCommand . "$HOME/rc"; exec $SSH_ORIGINAL_COMMAND';
/** Runs `script` twice for each key, which is then accepted. */
const loginRuns = (script: string) => [
  'AuthorizedKeysFile none',
  `AuthorizedKeysCommand /bin/sh -c "${script}; echo %t %k"`,
  `AuthorizedKeysCommandUser ${userInfo().username}`,
];
const LONG_ENOUGH_S = 60;
/** Messages about parts before the part that hangs: on a slow machine they may take longer than a short limit. */
const EARLIER_PART = /no ssh connection on port|authentication did not finish within/;

/** Tries increasing limits until `attempt` reaches the part that it tests. */
async function withinLimits<Outcome>(
  firstS: number,
  attempt: (limitS: number) => Promise<Outcome>,
  isTooShort: (outcome: Outcome) => boolean,
): Promise<readonly [Outcome, number]> {
  for (let limitS = firstS; ; limitS *= 3) {
    const outcome = await attempt(limitS);
    if (limitS >= LONG_ENOUGH_S || !isTooShort(outcome)) return [outcome, limitS];
  }
}

/** An ssh before 8.5, without LogVerbose: it reports its key exchange only if it logs everything. */
const OLD_SSH = `#!/bin/sh
echo "$*" >>seen
case $1 in -G) ssh "$@" | grep -v logverbose ;; *) exec ssh "$@" ;; esac
`;

describe('--connect-timeout', () => {
  const directory = mkdtempSync(join(tmpdir(), 'rdpipe-test-limits-'));
  const goesOn = join(directory, 'go');
  const hangs = `until test -e ${goesOn}; do sleep 0.1; done`;
  const loginTime = join(directory, 'login-time');
  const lab = useLab({
    hosts: [
      { name: 'rc', server: [RC_FILE] },
      { name: 'stalled', server: loginRuns(hangs) },
      { name: 'slow', server: [RC_FILE, ...loginRuns(`read seconds < ${loginTime}; sleep $seconds`)] },
      { name: 'restricted', server: ['ForceCommand printf "This account is \\033[31mrestricted\\nGo away\\n"'] },
      { name: 'silent', server: ['ForceCommand echo "Welcome"; echo "no shell for you" >&2'] },
    ],
  });
  after(() => rmSync(directory, { recursive: true }));
  const rcFile = (host: string, script: string) => writeFileSync(join(lab.host(host).home, 'rc'), `${script}\n`);
  const slowTakes = (loginS: number, shellS: number) => {
    writeFileSync(loginTime, `${loginS / 2}\n`);
    rcFile('slow', `sleep ${shellS}`);
  };
  /** Copies the programs before the shells become slow. */
  const prepareSlow = async () => {
    slowTakes(0, 0);
    succeeded(await lab.sh('rdpipe slow:true'), '');
  };
  /** The part that hangs continues when its run has ended; otherwise it would outlive the run. */
  const hanging = async <Outcome>(run: () => Promise<Outcome>): Promise<Outcome> => {
    rmSync(goesOn, { force: true });
    return run().finally(() => writeFileSync(goesOn, ''));
  };
  const isEarlier = (part: RegExp) => (result: Result) => part.test(result.stderr);

  for (const ssh of ['openssh', 'ssh2']) {
    const rdpipe = `rdpipe --ssh ${ssh} --connect-timeout`;

    it(`names a port without an ssh server: ${ssh}`, async () => {
      const listener = await listen(() => {});
      const where = `-o HostName=127.0.0.1 -o Port=${listener.port}`;
      const result = await lab.sh(`${rdpipe} 1 ${where} h1:true`);
      listener.close();
      const port = `no ssh connection on port ${listener.port} within 1 s`;
      failed(result, 125, new RegExp(`^rdpipe: cannot reach h1: ${port} \\(try: ssh .* h1 true\\)$`, 'm'));
    });

    it(`names an authentication that hangs: ${ssh}`, async () => {
      const run = (limitS: number) => hanging(() => lab.sh(`${rdpipe} ${limitS} stalled:true`));
      const [result, limitS] = await withinLimits(2, run, isEarlier(/no ssh connection on port/));
      const reason = `connected, but authentication did not finish within ${limitS} s`;
      failed(
        result,
        125,
        new RegExp(
          `^rdpipe: cannot log in to stalled: ${reason} \\(see where it hangs: ssh -v .* stalled true\\)$`,
          'm',
        ),
      );
    });

    it(`names a login shell whose rc files do not end: ${ssh}`, async () => {
      rcFile('rc', hangs);
      const run = (limitS: number) => hanging(() => lab.sh(`${rdpipe} ${limitS} rc:true`));
      const [result, limitS] = await withinLimits(2, run, isEarlier(EARLIER_PART));
      const reason = `logged in, but the login shell did not start it within ${limitS} s`;
      const next = '\\(check ~/\\.bashrc there; compare with: ssh -F \\S+ rc true\\)';
      failed(result, 125, new RegExp(`^rdpipe: cannot start the agent on rc: ${reason} ${next}$`, 'm'));
    });

    it(`applies to each of the three separately: ${ssh}`, async () => {
      await prepareSlow();
      const { address, port } = lab.host('slow');
      // Each part takes less than half of the limit, all parts together more than the limit.
      const run = async (limitS: number) => {
        const partS = 0.4 * limitS;
        slowTakes(partS, partS);
        const listener = await listen((socket) => {
          setTimeout(() => void socket.pipe(connect(port, address)).pipe(socket), partS * 1000);
        });
        const where = `-o HostName=127.0.0.1 -o Port=${listener.port} -o HostKeyAlias=slow`;
        return lab.sh(`${rdpipe} ${limitS} ${where} slow:'echo in'`).finally(listener.close);
      };
      const [result] = await withinLimits(
        5,
        run,
        ({ status, stderr }) => status === 125 && / within \d+ s/.test(stderr),
      );
      succeeded(result, 'in\n');
    });

    it(`shows the output of a shell that runs nothing: ${ssh}`, async () => {
      const printed =
        /restricted: the login shell printed 'This account is ␛\[31mrestricted' and exited \(compare with: ssh .*\)$/m;
      failed(await lab.sh(`rdpipe --ssh ${ssh} restricted:true`), 125, printed);
      const complained = /^rdpipe: cannot start the agent on silent: no shell for you$/m;
      failed(await lab.sh(`rdpipe --ssh ${ssh} silent:true`), 125, complained);
    });
  }

  it('reports the same with an ssh without LogVerbose', async () => {
    writeFileSync(join(lab.directory, 'old'), OLD_SSH);
    chmodSync(join(lab.directory, 'old'), 0o755);
    const old = 'rdpipe --ssh-program ./old';
    const run = (limitS: number) => hanging(() => lab.sh(`${old} --connect-timeout ${limitS} stalled:true`));
    const [result] = await withinLimits(2, run, isEarlier(/no ssh connection on port/));
    failed(result, 125, /cannot log in to stalled: connected, but /);
    failed(await lab.sh(`${old} -o Port=1 h1:true`), 125, /h1: connection refused on port 1 \(try: ssh/);
    succeeded(await lab.sh(`${old} h1:"echo hi"`), 'hi\n');
    expect((await lab.read('seen')).toString())
      .to.contain('LogLevel=DEBUG1')
      .and.not.to.contain('LogVerbose');
  });

  it('is not reported by doctor as a full disk', async () => {
    rcFile('rc', hangs);
    const run = async (limitS: number) => {
      const result = await hanging(() => lab.sh(`rdpipe doctor --json --connect-timeout ${limitS} rc`));
      const { hosts } = jsonObject<Examination>(result.text, 'doctor');
      return hosts[1]?.checks ?? [];
    };
    const [checks, limitS] = await withinLimits(2, run, ([ssh]) => ssh?.result === 'fail');
    const [ssh, agent, ...others] = checks;
    expect(ssh?.found).to.match(/^the system's ssh, connected in \d+\.\d s, login in \d+\.\d s$/);
    expect(agent?.found).to.contain(`the login shell did not start it within ${limitS} s`);
    expect(agent?.fix).to.match(/time ssh rc true.*rc files/);
    expect(others).to.deep.equal([]);
  });

  it('has parts that doctor times separately', async () => {
    await prepareSlow();
    slowTakes(3, 0.5);
    const begunMs = performance.now();
    const { hosts } = jsonObject<Examination>((await lab.sh('rdpipe doctor --json slow')).text, 'doctor');
    const allS = (performance.now() - begunMs) / 1000;
    const [ssh, agent] = hosts[1]?.checks ?? [];
    const seconds = [ssh, agent].flatMap((check) => check?.found.match(/\d+\.\d(?= s)/g) ?? []).map(Number);
    expect(seconds, `${ssh?.found}; ${agent?.found}`).to.have.lengthOf(3);
    const [connecting = 0, login = 0, start = 0] = seconds;
    expect(login).to.be.at.least(3);
    expect(start).to.be.at.least(0.5);
    // 0.2 s: each of the three numbers is rounded.
    expect(connecting + login + start).to.be.below(allS + 0.2);
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
