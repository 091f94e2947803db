// SPDX-License-Identifier: Apache-2.0
// Two network namespaces, connected by a link that delays packets.
// A process carries the packets, because the kernel may lack netem.
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { configure, inside, makeNamespace, ownNamespaces, removeNamespace } from '../../support/namespaces.ts';
import { succeeds } from '../../support/run-program.ts';
import { type Started, startProgram } from '../../support/start-program.ts';
import { program } from '../programs/programs.ts';
import { ofRoute } from './congestion.ts';

/** Twice the delay of a packet. */
export const ROUND_TRIP_MS = 50;
export const RECEIVER_ADDRESS = '10.78.0.2';
const SENDER_ADDRESS = '10.78.0.1';
const NETWORK = '10.78.0.0/24';
const MTU = 9000;
/** More than a window: a burst must not lose packets. */
const QUEUED_PACKETS = 50_000;

export interface SlowPath {
  /** Of a million packets to the receiver, at random. */
  readonly lostPpm: number;
  readonly mtu: number;
}

const WITHOUT_LOSS: SlowPath = { lostPpm: 0, mtu: MTU };

export class SlowLink {
  readonly #namespaces: readonly [string, string];
  readonly #carrier: Started;

  private constructor(namespaces: readonly [string, string], carrier: Started) {
    this.#namespaces = namespaces;
    this.#carrier = carrier;
  }

  static async open(): Promise<SlowLink> {
    const name = ownNamespaces('bench');
    const namespaces = [`${name}-a`, `${name}-b`] as const;
    for (const namespace of namespaces) makeNamespace(namespace);
    const delayUs = String((ROUND_TRIP_MS * 1000) / 2);
    const carrier = startProgram([program('delayed-link'), ...namespaces, delayUs], { stderr: 'inherit' });
    const link = new SlowLink(namespaces, carrier);
    await Promise.race([carrier.child.stdout && once(carrier.child.stdout, 'data'), carrier.ended]);
    if (!carrier.outputs().startsWith('ready')) {
      await link.close();
      throw new Error('the delayed link cannot be made');
    }
    const [sender, receiver] = namespaces;
    configure(sender, interfaceOf(SENDER_ADDRESS));
    configure(receiver, interfaceOf(RECEIVER_ADDRESS));
    return link;
  }

  /** Variables for command lines: the prefix `$SENDER` or `$RECEIVER` runs a command at that end. */
  get environment(): NodeJS.ProcessEnv {
    const [sender, receiver] = this.#namespaces;
    return { SENDER: inside(sender).join(' '), RECEIVER: inside(receiver).join(' ') };
  }

  /** Sets the congestion control of the next connections; default: this machine's. */
  setCongestionControl(congestion: string | undefined): void {
    for (const [index, address] of [SENDER_ADDRESS, RECEIVER_ADDRESS].entries()) {
      const route = `route replace ${NETWORK} dev slow0 proto kernel scope link src ${address}`;
      configure(this.#namespaces[index] ?? '', [`${route}${ofRoute(congestion)}`]);
    }
  }

  /** Sets the loss and the MTU from now on; default: none, and jumbo frames. */
  async setPath({ lostPpm, mtu }: SlowPath = WITHOUT_LOSS): Promise<void> {
    for (const namespace of this.#namespaces) configure(namespace, [`link set slow0 mtu ${mtu}`]);
    const { stdin, stdout } = this.#carrier.child;
    const answered = stdout && once(stdout, 'data');
    stdin?.write(`${lostPpm}\n`);
    await answered;
  }

  async close(): Promise<void> {
    this.#carrier.child.stdin?.end();
    await this.#carrier.ended;
    for (const namespace of this.#namespaces) removeNamespace(namespace);
  }
}

/** One line with the missing requirement; undefined if nothing is missing. */
export function whatSlowLinksLack(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root may make network namespaces';
  if (!existsSync('/dev/net/tun')) return 'no /dev/net/tun on this machine';
  return succeeds('unshare', ['--net', 'true']) ? undefined : 'network namespaces may not be made here';
}

function interfaceOf(address: string): string[] {
  return [`address add ${address}/24 dev slow0`, `link set slow0 mtu ${MTU} txqueuelen ${QUEUED_PACKETS} up`];
}
