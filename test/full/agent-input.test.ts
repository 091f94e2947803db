// SPDX-License-Identifier: Apache-2.0
// The words of a user that a shell might get hold of, all of them.
import { expectNoShell, INPUT_CASES } from '../attacks/agent/input-cases.ts';
import { useLab } from '../support/lab.ts';

describe('no shell gets hold of', () => {
  const lab = useLab();
  for (const input of INPUT_CASES) it(input.name, () => expectNoShell(lab, input));
});
