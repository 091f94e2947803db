// SPDX-License-Identifier: Apache-2.0
// A network of cables: hosts in network namespaces, connected to a control switch and a data switch.
// The switches are also in a namespace, where packets can be dropped.
import { execaSync } from 'execa';
import { configure, endProcessesInside, inside, makeNamespace, ownNamespaces, removeNamespace } from './namespaces.ts';

export type Wire = 'control' | 'data';

const WIRES: readonly Wire[] = ['control', 'data'];
const SUBNETS = { control: '10.66.0', data: '10.66.1' } as const;
/** The host on which rdpipe runs. */
export const USER = 'user';
const USER_NUMBER = 254;
/** Name of the nft table. */
const RULES = 'faults';

let made = 0;

export class Cables {
  readonly #name = `${ownNamespaces('cables')}-${made++}`;
  readonly #hosts: readonly string[];
  /** Hosts that have nft rules. */
  readonly #ruled = new Set<string>();

  /** Creates hosts with these names. */
  constructor(hosts: readonly string[]) {
    this.#hosts = hosts;
    makeNamespace(this.#switch);
    configure(
      this.#switch,
      WIRES.map((wire) => `link add ${wire} up type bridge forward_delay 0`),
    );
    nft(this.#switch, `add table bridge ${RULES}`);
    nft(this.#switch, `add chain bridge ${RULES} forward { type filter hook forward priority 0; }`);
    for (const name of this.#everybody) this.#attach(name);
  }

  /** Prefix of a command line that runs it on a host, or on USER. */
  on(name: string): readonly string[] {
    return inside(this.#space(name));
  }

  address(host: string, wire: Wire): string {
    return `${SUBNETS[wire]}.${this.#number(host)}`;
  }

  /** Pulls a cable, or plugs it in again. */
  setCable(host: string, wire: Wire, state: 'up' | 'down'): void {
    configure(this.#switch, [`link set ${plug(host, wire)} ${state}`]);
  }

  /** Removes the interface and its address for good. */
  removeInterface(host: string, wire: Wire): void {
    configure(this.#switch, [`link delete ${plug(host, wire)}`]);
  }

  /** Simulates a loss of power: the host's peers receive no further packet from it. */
  destroyHost(host: string): void {
    for (const wire of WIRES) this.setCable(host, wire, 'down');
    endProcessesInside(this.#space(host));
    removeNamespace(this.#space(host));
  }

  /** Silently drops the packets from one host to the other that match the nft expression; without one, all. */
  drop(from: string, to: string, wire: Wire, which = ''): void {
    const way = `ip saddr ${this.address(from, wire)} ip daddr ${this.address(to, wire)}`;
    nft(this.#switch, `add rule bridge ${RULES} forward ${way} ${which} drop`);
  }

  /** Answers packets to the host on existing connections with a reset; new connections are accepted. */
  reset(host: string, wire: Wire): void {
    this.#refuse(host, wire, 'syn == 0');
  }

  /** Refuses new connections to the host. */
  refuse(host: string, wire: Wire): void {
    this.#refuse(host, wire, '(syn | ack) == syn');
  }

  /** Plugs in all cables and removes all rules. Starts few programs, because runs wait meanwhile. */
  mend(): void {
    nft(this.#switch, `flush chain bridge ${RULES} forward`);
    for (const name of this.#ruled) nft(this.#space(name), 'flush ruleset');
    this.#ruled.clear();
    const plugs = this.#everybody.flatMap((name) => WIRES.map((wire) => plug(name, wire)));
    configure(
      this.#switch,
      plugs.map((name) => `link set ${name} up`),
    );
  }

  /**
   * Restores the initial state for the next test. Also removes neighbor lookups that are pending since a cable was
   * pulled: their failure would give the next connection to the address "no route to host".
   */
  renew(): void {
    this.mend();
    for (const name of this.#everybody) configure(this.#space(name), ['neighbour flush all']);
  }

  /** Ends every connection of the host to the other's address; both ends notice immediately. */
  breakConnections(host: string, to: string, wire: Wire): void {
    run(this.#space(host), ['ss', '--kill', '--tcp', '--no-header', 'dst', this.address(to, wire)]);
  }

  /** The host's local ports of its connections with the other. */
  localPorts(host: string, to: string, wire: Wire): number[] {
    const words = ['ss', '--tcp', '--numeric', '--no-header', 'state', 'established', 'dst', this.address(to, wire)];
    const rows = run(this.#space(host), words).trimEnd().split('\n');
    return rows.flatMap((row) => (/^\d+ +\d+ +\S+:(\d+) /.exec(row) ?? []).slice(1).map(Number));
  }

  /** Bytes received by a host over a cable, including packet headers. */
  received(host: string, wire: Wire): number {
    const [link] = JSON.parse(run(this.#space(host), ['ip', '-json', '-statistics', 'link', 'show', 'dev', wire]));
    return link.stats64.rx.bytes;
  }

  remove(): void {
    for (const name of this.#everybody) removeNamespace(this.#space(name));
    removeNamespace(this.#switch);
  }

  #refuse(host: string, wire: Wire, flags: string): void {
    const space = this.#space(host);
    this.#ruled.add(host);
    const which = `ip daddr ${this.address(host, wire)} tcp flags & ${flags}`;
    const rule = `add rule inet ${RULES} input ${which} reject with tcp reset`;
    const chain = `add chain inet ${RULES} input { type filter hook input priority 0; }`;
    nft(space, `add table inet ${RULES}; ${chain}; ${rule}`);
  }

  #attach(name: string): void {
    const space = this.#space(name);
    makeNamespace(space);
    for (const wire of WIRES) {
      configure(this.#switch, [
        `link add ${plug(name, wire)} type veth peer name ${wire} netns ${space}`,
        `link set ${plug(name, wire)} up master ${wire}`,
      ]);
      configure(space, [`address add ${this.address(name, wire)}/24 dev ${wire}`, `link set ${wire} up`]);
    }
  }

  get #everybody(): readonly string[] {
    return [USER, ...this.#hosts];
  }

  get #switch(): string {
    return this.#space('switch');
  }

  #space(name: string): string {
    return `${this.#name}-${name}`;
  }

  #number(name: string): number {
    return name === USER ? USER_NUMBER : this.#hosts.indexOf(name) + 1;
  }
}

/** The name of the switch's end of a cable. */
function plug(host: string, wire: Wire): string {
  return `${wire}-${host}`;
}

function nft(namespace: string, words: string): void {
  run(namespace, ['nft', words]);
}

function run(namespace: string, words: readonly string[]): string {
  const [program = '', ...rest] = [...inside(namespace), ...words];
  return execaSync(program, rest).stdout;
}
