// SPDX-License-Identifier: Apache-2.0
// All words of a user that a shell might evaluate by mistake.
import { expectNoShell, INPUT_CASES } from '../attacks/agent/input-cases.ts';
import { useLab } from '../support/lab.ts';

describe('no shell interprets', () => {
  const lab = useLab();
  for (const input of INPUT_CASES) it(input.name, () => expectNoShell(lab, input));
});
