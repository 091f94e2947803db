// SPDX-License-Identifier: Apache-2.0
// Hosts in network namespaces at one switch, with ssh servers, for tools that use multicast.
// Each host mounts its own directory at the same path.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setLinkRate } from '../../support/link-rate.ts';
import { configure, inside, makeNamespace, ownNamespaces, removeNamespace } from '../../support/namespaces.ts';
import { succeeds } from '../../support/run-program.ts';
import { type HostSpec, type SshHosts, startSshHosts } from '../../support/sshd.ts';

/** The number of hosts. */
export const SWITCHED = 8;
/** The interface of each host, and that of the namespace of the switch. */
export const HOST_INTERFACE = 'eth0';
export const SWITCH_INTERFACE = 'switch0';
const SWITCH_ADDRESS = '10.79.0.1';
/** Mounts the host's own directory on the common path. */
const WITH_DIRECTORY = ['sh', '-c', 'mount --bind "$1" "$2" && shift 2 && exec "$@"', 'sh'];

export class SwitchedHosts {
  readonly ssh: SshHosts;
  readonly #directory: string;
  readonly #namespaces: readonly string[];
  #mbit: number | undefined;

  private constructor(ssh: SshHosts, directory: string, namespaces: readonly string[]) {
    this.ssh = ssh;
    this.#directory = directory;
    this.#namespaces = namespaces;
  }

  /** Starts the hosts h1 and so on; all files are in `directory`. */
  static async open(directory: string): Promise<SwitchedHosts> {
    const [names, outputs] = [
      Array.from({ length: SWITCHED }, (_, index) => `h${index + 1}`),
      join(directory, 'outputs'),
    ];
    for (const path of [outputs, ...names.map((name) => join(directory, name))]) mkdirSync(path, { recursive: true });
    const namespaces = [switchName(), ...names.map(namespaceOf)];
    try {
      makeSwitch(names);
      const specs = names.map((name, index): HostSpec => {
        const through = [...inside(namespaceOf(name)), ...WITH_DIRECTORY, join(directory, name), outputs];
        return { name, network: { through, address: addressOf(index) }, defaultKeyExchange: true };
      });
      mkdirSync(join(directory, 'homes'));
      return new SwitchedHosts(await startSshHosts(join(directory, 'homes'), specs), directory, namespaces);
    } catch (error) {
      for (const namespace of namespaces) removeNamespace(namespace);
      throw error;
    }
  }

  /**
   * Variables for command lines: the prefix `$AT_SWITCH` runs one in the namespace of the switch, from which all hosts
   * can be reached; `$SWITCHED_CONFIG` is the ssh configuration. Hosts write into `$SWITCHED`, which is
   * `$SWITCHED_DIRECTORIES/h1` and so on from outside.
   */
  get environment(): NodeJS.ProcessEnv {
    return {
      AT_SWITCH: inside(switchName()).join(' '),
      SWITCHED_CONFIG: this.ssh.configFile,
      SWITCHED: join(this.#directory, 'outputs'),
      SWITCHED_DIRECTORIES: this.#directory,
    };
  }

  /** Limits each link in both directions. */
  setRate(mbit: number | undefined): void {
    if (mbit === this.#mbit) return;
    this.#mbit = mbit;
    for (const name of this.ssh.hosts.keys()) {
      setLinkRate(namespaceOf(name), HOST_INTERFACE, mbit);
      setLinkRate(switchName(), name, mbit);
    }
  }

  async close(): Promise<void> {
    await this.ssh.close();
    for (const namespace of this.#namespaces) removeNamespace(namespace);
  }
}

/** One line with the missing requirement; undefined if nothing is missing. */
export function whatSwitchedHostsLack(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root may make network namespaces';
  return succeeds('unshare', ['--net', 'ip', 'link', 'add', SWITCH_INTERFACE, 'type', 'bridge'])
    ? undefined
    : 'bridges between network namespaces may not be made here';
}

/** Creates the hosts' namespaces and one with a bridge, in which this machine's part of the runs is started. */
function makeSwitch(names: readonly string[]): void {
  makeNamespace(switchName());
  configure(switchName(), [
    `link add ${SWITCH_INTERFACE} type bridge mcast_snooping 0`,
    `address add ${SWITCH_ADDRESS}/24 broadcast + dev ${SWITCH_INTERFACE}`,
    `link set ${SWITCH_INTERFACE} up`,
    `route add 224.0.0.0/4 dev ${SWITCH_INTERFACE}`,
  ]);
  for (const [index, name] of names.entries()) {
    makeNamespace(namespaceOf(name));
    const host = namespaceOf(name);
    configure(switchName(), [
      `link add ${name} type veth peer name ${HOST_INTERFACE} netns ${host}`,
      `link set ${name} master ${SWITCH_INTERFACE} up`,
    ]);
    configure(host, [
      `address add ${addressOf(index)}/24 broadcast + dev ${HOST_INTERFACE}`,
      `link set ${HOST_INTERFACE} up`,
      `route add 224.0.0.0/4 dev ${HOST_INTERFACE}`,
    ]);
  }
}

function switchName(): string {
  return `${ownNamespaces('switch')}-0`;
}

function namespaceOf(name: string): string {
  return `${ownNamespaces('switch')}-${name}`;
}

/** The address of a host; h1 has index 0. */
export function addressOf(index: number): string {
  return `10.79.0.${index + 2}`;
}
