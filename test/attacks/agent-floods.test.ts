// SPDX-License-Identifier: Apache-2.0
// A hostile host that sends messages to the controller without end. All of them:
// test/full/agent-floods.test.ts.
import { sample } from '../support/sample.ts';
import { expectFloodBorne, FLOODS } from './agent/floods.ts';
import { useHostileLab } from './agent/hostile-lab.ts';

describe('a host that sends endless', () => {
  const hostile = useHostileLab();
  for (const flood of sample(FLOODS, 3)) it(flood.name, () => expectFloodBorne(hostile, flood, ''));
});
