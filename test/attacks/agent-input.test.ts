// SPDX-License-Identifier: Apache-2.0
// The user's words reach only the shell that they are meant for. All of them:
// test/full/agent-input.test.ts.
import { useLab } from '../support/lab.ts';
import { sample } from '../support/sample.ts';
import { expectNoShell, INPUT_CASES } from './agent/input-cases.ts';

describe('no shell interprets', () => {
  const lab = useLab();
  for (const input of sample(INPUT_CASES, 16)) it(input.name, () => expectNoShell(lab, input));
});
