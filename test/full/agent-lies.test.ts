// SPDX-License-Identifier: Apache-2.0
// Every false message of a hostile host.
import { expectLieFound } from '../attacks/agent/expect-lie-found.ts';
import { useHostileLab } from '../attacks/agent/hostile-lab.ts';
import { LIES } from '../attacks/agent/lies.ts';

describe('a host that', () => {
  const hostile = useHostileLab();
  for (const lie of LIES) it(lie.name, () => expectLieFound(hostile, lie));
});
