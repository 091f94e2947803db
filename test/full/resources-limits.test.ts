// SPDX-License-Identifier: Apache-2.0
import { describeLimits, LIMIT_CELLS } from '../faults/resources-limits-cases.ts';

describeLimits(LIMIT_CELLS);
