// SPDX-License-Identifier: Apache-2.0
// A packet filter in a network namespace that a test made.
import { execaSync } from 'execa';

/** Adds a rule of nft(8) for arriving packets; `inside`: prefix of a command line that runs it in the namespace. */
export function filterInput(inside: readonly string[], rule: string): void {
  const [command = '', ...words] = inside;
  const chain = 'add chain inet faults input { type filter hook input priority 0; }';
  for (const rules of ['add table inet faults', chain, `add rule inet faults input ${rule}`])
    execaSync(command, [...words, 'nft', rules]);
}
