// SPDX-License-Identifier: Apache-2.0
// TCP's congestion control: that of this machine, and cubic, which most machines use.
// A kernel whose default is bbr paces with timers even on loopback, so its figures are others.
import { readFileSync } from 'node:fs';
import { configure, inside, makeNamespace, ownNamespaces, removeNamespace } from '../../support/namespaces.ts';
import { succeeds } from '../../support/run-program.ts';
import { type SshHosts, startSshHosts } from '../../support/sshd.ts';
import type { Case } from '../case.ts';
import type { Table } from '../tables.ts';

export const CUBIC = 'cubic';
const SETTINGS = '/proc/sys/net/ipv4';
const ADDRESS = '127.0.0.2';
/** The routes to a machine's own addresses. */
const LOCAL = ['127.0.0.0/8', '127.0.0.1'].map(
  (address) => `${address} dev lo table local proto kernel scope host src 127.0.0.1`,
);

/** Returns the congestion control of new connections on this machine. */
export function congestionControl(): string {
  return readFileSync(`${SETTINGS}/tcp_congestion_control`, 'utf8').trim();
}

/** Returns the end of a command of ip(8) that makes a route, whose connections then use this congestion control;
 * default: the machine's. (A namespace's own default can only be one that the machine allows its users.) */
export function ofRoute(congestion: string | undefined): string {
  return congestion === undefined ? '' : ` congctl ${congestion}`;
}

/** Returns one line with the reason why no runs with cubic can be added; undefined if there is none. */
export function whatCubicLacks(): string | undefined {
  if (congestionControl() === CUBIC) return 'it is what this machine uses';
  if (process.getuid?.() !== 0) return 'only root may make network namespaces';
  const available = readFileSync(`${SETTINGS}/tcp_available_congestion_control`, 'utf8').trim().split(' ');
  if (!available.includes(CUBIC)) return 'this kernel does not have it';
  return succeeds('unshare', ['--net', 'true']) ? undefined : 'network namespaces may not be made here';
}

/** Adds, after each table that is doubled, a table of the same cases with cubic. Tables that share a case share its
 * double. */
export function withCubic(tables: readonly { readonly table: Table; readonly isDoubled: boolean }[]): Table[] {
  const cases = new Map<Case, Case>();
  const over = (one: Case): Case => {
    const known = cases.get(one);
    if (known !== undefined) return known;
    const { goals = [], ...rest } = one;
    const same = goals.map(({ base, ...goal }) => ({ ...goal, ...(base && { base: over(base) }) }));
    const made: Case = { ...rest, name: `${one.name}, ${CUBIC}`, congestion: CUBIC, goals: same };
    cases.set(one, made);
    return made;
  };
  return tables.flatMap(({ table, isDoubled }) => (isDoubled ? [table, overTable(table, over)] : [table]));
}

function overTable({ title, cases, columns }: Table, over: (one: Case) => Case): Table {
  return {
    title: `${title}, ${CUBIC}`,
    cases: cases.map(over),
    columns: columns.map(({ base, ...column }) => {
      if (base === undefined) return column;
      if ('parts' in base) return { ...column, title: `${column.title}, ${CUBIC}`, base: over(base) };
      return { ...column, base: new Map([...base].map(([one, other]) => [over(one), over(other)])) };
    }),
  };
}

/** A network namespace with a loopback of its own and an ssh server, h1. */
export class CubicLoopback {
  readonly ssh: SshHosts;

  private constructor(ssh: SshHosts) {
    this.ssh = ssh;
  }

  /** The files of the ssh server are in `directory`. */
  static async open(directory: string): Promise<CubicLoopback> {
    const name = namespaceName();
    makeNamespace(name);
    try {
      configure(
        name,
        LOCAL.map((route) => `route replace local ${route}${ofRoute(CUBIC)}`),
      );
      const network = { through: inside(name), address: ADDRESS };
      return new CubicLoopback(await startSshHosts(directory, [{ name: 'h1', network, defaultKeyExchange: true }]));
    } catch (error) {
      removeNamespace(name);
      throw error;
    }
  }

  /** Prefix of a command line that runs it in the namespace. */
  get through(): readonly string[] {
    return inside(namespaceName());
  }

  async close(): Promise<void> {
    await this.ssh.close();
    removeNamespace(namespaceName());
  }
}

function namespaceName(): string {
  return `${ownNamespaces('bench')}-cubic`;
}
