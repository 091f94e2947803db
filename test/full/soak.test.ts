// SPDX-License-Identifier: Apache-2.0
import { describeSoak } from '../faults/soak-cases.ts';

/** Variables for a shorter test: another length of the stream, and another number of successive runs. */
const { RDPIPE_SOAK_GIB = '200', RDPIPE_SOAK_RUNS = '2000' } = process.env;
const [streamGib, runsInTurn] = [Number(RDPIPE_SOAK_GIB), Number(RDPIPE_SOAK_RUNS)];

describeSoak({
  streamGib,
  sealedGib: 20,
  stderrMib: 4096,
  lookEveryMs: 1000,
  runsInTurn,
  runsAtOnce: 50,
  longestMinutes: 180,
});
