// SPDX-License-Identifier: Apache-2.0
// A host that is hostile to the controller, and lies. All of them: test/full/agent-lies.test.ts.
import { sample } from '../support/sample.ts';
import { expectLieFound } from './agent/expect-lie-found.ts';
import { useHostileLab } from './agent/hostile-lab.ts';
import { LIES } from './agent/lies.ts';

describe('a host that', () => {
  const hostile = useHostileLab();
  for (const lie of sample(LIES, 10)) it(lie.name, () => expectLieFound(hostile, lie));
});
