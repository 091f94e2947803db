// SPDX-License-Identifier: Apache-2.0
// Reads the report that ends the output of `rdpipe --json`.
import type { Report } from '../../packages/rdpipe/src/model/report.ts';
import type { Result } from './shell.ts';

export function reportOf({ stderr }: Pick<Result, 'stderr'>): Report {
  return JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '');
}
