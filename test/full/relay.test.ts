// SPDX-License-Identifier: Apache-2.0
// Hosts whose firewalls drop packets, and hosts of networks with address translation:
// relayed over ssh and by a host; kills and cuts.
import { expect } from 'chai';
import { execaSync } from 'execa';
import { eventually } from '../support/eventually.ts';
import { configure, inside } from '../support/namespaces.ts';
import { join, makeRouter, nft, type PathlessHosts, usePathlessHosts } from '../support/pathless-hosts.ts';
import { signalProcess } from '../support/processes.ts';
import { expiring } from '../support/run-limits.ts';
import { failed, succeeded } from '../support/shell.ts';

/** Expires if a firewall drops the packets. */
const CONNECT = `--connect-timeout ${expiring(8)}`;

/** Neither host accepts connections from outside; both reach `between`, which forwards their packets. */
const FIREWALLS = usesOf('that drop each other’s packets', {
  names: ['h1', 'h2'],
  data: '--data h1=10.9.1.1 --data h2=10.9.2.1',
  connect: (spaceOf) => {
    for (const [index, host] of ['h1', 'h2'].entries()) {
      const network = `10.9.${index + 1}`;
      join(
        { space: spaceOf(host), device: 'wan', address: `${network}.1/24` },
        { space: spaceOf('between'), device: host, address: `${network}.2/24` },
      );
      configure(spaceOf(host), [`route add default via ${network}.2`]);
      nft(spaceOf(host), DROP_STRANGERS);
    }
    makeRouter(spaceOf('between'));
  },
});

const DROP_STRANGERS = `table inet firewall {
  chain input { type filter hook input priority 0; policy drop; ct state established,related accept; iif lo accept; }
}`;

/** Both hosts have the same private address. */
const ROUTERS = usesOf('separated by routers that translate addresses', {
  names: ['h1', 'h2', 'router1', 'router2'],
  data: '',
  connect: (spaceOf) => {
    for (const [index, host] of ['h1', 'h2'].entries()) {
      const [router, network] = [`router${index + 1}`, `10.9.${index + 1}`];
      join(
        { space: spaceOf(host), device: 'lan', address: '192.168.1.10/24' },
        { space: spaceOf(router), device: 'lan', address: '192.168.1.1/24' },
      );
      join(
        { space: spaceOf(router), device: 'wan', address: `${network}.1/24` },
        { space: spaceOf('between'), device: host, address: `${network}.2/24` },
      );
      configure(spaceOf(host), ['route add default via 192.168.1.1']);
      configure(spaceOf(router), [`route add default via ${network}.2`]);
      makeRouter(spaceOf(router));
      nft(spaceOf(router), TRANSLATE);
    }
    makeRouter(spaceOf('between'));
  },
});

/** One host has only an IPv4 address, the other only an IPv6 address. */
const FAMILIES = usesOf('of which one has only IPv6', {
  names: ['h1', 'h2'],
  data: '--data h1=10.9.1.1 --data h2=fd00:9::1',
  connect: (spaceOf) => {
    for (const [host, network, bits] of [
      ['h1', '10.9.1.', 24],
      ['h2', 'fd00:9::', 64],
    ] as const) {
      join(
        { space: spaceOf(host), device: 'wan', address: `${network}1/${bits}` },
        { space: spaceOf('between'), device: host, address: `${network}2/${bits}` },
      );
    }
  },
});

const TRANSLATE = `table ip router {
  chain out { type nat hook postrouting priority 100; oifname wan masquerade; }
}`;

describe('hosts that cannot reach each other', () => {
  for (const { title, use, data } of [FIREWALLS, ROUTERS, FAMILIES]) {
    describe(title, () => {
      const place = use();
      const run = (options: string) => `rdpipe ${CONNECT} ${data} ${options} ${place.options}`;

      it('are joined over ssh, in both directions', async () => {
        for (const [from, to] of BOTH_WAYS) {
          const { text, stderr } = await place.lab.sh(`${run('')} ${from}:'seq 100000' ${to}:'md5sum'`);
          expect(text, stderr).to.equal(SEQUENCE);
          expect(stderr).to.match(
            new RegExp(`^rdpipe: warning: ${from}→${to} relayed over ssh through this machine: .*\n$`),
          );
        }
      });

      it('are joined through another host, in both directions, also for a copy', async () => {
        for (const [from, to] of BOTH_WAYS) {
          const { text, stderr } = await place.lab.sh(`${run(BY_HOST)} ${from}:'seq 100000' ${to}:'md5sum'`);
          expect(text, stderr).to.equal(SEQUENCE);
          expect(stderr).to.equal(`rdpipe: warning: ${from}→${to} relayed by between: there is no direct path\n`);
        }
        const { directory } = place.lab;
        await place.lab.sh('mkdir -p tree/below; seq 1000 >tree/below/file; ln -s below tree/link');
        const copy = run(`${BY_HOST} -q`).replace('rdpipe', 'rdcp');
        succeeded(
          await place.lab.sh(`${copy} -r h1:${directory}/tree h2:${directory}/copied && diff -r tree copied/tree`),
          '',
        );
      });

      it('are an error with --relay never', async () => {
        const { status, stderr } = await place.lab.sh(
          `${run('--relay never')} h1:'touch ${place.lab.directory}/ran' h2:cat`,
        );
        expect(status).to.equal(125);
        expect(stderr).to.match(
          /^rdpipe: (cannot connect h1 to h2|no address is known for a connection between h1 and h2).*\n$/,
        );
        expect(await place.lab.list()).not.to.include('ran');
      });
    });
  }

  describe('in case of failures', () => {
    const place = FIREWALLS.use();
    const { lab } = place;
    const run = (options: string) => `rdpipe ${CONNECT} ${FIREWALLS.data} ${options} ${place.options}`;
    const stream = (options: string) =>
      lab.start(`${run(`-q ${options}`)} h1:'cat /dev/zero' h2:'head -c 1 >${lab.directory}/first; cat >/dev/null'`);
    const listeners = () => ['h1', 'h2', 'between'].flatMap((host) => listenersIn(place.spaceOf(host)));
    const masters = () => lab.processes('ssh').filter(({ command }) => command.includes(' -M '));

    it('are detected by doctor', async () => {
      const { text } = await lab.sh(`${run('').replace('rdpipe', 'rdpipe doctor')} h1 h2`);
      expect(text).to.match(
        /tcp h1→h2.*no direct path: 10\.9\.2\.1.*10\.9\.1\.1.*relayed over ssh through this machine: /,
      );
      expect(text).to.contain('use --relay HOST to send data through a host');
      const { text: three } = await lab.sh(
        `${run('').replace('rdpipe', 'rdpipe doctor')} --data between=10.9.1.2 h1 h2 between`,
      );
      expect(three).to.match(/relay +between can relay between h1 and h2 \(--relay between\)/);
    });

    for (const kept of ['', '--persist 60']) {
      it(`leave nothing when rdpipe is killed, ${kept === '' ? 'ssh included' : `but ssh with ${kept}`}`, async () => {
        const running = stream(kept);
        await isFlowing();
        expect(listeners()).not.to.deep.equal([]);
        for (const { pid } of lab.processes('node')) signalProcess(pid, 'SIGKILL');
        await running.result;
        await eventually(() => expect(listeners()).to.deep.equal([]));
        expect(masters().length).to.equal(kept === '' ? 0 : 2);
        for (const { pid } of masters()) signalProcess(pid, 'SIGTERM');
      });
    }

    it('resume where they were when the relayed connection is cut', async () => {
      const running = lab.start(
        `${run('-v --limit 4MB/s')} h1:'head -c 20M /dev/zero' h2:'head -c 1 >${lab.directory}/first; wc -c'`,
      );
      await isFlowing();
      execaSync('ip', ['netns', 'exec', place.spaceOf('h1'), 'ss', '-K', 'state', 'established', 'dst', '127.0.0.1']);
      const { text, status, stderr } = await running.result;
      expect({ text, status }, stderr).to.deep.equal({ text: `${20 * 1024 ** 2 - 1}\n`, status: 0 });
      expect(stderr)
        .to.match(/^h1→h2 .*delivered.*20\.0 MiB/m)
        .and.to.match(/reconnected once/);
    });

    it('end with one first cause when a connection of ssh is lost', async () => {
      const running = stream('');
      await isFlowing();
      const [, second] = masters();
      signalProcess(second?.pid ?? expect.fail(), 'SIGKILL');
      failed(await running.result, 125, /^rdpipe: lost the connection to h[12]\b/);
      expect(listeners()).to.deep.equal([]);
    });

    it('end with one first cause when the path to another host is cut', async () => {
      const running = stream(`${BY_HOST} --stall-timeout ${expiring(4)}`);
      await isFlowing();
      configure(place.spaceOf('h2'), ['link set wan down']);
      const result = await running.result;
      configure(place.spaceOf('h2'), ['link set wan up', 'route add default via 10.9.2.2']);
      failed(result, 125, /^rdpipe: .*between.*h2/);
    });

    /** Waits until the last stage has read its first data. */
    async function isFlowing(): Promise<void> {
      await eventually(async () => expect((await lab.read('first')).length).to.equal(1));
    }
  });
});

const BY_HOST = '--relay between --data between=10.9.1.2';

const BOTH_WAYS = [
  ['h1', 'h2'],
  ['h2', 'h1'],
] as const;

const SEQUENCE = `${execaSync('sh', ['-c', 'seq 100000 | md5sum']).stdout}\n`;

interface Uses {
  readonly title: string;
  /** Options of rdpipe: the addresses at which hosts could be dialed. */
  readonly data: string;
  use(): PathlessHosts;
}

function usesOf(
  title: string,
  { data, ...topology }: Parameters<typeof usePathlessHosts>[0] & { readonly data: string },
): Uses {
  return { title, data, use: () => usePathlessHosts({ ...topology, tools: ['nft'] }) };
}

/** Lists the listening sockets of a namespace. */
function listenersIn(space: string): readonly string[] {
  const [command = '', ...words] = [...inside(space), 'ss', '-ltnH'];
  return execaSync(command, words, { lines: true }).stdout.filter((line) => line !== '');
}
