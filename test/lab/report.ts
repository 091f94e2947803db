// SPDX-License-Identifier: Apache-2.0
// Checks the report of a run in the lab.
import { expect } from 'chai';
import type { Report } from '../../packages/rdpipe/src/model/report.ts';
import { reportOf } from '../support/report.ts';
import type { Result } from '../support/shell.ts';

/** Expects success with this output, and these transports of the hops. */
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
