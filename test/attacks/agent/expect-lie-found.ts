// SPDX-License-Identifier: Apache-2.0
import { gaveUp, type HostileLab } from './hostile-lab.ts';
import type { Lie } from './lies.ts';

/** The run fails because of the false message; the lab checks that nothing of the run is left. */
export async function expectLieFound({ behave, rdpipe }: HostileLab, { behaviour, why, limits }: Lie): Promise<void> {
  behave(behaviour);
  gaveUp(await rdpipe("--encrypt always h1:'seq 1000' h2:cat h3:'wc -l'", limits?.()), why);
}
