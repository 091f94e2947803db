// SPDX-License-Identifier: Apache-2.0
// Reads the findings of `rdpipe doctor --json` on virtual hosts.
import { expect } from 'chai';
import type { Examination, Finding } from '../../packages/rdpipe/src/model/examination.ts';
import { jsonObject } from '../support/json-output.ts';
import type { VirtualLab } from './use-virtual-hosts.ts';

export async function examine(lab: VirtualLab, words: string, status: number): Promise<Examination> {
  const result = await lab.sh(`rdpipe doctor --json ${words}`);
  expect({ status: result.status, stderr: result.stderr }, result.text).to.deep.equal({ status, stderr: '' });
  return jsonObject(result.text, 'doctor');
}

export function wrong({ hosts, pairs }: Examination): readonly Finding[] {
  return [...hosts, ...pairs].flatMap(({ checks }) => checks.filter(({ result }) => result !== 'ok'));
}

export function expectFailure(finding: Finding | undefined, check: string, found: RegExp, fix: RegExp): void {
  expect(finding).to.include({ check, result: 'fail' });
  expect(finding?.found).to.match(found);
  expect(finding?.fix).to.match(fix);
}
