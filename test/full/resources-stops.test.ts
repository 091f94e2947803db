// SPDX-License-Identifier: Apache-2.0
import { describeStops, STOP_CELLS } from '../faults/resources-stops-cases.ts';

describeStops(STOP_CELLS);
