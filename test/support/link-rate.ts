// SPDX-License-Identifier: Apache-2.0
// Limits the rate of an interface in a network namespace.
import { execaSync } from 'execa';
import { inside } from './namespaces.ts';
import { succeeds } from './run-program.ts';

/** `mbit`: what the interface sends, in Mbit/s; undefined: not limited. The queue holds 20 ms. */
export function setLinkRate(namespace: string, device: string, mbit: number | undefined): void {
  const queue = mbit === undefined ? [] : ['tbf', 'rate', `${mbit}mbit`, 'burst', '128kb', 'latency', '20ms'];
  const [command = '', ...words] = [...inside(namespace), 'tc', 'qdisc'];
  const change = [mbit === undefined ? 'delete' : 'replace', 'dev', device, 'root', ...queue];
  execaSync(command, [...words, ...change], { reject: mbit !== undefined });
}

/** One line with the missing requirement; undefined if nothing is missing. */
export function whatLinkRatesLack(): string | undefined {
  return succeeds('unshare', [
    '--net',
    'tc',
    'qdisc',
    'add',
    'dev',
    'lo',
    'root',
    'tbf',
    'rate',
    '1mbit',
    'burst',
    '1kb',
    'latency',
    '1ms',
  ])
    ? undefined
    : 'the kernel has no tbf';
}
