// SPDX-License-Identifier: Apache-2.0
import { sample } from '../support/sample.ts';
import { describeStops, STOP_CELLS } from './resources-stops-cases.ts';

describeStops(sample(STOP_CELLS, 4));
