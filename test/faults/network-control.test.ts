// SPDX-License-Identifier: Apache-2.0
import { sample } from '../support/sample.ts';
import { CONTROL_CELLS, describeControlCells } from './network-control.ts';

describe('the control network', () => describeControlCells(sample(CONTROL_CELLS, 5)));
