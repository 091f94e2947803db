// SPDX-License-Identifier: Apache-2.0
import { sample } from '../support/sample.ts';
import { describeLimits, LIMIT_CELLS } from './resources-limits-cases.ts';

describeLimits(sample(LIMIT_CELLS, 8));
