// SPDX-License-Identifier: Apache-2.0
// Hosts with networks of their own at one switch, for tools that send to many by multicast: each is a namespace with an
// ssh server, and has a directory of its own under a path that all of them share.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { configure, inside, makeNamespace, ownNamespaces, removeNamespace } from '../../support/namespaces.ts';
import { succeeds } from '../../support/run-program.ts';
import { type HostSpec, type SshHosts, startSshHosts } from '../../support/sshd.ts';

/** So many. */
export const SWITCHED = 8;
/** The hosts' interface, and that of this machine's part. */
export const HOST_INTERFACE = 'eth0';
export const SWITCH_INTERFACE = 'switch0';
const SWITCH_ADDRESS = '10.79.0.1';
/** Its own directory takes the place of the common one. */
const WITH_DIRECTORY = ['sh', '-c', 'mount --bind "$1" "$2" && shift 2 && exec "$@"', 'sh'];

export class SwitchedHosts {
  readonly ssh: SshHosts;
  readonly #directory: string;
  readonly #namespaces: readonly string[];

  private constructor(ssh: SshHosts, directory: string, namespaces: readonly string[]) {
    this.ssh = ssh;
    this.#directory = directory;
    this.#namespaces = namespaces;
  }

  /** h1 and so on; everything is kept in `directory`. */
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
        return { name, network: { through, address: addressOf(index) } };
      });
      mkdirSync(join(directory, 'homes'));
      return new SwitchedHosts(await startSshHosts(join(directory, 'homes'), specs), directory, namespaces);
    } catch (error) {
      for (const namespace of namespaces) removeNamespace(namespace);
      throw error;
    }
  }

  /**
   * Variables for command lines: `$AT_SWITCH` before one runs it where all hosts are reached, with `$SWITCHED_CONFIG`.
   * Hosts write into `$SWITCHED`, which is `$SWITCHED_DIRECTORIES/h1` and so on outside of them.
   */
  get environment(): NodeJS.ProcessEnv {
    return {
      AT_SWITCH: inside(switchName()).join(' '),
      SWITCHED_CONFIG: this.ssh.configFile,
      SWITCHED: join(this.#directory, 'outputs'),
      SWITCHED_DIRECTORIES: this.#directory,
    };
  }

  async close(): Promise<void> {
    await this.ssh.close();
    for (const namespace of this.#namespaces) removeNamespace(namespace);
  }
}

/** One line that says what is missing; undefined: nothing is. */
export function whatSwitchedHostsLack(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root may make network namespaces';
  return succeeds('unshare', ['--net', 'ip', 'link', 'add', SWITCH_INTERFACE, 'type', 'bridge'])
    ? undefined
    : 'bridges between network namespaces may not be made here';
}

/** A bridge in a namespace of its own, where this machine's part of the runs is too. */
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

/** Of h1 with index 0, and so on. */
export function addressOf(index: number): string {
  return `10.79.0.${index + 2}`;
}
