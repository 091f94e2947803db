// SPDX-License-Identifier: Apache-2.0
import { DISK_CELLS, describeDisks } from '../faults/resources-disk-cases.ts';

describeDisks(DISK_CELLS);
