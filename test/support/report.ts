// SPDX-License-Identifier: Apache-2.0
// The report that `rdpipe --json` ends with.
import type { Report } from '../../packages/rdpipe/src/model/report.ts';
import type { Result } from './shell.ts';

export function reportOf({ stderr }: Pick<Result, 'stderr'>): Report {
  return JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '');
}
