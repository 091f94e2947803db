// SPDX-License-Identifier: Apache-2.0
// Expectations of a run's report in the lab.
import { expect } from 'chai';
import type { Report } from '../../packages/rdpipe/src/model/report.ts';
import { reportOf } from '../support/report.ts';
import type { Result } from '../support/shell.ts';

/** Succeeded with this output, and its hops were carried by these transports. */
export function succeededOver(result: Result, text: string, transports: readonly string[]): Report {
  const { status, signal } = result;
  expect({ status, signal, text: result.text }, result.stderr).to.deep.equal({ status: 0, signal: null, text });
  const report = reportOf(result);
  const notes = report.hops.flatMap((hop) => hop.notes).join('\n');
  expect(
    report.hops.map((hop) => hop.transport),
    notes,
  ).to.deep.equal(transports);
  return report;
}
