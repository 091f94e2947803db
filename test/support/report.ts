// SPDX-License-Identifier: Apache-2.0
// Reads the report that ends the output of `rdpipe --json`.
import type { Report } from '../../packages/rdpipe/src/model/report.ts';
import { jsonLines } from './json-output.ts';
import type { Result } from './shell.ts';

export function reportOf({ stderr }: Pick<Result, 'stderr'>): Report {
  const last = jsonLines<Report & { readonly kind: string }>(stderr, 'run').at(-1);
  if (last?.kind !== 'report') throw new Error(`there is no report at the end: ${stderr.slice(-2000)}`);
  return last;
}
