// SPDX-License-Identifier: Apache-2.0
import { describePrograms } from '../tools/describe-programs.ts';
import { describeLikeSsh } from '../tools/like-ssh.ts';
import { LARGE, uses } from '../tools/programs.ts';
import { describeSyncoid } from '../tools/syncoid.ts';

describePrograms(uses(LARGE), LARGE, 600_000);
describeLikeSsh((lines) => lines);
describeSyncoid();
