// SPDX-License-Identifier: Apache-2.0
import { describePrograms } from './describe-programs.ts';
import { SMALL, uses } from './programs.ts';

const QUICK = /^(rsync, |git|sftp)/;

describePrograms(
  uses(SMALL).filter(({ title }) => QUICK.test(title)),
  SMALL,
);
