// SPDX-License-Identifier: Apache-2.0
import { sample } from '../support/sample.ts';
import { DISK_CELLS, describeDisks } from './resources-disk-cases.ts';

describeDisks(sample(DISK_CELLS, 18));
