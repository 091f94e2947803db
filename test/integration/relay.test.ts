// SPDX-License-Identifier: Apache-2.0
// Hosts that ssh reaches but that cannot reach each other:
// a hop between them is relayed through ssh's connections.
import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { eventually } from '../support/eventually.ts';
import { jsonLines } from '../support/json-output.ts';
import { configure } from '../support/namespaces.ts';
import { join, usePathlessHosts } from '../support/pathless-hosts.ts';
import { reportOf } from '../support/report.ts';

const MIB = 1024 ** 2;

describe('hosts without a direct path', () => {
  const place = usePathlessHosts({
    // `closed`: a host whose server does not permit forwarding.
    names: ['h1', 'h2', 'closed'],
    hosts: [{ name: 'closed', server: ['AllowTcpForwarding no'] }],
    connect: (spaceOf) => {
      for (const [index, host] of ['h1', 'h2', 'closed'].entries()) {
        const network = `10.9.${index + 1}`;
        const between = { space: spaceOf('between'), device: host, address: `${network}.2/24` };
        join({ space: spaceOf(host), device: 'wan', address: `${network}.1/24` }, between);
        configure(spaceOf(host), [
          // A subnet with the same number on all hosts, but not connected. The route's error saves a timeout.
          'link add lan type veth peer name router',
          `address add 10.8.0.${index + 1}/24 dev lan noprefixroute`,
          'link set lan up',
          'link set router up',
          'route add unreachable 10.0.0.0/8',
        ]);
      }
    },
  });

  const { lab } = place;

  it('are joined through this machine, encrypted, and one line reports it', async () => {
    const { text, status, stderr } = await lab.sh(`rdpipe ${place.options} h1:'echo hi' h2:rev`);
    expect({ text, status }, stderr).to.deep.equal({ text: 'ih\n', status: 0 });
    expect(stderr).to.equal(
      'rdpipe: warning: h1→h2 relayed over ssh through this machine: there is no direct path (use --relay never to fail instead)\n',
    );
    const quiet = await lab.sh(`rdpipe -q ${place.options} h1:'echo hi' h2:rev`);
    expect(quiet).to.deep.include({ text: 'ih\n', status: 0, stderr: '' });
  });

  it('carries a hundred megabytes without node, unchanged', async () => {
    const bytes = 100 * MIB;
    // Keeps the run alive until the test has measured it.
    const waits = `until test -e '${lab.directory}/seen'; do sleep 0.05; done`;
    const make = `head -c ${bytes} /dev/urandom | tee >(sha256sum >'${lab.directory}/sent') | cat; ${waits}`;
    const run = lab.start(
      `rdpipe --json --shell bash ${place.options} h1:"${make.replaceAll('"', '\\"')}" h2:'sha256sum' 2>events`,
    );
    const counted = new RegExp(`"kind":"counters","link":\\d+,"end":"recv","bytes":${bytes},`);
    await Promise.race([
      eventually(async () => expect((await lab.read('events')).toString()).to.match(counted)),
      run.result,
    ]);
    const most = Math.max(...nodesOf(run.pid).map(bytesThrough));
    await lab.write('seen', Buffer.alloc(0));
    const { text, status } = await run.result;
    expect(status, (await lab.read('events')).toString()).to.equal(0);
    await eventually(async () => expect((await lab.read('sent')).toString()).to.equal(text));
    expect(most).to.be.within(1, 20 * MIB);
    const report = reportOf({ stderr: (await lab.read('events')).toString() });
    const hop = report.hops.find(({ from, to }) => from === 'h1' && to === 'h2');
    expect(hop?.bytes).to.equal(bytes);
    expect(hop?.cipher).not.to.equal('none');
    expect(hop?.notes.at(-1)).to.match(/^relayed over ssh through this machine/);
  });

  it('fail with --relay never, if no ssh server forwards, and if the relay cannot be reached', async () => {
    const never = await lab.sh(`rdpipe --relay never ${place.options} h1:'echo hi' h2:rev`);
    expect(never).to.deep.include({ text: '', status: 125 });
    expect(never.stderr).to.match(/^rdpipe: cannot connect h1 to h2: 10\.8\.0\.2:.*\n$/);
    const closed = await lab.sh(`rdpipe ${place.options} closed:'echo hi' h2:rev`);
    expect(closed, closed.stderr).to.deep.include({ text: '', status: 125 });
    expect(closed.stderr).to.contain(
      'the session to closed cannot forward: its sshd may not allow it (AllowTcpForwarding',
    );
    const refused = await lab.sh(
      `rdpipe --relay stranger@between ${place.options} h1:'touch ${lab.directory}/ran' h2:cat`,
    );
    expect(refused).to.deep.include({ text: '', status: 125 });
    expect(refused.stderr).to.match(/^rdpipe: .*between.*\n$/);
    expect(await lab.list()).not.to.include('ran');
  });

  it('are joined through another host if one is named, but not a pair with a direct path', async () => {
    const words = `rdpipe --relay between ${place.options}`;
    const { text, status, stderr } = await lab.sh(`${words} --json h1:'echo hi' h2:rev between:cat`);
    expect({ text, status }, stderr).to.deep.equal({ text: 'ih\n', status: 0 });
    const lines = jsonLines(stderr, 'run');
    const report = reportOf({ stderr });
    expect(report.stages.map(({ host, command }) => `${host}:${command}`)).to.deep.equal([
      'h1:echo hi',
      'between:cat (relays h1→h2)',
      'h2:rev',
      'between:cat',
    ]);
    expect(report.hops.map(({ from, to, result }) => `${from}→${to} ${result}`).slice(0, 3)).to.deep.equal([
      'h1→between delivered',
      'between→h2 delivered',
      'h2→between delivered',
    ]);
    const warnings = lines.flatMap(({ kind, message }) => (kind === 'warning' ? [message] : []));
    expect(warnings).to.deep.equal(['h1→h2 relayed by between: there is no direct path']);
  });

  it('are shown with the relay in the plan', async () => {
    const plan = async (words: string) => (await lab.sh(`rdpipe -n ${words} ${place.options} h1:true h2:true`)).text;
    expect(await plan('')).to.contain('\n  otherwise h1 relayed over ssh through this machine\n');
    expect(await plan('--relay between')).to.match(/receiver dials\)\n {2}otherwise relayed by between\n/);
    expect(await plan('--ssh ssh2')).not.to.contain('relayed');
  });
});

/** The node processes among a process and its descendants. */
function nodesOf(pid: number): readonly number[] {
  const table = execaSync('ps', ['-eo', 'pid,ppid,comm'], { lines: true }).stdout.map((line) =>
    line.trim().split(/\s+/),
  );
  const below = (parent: number): readonly (readonly string[])[] =>
    table.filter(([, ppid]) => Number(ppid) === parent).flatMap((row) => [row, ...below(Number(row[0]))]);
  const self = table.filter(([own]) => Number(own) === pid);
  return [...self, ...below(pid)].filter(([, , name]) => name === 'node').map(([own]) => Number(own));
}

/**
 * Bytes that the threads of a process have read and written; the counters of the process itself would include its ended
 * children.
 */
function bytesThrough(pid: number): number {
  try {
    const files = readdirSync(`/proc/${pid}/task`).map((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/io`, 'utf8'),
    );
    const counts = files.flatMap((text) => [...text.matchAll(/^[rw]char: (\d+)$/gm)]);
    return counts.reduce((sum, [, bytes]) => sum + Number(bytes), 0);
  } catch {
    return 0; // the process has ended
  }
}
