// SPDX-License-Identifier: Apache-2.0
import { describeSoak } from './soak-cases.ts';

describeSoak({
  streamGib: 2,
  sealedGib: 2,
  stderrMib: 64,
  lookEveryMs: 40,
  runsInTurn: 12,
  runsAtOnce: 8,
  longestMinutes: 5,
});
