// SPDX-License-Identifier: Apache-2.0
// Long tests of RDMA: much data, a network that loses packets, small packets,
// and each process of a chain killed.
import { expect } from 'chai';
import { beginStream, failsByItself, LIMITS } from '../lab/mid-stream.ts';
import { succeededOver } from '../lab/report.ts';
import { type HostName, useVirtualHosts } from '../lab/use-virtual-hosts.ts';

const MIB = 1024 * 1024;
/** Time for 256 MiB at emulated speed. */
const LONGEST_MS = 240_000;

describe('256 MiB over RDMA', () => {
  const lab = useVirtualHosts({ longestMs: LONGEST_MS });
  before(async () => {
    await lab.on('h1', `head -c ${256 * MIB} /dev/urandom > /tmp/source`);
  });
  after(() => lab.on('h1', 'rm /tmp/source'));
  afterEach(async () => {
    for (const host of ['h2', 'h3'] as const) await lab.on(host, 'rm -f /tmp/target');
  });

  for (const encrypt of ['always', 'auth', 'never']) {
    it(`arrive unchanged, --encrypt ${encrypt}`, async () => {
      succeededOver(await copy(`--encrypt ${encrypt}`, "h2:'> /tmp/target'"), '', ['rdma']);
      await expectSame('h2');
    });
  }

  it('arrive through a host in between', async () => {
    succeededOver(await copy('', "h2:cat h3:'> /tmp/target'"), '', ['rdma', 'rdma']);
    await expectSame('h3');
  });

  it('arrive in small packets', async () => {
    await each(['h1', 'h2'], 'ip link set eth0 mtu 1500');
    try {
      succeededOver(await copy('', "h2:'> /tmp/target'"), '', ['rdma']);
      await expectSame('h2');
    } finally {
      await each(['h1', 'h2'], 'ip link set eth0 mtu 9000');
    }
  });

  it('arrive over a network that loses packets', async () => {
    await lab.on('h1', 'tc qdisc add dev eth0 root netem loss 0.05%');
    try {
      succeededOver(await copy('', "h2:'> /tmp/target'"), '', ['rdma']);
      await expectSame('h2');
    } finally {
      await lab.on('h1', 'tc qdisc delete dev eth0 root');
    }
  });

  function copy(options: string, stages: string) {
    return lab.sh(`rdpipe --connect-timeout 60 --json ${options} h1:'< /tmp/source' ${stages}`);
  }

  async function expectSame(host: HostName): Promise<void> {
    const [source, target] = await Promise.all([digest('h1', '/tmp/source'), digest(host, '/tmp/target')]);
    expect(target).to.equal(source);
  }

  function digest(host: HostName, file: string): Promise<string> {
    return lab.on(host, `sha256sum < ${file}`);
  }

  async function each(hosts: readonly HostName[], command: string): Promise<void> {
    for (const host of hosts) await lab.on(host, command);
  }
});

describe('a chain of three over RDMA', () => {
  const lab = useVirtualHosts();
  const programs: readonly (readonly [host: HostName, program: string])[] = [
    ['h1', 'rdsend'],
    ['h2', 'rdrecv'],
    ['h2', 'rdsend'],
    ['h3', 'rdrecv'],
    ['h1', 'rdstage'],
    ['h2', 'rdstage'],
    ['h3', 'rdstage'],
  ];

  for (const [host, program] of programs) {
    it(`fails when ${program} on ${host} is killed`, async () => {
      const last = "h3:'head -c 1000000 | tail -c 1; cat > /dev/null; touch /tmp/committed'";
      const running = lab.start(`exec rdpipe ${LIMITS} h1:'cat /dev/zero' h2:cat ${last}`);
      await running.printed('\0');
      await lab.on(host, `kill -KILL $(pgrep -o -x ${program})`);
      const { status, stderr } = await running.result;
      expect(status, stderr).to.equal(125);
      expect(stderr)
        .to.match(/^rdpipe: /)
        .and.to.include(host);
      await lab.expectNothingLeft();
      await lab.on('h3', 'test ! -e /tmp/committed');
    });
  }
});

describe('an RDMA hop in mid-stream', () => {
  const lab = useVirtualHosts();
  afterEach(() => lab.on('h2', 'test ! -e /tmp/committed'));

  it('fails when an ssh session is killed', async () => {
    const running = await beginStream(lab);
    await lab.on('h2', 'kill -KILL $(ps -o ppid= $(pgrep -o -x rdstage))');
    await failsByItself(running, /lost.*h2/);
  });

  it('fails when a host dies', async () => {
    const running = await beginStream(lab);
    await lab.killHost('h2');
    try {
      await failsByItself(running, /h2/);
    } finally {
      await lab.restartHost('h2');
    }
  });
});

describe('twenty runs one after another', () => {
  const lab = useVirtualHosts({ longestMs: 300_000 });

  it('leave the RDMA devices unchanged', async () => {
    const before = await resources();
    const { text } = await lab.sh(`for i in $(seq 20); do rdpipe h1:"echo $i" h2:cat < /dev/null; done`);
    expect(text).to.equal(Array.from({ length: 20 }, (_, index) => `${index + 1}\n`).join(''));
    expect(await resources()).to.deep.equal(before);
  });

  function resources(): Promise<string[]> {
    return Promise.all((['h1', 'h2'] as const).map((host) => lab.on(host, 'rdma resource')));
  }
});
