// SPDX-License-Identifier: Apache-2.0
// The requirements of the benchmark in the lab, besides those of the lab itself.
import { whatIsMissing } from '../../lab/needs.ts';
import { missingTools } from '../needs.ts';

/** Tools and their Debian packages. */
const TOOLS: ReadonlyMap<string, string> = new Map([
  ['ib_send_bw', 'perftest'],
  ['ib_send_lat', 'perftest'],
  ['rstream', 'rdmacm-utils'],
  ['iperf3', 'iperf3'],
  ['rsync', 'rsync'],
  ['ss', 'iproute2'],
  ['cc', 'gcc'],
]);

/** One line with the missing requirement and how to get it; undefined if nothing is missing. */
export function whatTheLabLacks(): string | undefined {
  return missingTools(TOOLS) ?? whatIsMissing();
}
