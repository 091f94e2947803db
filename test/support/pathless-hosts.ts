// SPDX-License-Identifier: Apache-2.0
// Hosts in network namespaces that cannot reach each other; ssh reaches them through pipes.
// The host `between` may reach all of them.
import { execaSync } from 'execa';
import { type Lab, type LabOptions, useLab } from './lab.ts';
import { configure, inside, makeNamespace, ownNamespaces, removeNamespace } from './namespaces.ts';
import { needsRoot, needsTool } from './needs.ts';

export interface PathlessHosts {
  readonly lab: Lab;
  /** The option of rdpipe with which ssh enters their namespaces. */
  readonly options: string;
  /** The namespace of a host or router. */
  spaceOf(name: string): string;
}

export interface Topology extends LabOptions {
  /** Namespaces besides `between`, which always exists. */
  readonly names: readonly string[];
  /** Tools that the test needs besides ip(8). */
  readonly tools?: readonly string[];
  readonly connect: (spaceOf: PathlessHosts['spaceOf']) => void;
}

/** The ssh server of each host of the lab runs in the namespace with the host's name. */
export function usePathlessHosts({ names, tools = [], connect, hosts = [], ...options }: Topology): PathlessHosts {
  const lab = useLab({ ...options, hosts: [...hosts, { name: 'between' }] });
  const spaces = ownNamespaces('relay');
  const spaceOf = (name: string) => `${spaces}-${name}`;
  const all = [...names, 'between'];
  before(function () {
    needsRoot(this);
    needsTool(this, 'ip', ...tools);
    for (const name of all) makeNamespace(spaceOf(name));
    connect(spaceOf);
  });
  after(() => {
    for (const name of all) removeNamespace(spaceOf(name));
  });
  return {
    lab,
    spaceOf,
    // ssh's %n is the alias; the host's namespace and its server's configuration contain it in their names.
    get options() {
      return `-o ProxyCommand='ip netns exec ${spaceOf('%n')} /usr/sbin/sshd -i -f ${lab.homes}/%n.sshd_config'`;
    },
  };
}

/** Connects two namespaces; each end is the device `lan` or `wan` of its namespace, or a port of a switch. */
export function join(one: CableEnd, other: CableEnd): void {
  configure(one.space, [`link add ${one.device} type veth peer name ${other.device} netns ${other.space}`]);
  for (const { space, device, address } of [one, other]) {
    if (address !== undefined) configure(space, [`address add ${address} dev ${device}`]);
    configure(space, [`link set ${device} up`]);
  }
}

interface CableEnd {
  readonly space: string;
  readonly device: string;
  readonly address?: string;
}

/** Runs nft in the namespace with `rules` as its input. */
export function nft(space: string, rules: string): void {
  const [command = '', ...words] = [...inside(space), 'nft', '-f', '-'];
  execaSync(command, words, { input: rules });
}

/** Makes the namespace forward packets. */
export function makeRouter(space: string): void {
  const [command = '', ...words] = [...inside(space), 'sysctl', '-qw', 'net.ipv4.ip_forward=1'];
  execaSync(command, words);
}
