// SPDX-License-Identifier: Apache-2.0
// What the benchmark needs beside the lab.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { whatIsMissing } from '../lab/needs.ts';
import { onPath } from '../support/needs.ts';
import { ROOT } from '../support/root.ts';

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
const PROGRAMS = ['build/release/rdsend', 'build/release/rdrecv', 'build/rdpipe/rdpipe.mjs'];

/** One line that says what is missing and how to get it; undefined: nothing is. */
export function whatTheBenchLacks(): string | undefined {
  const packages = new Set([...TOOLS].filter(([tool]) => !onPath(tool)).map(([, name]) => name));
  if (packages.size > 0) return `the benchmark needs packages: sudo apt-get install ${[...packages].join(' ')}`;
  if (PROGRAMS.some((program) => !existsSync(join(ROOT, program)))) return 'not built yet: npm run build';
  return whatIsMissing();
}
