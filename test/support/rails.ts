// SPDX-License-Identifier: Apache-2.0
// Two network namespaces, connected by two networks.
import { setLinkRate } from './link-rate.ts';
import { configure, inside, makeNamespace, ownNamespaces, removeNamespace } from './namespaces.ts';
import { succeeds } from './run-program.ts';

const RAILS = [0, 1] as const;
export type Rail = (typeof RAILS)[number];

export class Rails {
  readonly #namespaces: readonly [string, string];

  private constructor(namespaces: readonly [string, string]) {
    this.#namespaces = namespaces;
  }

  static open(): Rails {
    const name = ownNamespaces('rails');
    const [sender, receiver] = [`${name}-a`, `${name}-b`];
    makeNamespace(sender);
    makeNamespace(receiver);
    configure(
      sender,
      RAILS.map((rail) => `link add ${interfaceOf(rail)} type veth peer name ${interfaceOf(rail)} netns ${receiver}`),
    );
    for (const [index, namespace] of [sender, receiver].entries())
      configure(
        namespace,
        RAILS.flatMap((rail) => [
          `address add ${addressOf(rail, index)}/24 dev ${interfaceOf(rail)}`,
          `link set ${interfaceOf(rail)} up`,
        ]),
      );
    return new Rails([sender, receiver]);
  }

  /** Prefixes of command lines that run them at an end. */
  get sender(): readonly string[] {
    return inside(this.#namespaces[0]);
  }

  get receiver(): readonly string[] {
    return inside(this.#namespaces[1]);
  }

  /** As if the receiver's cable was pulled, or plugged in again. */
  setCable(rail: Rail, state: 'down' | 'up'): void {
    configure(this.#namespaces[1], [`link set ${interfaceOf(rail)} ${state}`]);
  }

  /** Limits both networks, in both directions. */
  setRate(mbit: number | undefined): void {
    for (const namespace of this.#namespaces) for (const rail of RAILS) setLinkRate(namespace, interfaceOf(rail), mbit);
  }

  close(): void {
    for (const namespace of this.#namespaces) removeNamespace(namespace);
  }
}

/** The address of the receiver in a network. */
export function receiverAt(rail: Rail): string {
  return addressOf(rail, 1);
}

function interfaceOf(rail: Rail): string {
  return `rail${rail}`;
}

/** One line with the missing requirement; undefined if nothing is missing. */
export function whatRailsLack(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root may make network namespaces';
  return succeeds('unshare', ['--net', 'ip', 'link', 'add', 'rail0', 'type', 'veth', 'peer', 'name', 'rail1'])
    ? undefined
    : 'pairs of interfaces may not be made here';
}

function addressOf(rail: Rail, index: number): string {
  return `10.81.${rail}.${index + 1}`;
}
