// SPDX-License-Identifier: Apache-2.0
// The agent's first line about its host: its networks, protections, limits and RDMA devices.
// A test creates the networks in a namespace, sets the limits, and simulates devices by the files that a kernel shows.
import { chmodSync, copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { decodeHello } from '../../packages/rdpipe/src/agent/decode.ts';
import type { AgentHello, HostAddress } from '../../packages/rdpipe/src/model/protocol.ts';
import { AGENT, type DriverOptions } from '../support/agent-driver.ts';
import { useAgents } from '../support/agent-test.ts';
import { needsFile, needsRoot, needsTool, needsUserNamespaces } from '../support/needs.ts';
import { startProgram } from '../support/start-program.ts';

const NOBODY = 65534;
/** Lists the active security modules of the kernel. */
const LIST_MODULES = `cd /sys/kernel
[ -e security/lsm ] || mount -t securityfs rdpipe-test security
cat security/lsm`;
const STATIC_RECEIVER = join(import.meta.dirname, '../../build/static/rdhop');

describe("the agent's hello", () => {
  const agents = useAgents();

  /** Returns the hello of an agent that a shell script starts; `agent` in the script stands for the program. */
  const helloBy = async (script: string, options: DriverOptions & { readonly program?: string } = {}) => {
    const path = join(agents.directory, 'start');
    writeFileSync(path, `#!/bin/sh\nset -e\n${script.replace(/\bagent$/m, `${options.program ?? AGENT} "$@"`)}\n`);
    chmodSync(path, 0o755);
    return (await agents.start({ agent: path, ...options })).hello;
  };

  it('has the addresses of this machine', async () => {
    const { hello } = await agents.start();
    const told = new Map(hello.addresses.map((entry) => [entry.address, entry]));
    const own = Object.entries(networkInterfaces()).flatMap(([name, entries]) =>
      (entries ?? []).map((entry) => ({ ...entry, name: name.replace(/:.*/, '') })),
    );
    for (const { address, cidr, internal, name } of own) {
      if (/^(fe80:|169\.254\.)/.test(address)) continue;
      const entry = told.get(address);
      expect(entry).to.include({ interface: name, prefix: Number(cidr?.split('/')[1]), up: true });
      expect(entry?.kind === 'loopback').to.equal(internal);
      if (existsSync(`/sys/class/net/${name}/device`)) expect(entry?.kind).to.be.oneOf(['physical', 'bridge']);
    }
  });

  it('has the protections of this kernel', async function () {
    needsRoot(this);
    needsTool(this, 'unshare');
    const { seccomp, landlock } = (await agents.start()).hello;
    expect(seccomp).to.equal(existsSync('/proc/sys/kernel/seccomp/actions_avail'));
    const { stdout } = execaSync('unshare', ['--mount', 'sh', '-c', LIST_MODULES]);
    expect(landlock > 0).to.equal(stdout.split(',').includes('landlock'));
  });

  describe('of a network', () => {
    /** Returns the hello of an agent on a host with the links and addresses that these commands of `ip` create. */
    const helloIn = (...commands: string[]): Promise<AgentHello> => {
      writeFileSync(join(agents.directory, 'network'), commands.map((line) => `${line}\n`).join(''));
      return helloBy(`[ "$inside" ] || inside=1 exec unshare --net --mount "$0" "$@"
        mount -t sysfs rdpipe-test /sys
        ip -batch network
        exec agent`);
    };

    before(function () {
      needsRoot(this);
      needsTool(this, 'ip', 'unshare');
    });

    it('reports the kind of each interface', async () => {
      const { addresses } = await helloIn(
        'link add va mtu 9000 type veth peer name vb mtu 1400',
        'link add name br0 type bridge',
        'link set vb master br0',
        ...['lo', 'va', 'vb', 'br0'].map((name) => `link set ${name} up`),
        'address add 10.1.0.1/24 dev va',
        'address add 10.1.0.2/30 dev va label va:x',
        'address add fd00:1::1/64 dev va nodad',
        'address add 10.2.0.1/16 dev br0',
        'address add 10.3.0.1/32 dev vb',
      );
      const va = { interface: 'va', up: true, speed_mbps: 10000, kind: 'virtual', mtu: 9000 };
      const bridge = { up: true, speed_mbps: 10000, kind: 'bridge', mtu: 1400 };
      expect(byAddress(addresses)).to.deep.equal([
        { address: '10.1.0.1', prefix: 24, ...va },
        { address: '10.1.0.2', prefix: 30, ...va },
        { address: '10.2.0.1', prefix: 16, ...bridge, interface: 'br0' },
        { address: '10.3.0.1', prefix: 32, ...bridge, interface: 'vb' },
        { address: '127.0.0.1', prefix: 8, ...LOOPBACK },
        { address: '::1', prefix: 128, ...LOOPBACK },
        { address: 'fd00:1::1', prefix: 64, ...va },
      ]);
    });

    it('omits link-local addresses, and lists interfaces that are down last', async () => {
      const { addresses } = await helloIn(
        'link add d0 type veth peer name d1',
        'link set d1 up', // without a carrier
        'link add u0 type veth peer name u1',
        'link set u0 up',
        'link set u1 up',
        'address add 10.0.0.1/24 dev d0',
        'address add 10.0.1.1/24 dev d1',
        'address add 169.254.7.7/16 dev u0',
        'address add fe80::7/64 dev u0 nodad',
        'address add 10.0.2.1/24 dev u0',
      );
      const [first, ...others] = addresses.map(({ address, up }) => `${address} ${up ? 'up' : 'down'}`);
      expect(first).to.equal('10.0.2.1 up');
      expect(others).to.have.members(['10.0.0.1 down', '10.0.1.1 down']);
    });

    it('stays bounded', async () => {
      const { addresses } = await helloIn(
        'link add d0 type veth peer name d1',
        ...Array.from({ length: 300 }, (_, i) => `address add 10.0.${i >> 8}.${i & 255}/32 dev d0`),
        'link set lo up',
        'address add 10.1.0.1/24 dev lo',
      );
      expect(addresses.length).to.equal(256);
      expect(addresses.slice(0, 3).map(({ address }) => address)).to.have.members(['127.0.0.1', '10.1.0.1', '::1']);
    });

    it('is empty without a network', async () => {
      expect((await helloIn()).addresses).to.deep.equal([]);
    });
  });

  it('is refused where /proc shows the processes of another pid namespace', async function () {
    needsRoot(this);
    needsTool(this, 'unshare');
    const words = ['unshare', '--pid', '--fork', AGENT, '--agent', '--nonce', 'x'];
    const { status, stdout, stderr } = await startProgram(words, { env: agents.env() }).ended;
    expect({ status, out: `${stdout}` }).to.deep.equal({ status: 1, out: '' });
    expect(stderr).to.match(/^rdstage: what commands leave running here could not be ended: \/proc is not that of /);
  });

  describe('about lockable memory', () => {
    before(function () {
      needsRoot(this);
      needsTool(this, 'setpriv', 'unshare', 'prlimit');
    });

    for (const [who, memlock, command] of [
      ['root', null, 'exec prlimit --memlock=65536 agent'],
      ['a user', 65536, `exec prlimit --memlock=65536 setpriv --reuid=${NOBODY} --clear-groups agent`],
      ['root without the right', 65536, 'exec prlimit --memlock=65536 setpriv --bounding-set=-ipc_lock agent'],
      ['root of a user namespace', 65536, 'exec prlimit --memlock=65536 unshare --user --map-root-user agent'],
    ] as const) {
      it(`reports the limit of ${who}`, async function () {
        if (command.includes('unshare')) needsUserNamespaces(this);
        // The checkout may be in a directory that other users cannot enter.
        chmodSync(agents.directory, 0o755);
        copyFileSync(AGENT, join(agents.directory, 'rdstage'));
        expect(await helloBy(command, { program: join(agents.directory, 'rdstage') })).to.include({ memlock });
      });
    }
  });

  describe('of RDMA', () => {
    const port = { device: 'rxe0', port: 1, rate_mbps: 2500, link_layer: 'ethernet' };

    /**
     * Returns the hello on a host with a device in this state. `receiver`: the script or program that the agent asks
     * for the parts that RDMA lacks.
     */
    const helloWith = (state: string, receiver: { readonly script: string } | { readonly path: string }) => {
      const directory = join(agents.directory, 'programs');
      mkdirSync(join(directory, 'dynamic'), { recursive: true });
      copyFileSync(AGENT, join(directory, 'rdstage'));
      const beside = join(directory, 'script' in receiver ? 'dynamic/rdhop' : 'rdhop');
      if ('script' in receiver) writeFileSync(beside, `#!/bin/sh\n${receiver.script}\n`);
      else copyFileSync(receiver.path, beside);
      chmodSync(beside, 0o755);
      putFiles(join(agents.directory, 'sys/class/infiniband/rxe0'), {
        parent: 'eth0',
        'ports/1/state': state,
        'ports/1/rate': '2.5 Gb/sec (1X SDR)',
        'ports/1/link_layer': 'Ethernet',
        'ports/1/gids/0': 'fe80:0000:0000:0000:0000:00ff:fe00:0001',
        'ports/1/gid_attrs/types/0': 'RoCE v2',
      });
      return helloBy(
        `[ "$inside" ] || inside=1 exec unshare --mount "$0" "$@"
        mount --bind sys /sys
        [ ! -e os-release ] || mount --bind os-release /etc/os-release
        exec agent`,
        { program: join(directory, 'rdstage') },
      );
    };

    before(function () {
      needsRoot(this);
      needsTool(this, 'unshare');
    });

    it('has the ports, and no missing parts if the programs can use them', async () => {
      const hello = await helloWith('4: ACTIVE', { script: 'test "$*" = "rdrecv --rdma-check"' });
      expect(hello.rdma).to.deep.equal([
        { ...port, state: 'active', mtu: null, interface: 'eth0', numa: null, gids: ['RoCE v2'] },
      ]);
      expect(hello.rdma_lacks).to.equal(null);
      expect(decodeHello(Buffer.from(JSON.stringify(hello)))).to.deep.equal(hello);
    });

    it('reports missing parts', async () => {
      const hello = await helloWith('4: ACTIVE', { script: 'echo librdmacm.so.1 is not installed; exit 3' });
      expect(hello.rdma_lacks).to.equal('librdmacm.so.1 is not installed');
    });

    it('starts no receiver if no port is active', async () => {
      const hello = await helloWith('1: DOWN', { script: ': >asked; echo so it is; exit 3' });
      expect(hello.rdma[0]).to.include({ ...port, state: 'down' });
      expect(hello.rdma_lacks).to.equal(null);
      expect(agents.has('asked')).to.equal(false);
    });

    it('reports it if only the static programs run', async function () {
      needsFile(this, STATIC_RECEIVER);
      putFiles(agents.directory, { 'os-release': 'ID="rocky"\nVERSION_ID="8.10"\nID_LIKE="rhel centos fedora"' });
      const hello = await helloWith('4: ACTIVE', { path: STATIC_RECEIVER });
      expect(hello.rdma_lacks).to.equal(
        'RDMA needs the dynamic build of this program, which needs glibc 2.34 and libssl.so.3 ' +
          '(dnf install openssl-libs, on RHEL 9, Fedora 36 or later)',
      );
    });
  });
});

const LOOPBACK = { interface: 'lo', up: true, speed_mbps: null, kind: 'loopback', mtu: 65536 };

function byAddress(addresses: readonly HostAddress[]): HostAddress[] {
  return [...addresses].sort((a, b) => (a.address < b.address ? -1 : 1));
}

function putFiles(directory: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), `${text}\n`);
  }
}
